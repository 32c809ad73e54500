"""Creations of buckets, asked of a server."""

from support.objects import bucket_review


def review(server, name: str, by: str | None = None) -> tuple[int, dict]:
    """The creation of a bucket; `by`: of another object that declares the same one."""
    asked = bucket_review(name if by is None else f"{name}-{by}")
    asked["request"]["object"]["metadata"]["annotations"] = {"crossplane.io/external-name": name}
    with server.reviewer() as reviewer:
        return reviewer.review(asked)


def grant(server, name: str) -> None:
    status, response = review(server, name)
    assert status == 200 and response["allowed"], response


def refused(server, name: str) -> str:
    status, response = review(server, name, "other")
    assert status == 200 and not response["allowed"], response
    return response["status"]["message"]
