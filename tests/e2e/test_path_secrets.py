"""What the API server shows a tenant of a webhook that it cannot reach, and what that is worth.

It prints the whole URL of the webhook, path and all. Each endpoint's path ends with a secret of its
own, and only that of declarations writes (webhook/wire/endpoints.h)."""

import http.client
import json
import re
import ssl
import time

import pytest

from support.helm import NAMESPACE
from support.objects import bucket
from support.processes import wait_for
from support.release import COPY, OWNER, Authority, eventually_refused, release  # noqa: F401

ENDPOINTS = ("/validate", "/validate-deletion", "/validate-status", "/validate-check", "/validate-policy",
             "/validate-composition")
CHECK = {
    "apiVersion": "truce.dev/v1alpha1", "kind": "OwnershipCheck",
    "metadata": {"name": "before", "namespace": "team-b"},
    "spec": {"declarations": [{"type": "s3/Bucket", "name": "prod-artifacts"}]},
}
SECONDS = 30


def self_managed(release) -> None:  # noqa: F811
    for given in ("certificates", "admission"):
        release.values.pop(given)
    release.values |= {"mode": "enforce", "watchCluster": True}


def forged(name: str) -> dict:
    """A review that nobody's API server wrote."""
    obj = bucket(name, name)
    obj["metadata"]["uid"] = f"uid-of-{name}"
    group, _, version = obj["apiVersion"].partition("/")
    kind = {"group": group, "version": version, "kind": "Bucket"}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": f"review-of-{name}", "kind": kind, "requestKind": kind, "name": name,
        "resource": {"group": kind["group"], "version": kind["version"], "resource": "buckets"},
        "operation": "CREATE", "userInfo": {"username": "eve"}, "object": obj, "oldObject": None,
        "dryRun": False,
    }}


def post(release, path: str, name: str) -> int:  # noqa: F811
    """As anybody on the network: the status, or 0 without an answer."""
    open_eyed = ssl.create_default_context()
    open_eyed.check_hostname = False
    open_eyed.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", release.ports[0], timeout=10, context=open_eyed)
    try:
        connection.request("POST", path, json.dumps(forged(name)), {"Content-Type": "application/json"})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def shown_to(client, obj: dict) -> str:
    """What the API server tells who creates `obj` while Truce is away."""
    reply = wait_for(
        lambda: next((r for r in [client.create(obj, dry_run=True)]
                      if not r.ok and "failed calling webhook" in r.message), None),
        SECONDS, "a call that fails")
    return reply.message


def known(release) -> float:  # noqa: F811
    return sum(release.server.metric(f'truce_ownerships{{state="{state}"}}') or 0
               for state in ("held", "reserved"))


def test_by_default_what_is_shown_writes_nothing(release, user):  # noqa: F811
    self_managed(release)
    release.install()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    assert release.pod.stop() == 0
    text = shown_to(user("team-b"), CHECK)
    (shown,) = set(re.findall(r"\b[0-9a-f]{32}\b", text))
    assert f"/validate-check/{shown}" in text, text
    release.start()
    before = known(release)
    for number, path in enumerate(ENDPOINTS):
        status = post(release, f"{path}/{shown}", f"forged-{number}")
        # The one it was made for may still know it for a moment.
        assert status == 403 or (path == "/validate-check" and status == 200), (path, status)
    assert known(release) == before
    eventually_refused(user("team-b"), COPY)
    # What it would do with the one of declarations, which nobody was shown.
    entries = release.read("validatingwebhookconfiguration", "truce")["webhooks"]
    assert post(release, entries[0]["clientConfig"]["service"]["path"], "forged") == 200
    wait_for(lambda: known(release) == before + 1, SECONDS, "a forged reservation")


def test_with_fail_and_a_client_authority_no_secret_is_shown(release, user):  # noqa: F811
    authority = Authority()
    release.values["admission"] = {
        "pathSecret": "", "clientCA": {"existingSecret": "callers", "names": ["kube-apiserver"]}}
    release.values["webhook"]["failurePolicy"] = "Fail"
    release.install_with({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "callers", "namespace": NAMESPACE},
        "stringData": {"ca.crt": authority.pem}})
    text = shown_to(user("team-b"), COPY)
    assert "/validate?" in text and not re.search(r"[0-9a-f]{32}", text), text
    release.start()
    assert post(release, "/validate", "forged") in (0, 403)
    assert known(release) == 0


@pytest.mark.rotating(67)
def test_with_the_secret_accepted_in_errors_it_ends_within_a_minute(release, user):  # noqa: F811
    self_managed(release)
    release.values["webhook"] |= {"failurePolicy": "Fail", "acceptSecretInErrors": True}
    release.install()
    release.start()
    user("team-a").create(OWNER).expect(201)
    eventually_refused(user("team-b"), COPY)
    assert release.pod.stop() == 0
    text = shown_to(user("team-b"), COPY)
    (shown,) = set(re.findall(r"/validate/[0-9a-f]{32}\b", text))
    release.start()
    begin = time.monotonic()
    wait_for(lambda: post(release, shown, "forged") == 403, 65, "the shown secret of no use")
    # The first review with the new one ends it, long before.
    assert time.monotonic() - begin <= 65
    assert post(release, shown, "late") == 403
    eventually_refused(user("team-b"), COPY)


def test_doctor_tells_of_fail_with_a_path_secret_alone(release):  # noqa: F811
    """Registered by another tool than the chart, which refuses it."""
    self_managed(release)
    release.install()
    release.start()
    eventually = "secret-in-errors/declarations.truce.dev"
    patched = release.cluster.kubectl(
        "patch", "validatingwebhookconfiguration", "truce", "--type=json", "--patch",
        json.dumps([{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}]))
    assert patched.returncode == 0, patched.stderr
    wait_for(lambda: eventually in release.pod.log.read_text(), SECONDS, "the finding")
