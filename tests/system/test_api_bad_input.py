"""What callers send by mistake or on purpose: defined answers, nothing given away, nothing stuck."""

import json
import re
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from support import objects
from support.api_client import ApiClient
from support.pace import pause_until
from system.test_api import TOKENS, api, creation, resource_of  # noqa: F401

LISTS = ["/api/v1/resources", "/api/v1/services", "/api/v1/audit"]


@pytest.mark.parametrize("path", LISTS)
def test_cursors_hold_for_their_own_question_only(api, path):  # noqa: F811
    cursor = api.get(path, limit=1).json.get("nextCursor")
    assert cursor, path
    assert api.get(path, limit=1, cursor=cursor).status == 200
    half = len(cursor) // 2
    forged = [cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), cursor[:half], cursor + "AAAA",
              ("B" if cursor[0] != "B" else "C") + cursor[1:], "AAAA", "-" * 4000]
    for other in LISTS:
        if other != path:
            forged.append(api.get(other, limit=1).json["nextCursor"])
    for bad in forged:
        refused = api.get(path, limit=1, cursor=bad)
        assert (refused.status, refused.json["type"]) == (400, "/problems/malformed"), bad
    if path == "/api/v1/resources":
        assert api.get(path, limit=1, cursor=cursor, type="s3/Bucket").status == 400


def test_cursors_end_with_their_server(api):  # noqa: F811
    cursor = api.get("/api/v1/resources", limit=1).json["nextCursor"]
    api.truce.stop()
    api.truce.start()
    again = ApiClient(api.address, api.truce.ca_file, api.token)
    refused = again.get("/api/v1/resources", limit=1, cursor=cursor)
    assert refused.status == 400 and "cursor" in refused.json["detail"]


def test_ids_tell_nothing(api):  # noqa: F811
    real = resource_of(api, "prod-one")["id"]
    made_up = "a" * 13
    for path in (f"/api/v1/resources/{made_up}", "/api/v1/resources/" + real.upper(),
                 f"/api/v1/resources/{real}x", f"/api/v1/resources/{real[:-1]}",
                 "/api/v1/resources/' OR 1=1 --".replace(" ", "%20"), "/api/v1/resources/%00"):
        assert api.raw("GET", path).status in (400, 404), path
    reason = {"reason": "x"}
    for path in (f"/api/v1/resources/{made_up}:release", f"/api/v1/resources/{real}:explode",
                 f"/api/v1/resources/{real}:release/more", "/api/v1/resources/:release"):
        assert api.raw("POST", path, reason, {"If-Match": "*"}).status == 404, path
    # Who may not release learns the same of what is and of what is not.
    api.token = TOKENS["eve"][1]
    assert api.raw("POST", f"/api/v1/resources/{real}:release", reason, {"If-Match": "*"}).status == 403


@pytest.mark.parametrize("path", [
    "/api/v1/../../etc/passwd", "/api/v1/resources/..%2f..%2faudit", "/api/v1/services/..",
    "/api/v1//resources", "/api/v1/resources%00", "/api/v1/services/%2e%2e%2f%2e%2e",
    "/../api/v1/audit", "/api/v1/services/a%0d%0aX-Evil:%201"])
def test_no_path_leads_elsewhere(api, path):  # noqa: F811
    answer = api.raw("GET", path)
    assert answer.status in (400, 404), answer.body
    assert b"root:" not in answer.body and "X-Evil" not in answer.headers


def test_no_header_is_injected(api):  # noqa: F811
    for value in ("a%0d%0aX-Evil: 1", "a\tb", "x" * 5000, "é"):
        answer = api.raw("GET", "/api/v1/version", headers={"X-Request-Id": value.encode("utf-8")})
        assert answer.status in (200, 400) and "X-Evil" not in answer.headers
        assert answer.status == 400 or len(answer.headers["X-Request-Id"]) <= 64
    for name in ("If-Match", "If-None-Match"):
        path = f"/api/v1/resources/{resource_of(api, 'prod-one')['id']}"
        assert api.raw("GET", path, headers={name: '"' + "x" * 4000 + '"'}).status == 200


@pytest.mark.parametrize("head", [
    b"GET /api/v1/version HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n X-B: folded\r\n\r\n",
    b"GET /api/v1/version HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /api/v1/checks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    b"GET /api/v1/version HTTP/1.1\r\nHost: x\r\nX-A: \x00\r\n\r\n",
    b"GET  /api/v1/version HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1"])
def test_requests_that_are_two_things_at_once(api, head):  # noqa: F811
    host, _, port = api.address.rpartition(":")
    context = ssl.create_default_context(cafile=str(api.truce.ca_file))
    with socket.create_connection((host, int(port)), timeout=20) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as stream:
            stream.sendall(head)
            answer = stream.recv(65536)
    assert not answer or answer.split(b" ")[1] in (b"400", b"408"), answer[:200]
    assert api.get("/api/v1/version").status == 200


def test_parameters_are_read_strictly(api):  # noqa: F811
    for parameters in ({"limit": "0"}, {"limit": "-1"}, {"limit": "1e3"}, {"limit": ""},
                       {"state": "HELD"}, {"contested": "yes"}, {"sort": "name;drop"},
                       {"type": "s3"}, {"nonsense": "1"}, {"name": "a\x00b"}, {"name": "x" * 3000}):
        assert api.raw("GET", "/api/v1/resources", **parameters).status == 400, parameters
    assert api.raw("GET", "/api/v1/resources?limit=1&limit=2").status == 400
    assert api.raw("GET", "/api/v1/resources?name=%ff%fe").status == 400
    for path in ("/api/v1/conflicts", "/api/v1/findings", "/api/v1/overrides", "/api/v1/types"):
        assert api.raw("GET", path, nonsense="1").status == 400, path


FLOOD_SECONDS = 6
FLOOD_PROCESSES, FLOOD_CONNECTIONS = 2, 40  # together more than the API listener takes
REVIEW_PAIRS_A_SECOND = 25
REVIEW_SECONDS_MAX = 10.0  # an API server's deadline
RESIDENT_MIB_MAX = 400  # far above what the bounds of the listener add up to


def flood(api):
    """Processes that send as fast as they can."""
    arguments = [api.address, str(api.truce.ca_file), api.token, str(FLOOD_SECONDS), str(FLOOD_CONNECTIONS)]
    return [subprocess.Popen([sys.executable, "-m", "support.flood", *arguments],
                             cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True)
            for _ in range(FLOOD_PROCESSES)]


def resident_mib(truce) -> float:
    status = Path(f"/proc/{truce.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def test_a_flood_gets_defined_answers_and_takes_nothing_from_admission(api):  # noqa: F811
    """More requests than can be answered: each answer is one that is described, refusals say when to
    come again, the bounds hold; and every review gets its right verdict within its deadline."""
    processes = flood(api)
    slowest, number = 0.0, 0
    start = time.monotonic()
    with api.truce.reviewer() as reviewer:
        while any(process.poll() is None for process in processes):
            pause_until(start + number / REVIEW_PAIRS_A_SECOND)
            number += 1
            name = f"more-{number}"
            for ns, allowed in (("team-a", True), ("team-b", False)):
                began = time.monotonic()
                status, response = reviewer.review(creation(objects.claim(name, ns, name)))
                slowest = max(slowest, time.monotonic() - began)
                assert (status, response["allowed"]) == (200, allowed), response
    told = [json.loads(process.communicate()[0]) for process in processes]
    statuses = sum((Counter(each["statuses"]) for each in told), Counter())
    print(statuses, f"{sum(statuses.values()) / FLOOD_SECONDS:.0f} a second, {number} pairs of reviews, "
          f"slowest {slowest * 1000:.0f} ms, lost {sum(each['lost'] for each in told)}")
    assert set(statuses) <= {"200", "400", "401", "404", "429", "503"}, statuses
    assert all(each["silent_refusals"] == 0 for each in told)
    assert statuses["200"] > 100 and statuses["401"] > 10 and statuses["400"] > 10
    assert number > 10 and slowest < REVIEW_SECONDS_MAX
    unknown = re.findall(r"^truce_unknown_total{.*} (\S+)$", api.truce.metrics_get("/metrics")[1], re.MULTILINE)
    assert unknown and not any(map(float, unknown))
    assert resident_mib(api.truce) < RESIDENT_MIB_MAX
    # The idle connection of before may have made room for others.
    after = ApiClient(api.address, api.truce.ca_file, api.token)
    assert after.get("/api/v1/resources", limit=1).status == 200
