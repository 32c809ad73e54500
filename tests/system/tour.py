#!/usr/bin/env python3
"""The tour of `make run`: sends a running Truce the declarations of the origin story, as an API
server would, and prints each verdict with its full text.

  tour.py --data-dir DIR                 the tour; exit 0 only if exactly what must be refused was
  tour.py --data-dir DIR FILE.json ...   these AdmissionReviews; exit 1 if one was refused
  tour.py --data-dir DIR --guide         the server's addresses, and what to try next

DIR is the server's data directory: it holds its addresses and its authority's certificate.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import ssl
import sys
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
REVIEWS = Path(__file__).resolve().parent / "tour"
COLUMNS = 96

BUCKET, OWNER = "prod-artifacts", "ObjectStorage team-a/artifacts"
CONFORMING = "payments-prod-bucket"
DUPLICATE, MISNAMED = (BUCKET, OWNER), ("naming convention", CONFORMING)

# Which review, what happens there, and what Truce must say: nothing, so it is allowed; or a refusal
# in whose text these words stand: whose the bucket is, or the name that would conform.
STEPS = (
    ("service-a.json", "Service A claims the bucket prod-artifacts.", None),
    ("service-b.json", "Service B claims the same bucket, in its own namespace.", DUPLICATE),
    ("bucket.json", "A developer writes the bucket by hand, under another object name.", DUPLICATE),
    ("service-c.json", "Service payments claims a bucket whose name breaks the convention.",
     MISNAMED),
    ("service-c-renamed.json", "It takes the name that Truce suggested.", None),
)


class NoAnswer(Exception):
    """The server gave no verdict; the text says why."""


class Server:
    """The Truce that runs on a data directory of this machine."""

    def __init__(self, data: Path):
        try:
            self.addresses: dict[str, str] = json.loads((data / "addresses.json").read_text())
            self._context = ssl.create_default_context(cafile=str(data / "certs" / "ca.crt"))
        except (OSError, ValueError) as error:
            raise NoAnswer(f"no truce serves on {data}: {error}") from error

    def review(self, review: dict) -> dict:
        """The `response` of the answer to an AdmissionReview."""
        connection = http.client.HTTPSConnection(
            self.addresses["admission"], timeout=10, context=self._context
        )
        try:
            connection.request(
                "POST",
                "/validate?timeout=5s",
                json.dumps(review),
                {"Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"https://{self.addresses['admission']}: {error}") from error
        finally:
            connection.close()
        if answer.status != 200:
            raise NoAnswer(f"HTTP {answer.status}: {body.decode(errors='replace').strip()}")
        return json.loads(body)["response"]


def told(review: dict) -> str:
    """Who does what to which object."""
    request = review["request"]
    name = "/".join(part for part in (request.get("namespace", ""), request["name"]) if part)
    kind = request["kind"]
    return f"{request['operation']} {kind['kind']}.{kind['group']} {name}"


def show(response: dict) -> None:
    """The verdict and all of its text."""
    status = response.get("status", {})
    if response["allowed"]:
        print(f"   {colour(32)}ALLOWED{colour(0)}")
    else:
        print(f"   {colour(31)}REFUSED{colour(0)} ({status['code']} {status['reason']})")
    texts = status.get("message", "").splitlines()
    for text in texts + [f"Warning: {warning}" for warning in response.get("warnings", [])]:
        for line in textwrap.wrap(text, COLUMNS - 5, break_long_words=False,
                                  break_on_hyphens=False):
            print(f"     {line}")


def colour(number: int) -> str:
    return f"\033[{number}m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ""


def is_as_expected(response: dict, words: tuple[str, ...] | None) -> bool:
    if words is None or response["allowed"]:
        return response["allowed"] is (words is None)
    return all(word in response["status"]["message"] for word in words)


def tour(server: Server) -> int:
    failed = 0
    for number, (name, story, words) in enumerate(STEPS, 1):
        review = json.loads((REVIEWS / name).read_text())
        print(f"\n{number}. {story}\n   {told(review)}")
        response = server.review(review)
        show(response)
        if not is_as_expected(response, words):
            failed += 1
            expected = "be allowed" if words is None else f"be refused and say {', '.join(words)}"
            print(f"   NOT AS EXPECTED: this should {expected}")
    if failed == 0:
        duplicates = sum(words is DUPLICATE for _, _, words in STEPS)
        print(f"\nExactly the {duplicates} duplicates were refused, and the name that breaks the "
              "convention:\neach bucket has one owner, and says whose it is.")
    else:
        print(f"\nThe tour failed: {failed} of {len(STEPS)} verdicts are not as expected.")
    return 0 if failed == 0 else 1


def send(server: Server, files: list[Path]) -> int:
    refused = 0
    for file in files:
        review = json.loads(file.read_text())
        print(told(review))
        response = server.review(review)
        show(response)
        refused += not response["allowed"]
    return 1 if refused else 0


def guide(server: Server, data: Path) -> int:
    here = shown(data)
    truce = shown(Path(os.environ.get("TRUCE_BINARY", REPOSITORY / "build/release/truce")))
    me, again = shown(Path(__file__)), shown(REVIEWS / "service-b.json")
    print(
        f"""
Truce keeps serving; Ctrl-C ends it.

  reviews    https://{server.addresses['admission']}/validate
  API        https://{server.addresses['api']}/version
  health     http://{server.addresses['metrics']}/readyz   and /livez, /metrics
  probes     http://{server.addresses['probes']}/readyz   and /livez, for the kubelet alone
  operator   {here}/truce.sock
  authority  {here}/certs/ca.crt

Try next, in another terminal, in this directory:

  {truce} confirm ObjectStorage.platform.example.org team-a/artifacts --data-dir {here}
  {truce} release s3/Bucket {BUCKET} --reason 'service A gave it up' --data-dir {here}
  {me} --data-dir {here} {again}

The first says that service A's claim was really created, the second frees the name, and with the
third service B asks again and gets it."""
    )
    return 0


def shown(path: Path) -> str:
    """A path as one types it: relative to where one stands, when it is below that."""
    path = Path(os.path.abspath(path))
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--guide", action="store_true")
    parser.add_argument("files", type=Path, nargs="*")
    arguments = parser.parse_args()
    try:
        server = Server(arguments.data_dir)
        if arguments.guide:
            return guide(server, arguments.data_dir)
        return send(server, arguments.files) if arguments.files else tour(server)
    except (NoAnswer, OSError, ValueError) as error:
        print(f"tour: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
