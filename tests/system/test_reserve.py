"""Names that another tool takes before it creates the resource: by the manual's pipelines, in races against admission
and each other, after kills, and at their end."""

import json
import os
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml

from support.api_client import ApiClient
from support.buckets import grant, refused, review
from support.processes import wait_for
from support.shifted_clock import ShiftedClock
from support.truce_process import BINARY, REPOSITORY, TruceProcess
from system.test_api import TOKENS, api  # noqa: F401  (a fixture)
from system.test_outside import STATE

OK, NO, USAGE = 0, 1, 2
SOURCE = "terraform:network"
ROUNDS = 30


def reserve(truce, name: str, *more: str, source: str = SOURCE):
    return truce.command("reserve", f"s3/Bucket/{name}", "--source", source, *(more or ("--for", "1h")))


def client_of(truce) -> ApiClient:
    address = json.loads((truce.data / "addresses.json").read_text())["api"]
    return ApiClient(address, truce.ca_file, TOKENS["root"][1])


def ask(client: ApiClient, name: str, source: str = SOURCE) -> int:
    body = {"source": source, "type": "s3/Bucket", "name": name, "minutes": 60}
    return client.raw("POST", "/api/v1/reservations", body).status


def pipelines() -> list[tuple[str, list[str]]]:
    """The examples of the manual: of each the commands of its steps."""
    page = (REPOSITORY / "docs/imports.md").read_text().split("## Reserve")[1]
    found = []
    for block in re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S):
        document = yaml.safe_load(block)
        if "steps" in document:
            found.append(("GitHub", [step["run"] for step in document["steps"]]))
        else:
            found += [("GitLab", job["script"]) for job in document.values()]
    return found


def test_the_manual_has_a_pipeline_for_both():
    assert [where for where, _ in pipelines()] == ["GitHub", "GitLab"]


@pytest.mark.parametrize("where, steps", pipelines(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_pipeline_of_the_manual(tmp_path, where, steps):
    """With a Terraform that creates what the state has."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "truce").symlink_to(BINARY)
    (tools / "terraform").write_text(f"#!/bin/sh\n[ \"$1\" = show ] || exit 0\ncat '{STATE}'\n")
    (tools / "terraform").chmod(0o755)
    with TruceProcess(tmp_path, {"logFormat": "json"}) as truce:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("TRUCE_")}
        variables |= {"PATH": f"{tools}:{os.environ['PATH']}", "TRUCE_DATA_DIR": str(truce.data)}

        def run(step: str):
            return subprocess.run(["bash", "-eo", "pipefail", "-c", step], env=variables, capture_output=True, text=True,
                                  timeout=60)

        first = run(steps[0])
        assert first.returncode == OK and first.stdout.startswith("reserved s3/Bucket/flow-logs"), first
        assert "is reserved by Terraform (source terraform:network)" in refused(truce, "flow-logs")
        assert truce.owner("flow-logs")["until"]
        for step in steps[1:]:
            done = run(step)
            assert done.returncode == OK, (step, done)
        owner = truce.owner("flow-logs")
        assert (owner["state"], owner["until"], owner["real"]) == ("imported", "", True)
        assert "is managed by Terraform" in refused(truce, "flow-logs")
        again = run(steps[0])
        assert again.returncode == OK and "needs no reservation" in again.stdout
    # The next pipeline finds the name taken, and ends.
    with TruceProcess(tmp_path, {"logFormat": "json"}, env=None) as truce:
        assert reserve(truce, "flow-logs", source="terraform:other").returncode == NO


def test_what_people_see_and_are_told(api):  # noqa: F811
    truce = api.truce
    taken = reserve(truce, "prod-one")
    assert taken.returncode == NO and taken.stdout == ""
    assert 'S3 bucket "prod-one" is owned by ' in taken.stderr and "to give it up" in taken.stderr
    done = reserve(truce, "logs", "--for", "30m", "--service", "network", "--address", "aws_s3_bucket.logs")
    assert done.returncode == OK and done.stdout.startswith(f"reserved s3/Bucket/logs for {SOURCE} until 20"), done
    assert reserve(truce, "logs").stdout.startswith("renewed ")
    until = truce.owner("logs")["until"]
    row = next(line for line in truce.command("list", "-A").stdout.splitlines() if " logs " in line)
    assert f"imported until {until}" in row
    items = json.loads(truce.command("list", "-A", "-o", "json").stdout)["items"]
    assert {item["name"]: item["until"] for item in items if item["until"]} == {"logs": until}
    assert until in truce.command("export", "-o", "csv").stdout
    assert f"reserved until {until}" in truce.command("describe", "logs").stdout
    assert reserve(truce, "logs", source="cdk:other").returncode == NO
    for wrong in (["--for", "9m"], ["--for", "25h"], ["--for", "soon"], ["--for", "1h", "--release"]):
        refusal = reserve(truce, "logs", *wrong)
        assert refusal.returncode == USAGE and refusal.stderr, wrong
    assert truce.command("reserve", "logs", "--source", SOURCE, "--for", "1h").returncode == USAGE
    assert truce.command("reserve", "s3/Bucket/logs", "--source", SOURCE).returncode == USAGE
    by_arn = truce.command("reserve", "arn:aws:sqs:eu-west-1:123456789012:jobs", "--source", SOURCE, "--for", "1h")
    assert by_arn.returncode == OK and "sqs/Queue/jobs" in by_arn.stdout, by_arn
    other = truce.command("reserve", "sqs/Queue/jobs", "--source", SOURCE, "--account", "123456789012", "--region",
                          "eu-west-1", "--for", "1h")
    assert other.stdout.startswith("renewed sqs/Queue/jobs"), other
    place = ("--source", SOURCE, "--account", "123456789012", "--region", "eu-west-1", "--for", "1h")
    of_parts = truce.command("reserve", "lambda/Alias/orders/live", *place)
    assert of_parts.returncode == OK and of_parts.stdout.startswith("reserved lambda/Alias/orders/live"), of_parts
    by_arn = truce.command("reserve", "arn:aws:lambda:eu-west-1:123456789012:function:orders:live", *place)
    assert by_arn.stdout.startswith("renewed lambda/Alias/orders/live"), by_arn
    for wrong in ("lambda/Alias/live", "lambda/Alias/orders/live/more"):
        refusal = truce.command("reserve", wrong, *place)
        assert refusal.returncode == USAGE and "lambda/Alias/functionName/name" in refusal.stderr, refusal
    assert reserve(truce, "logs", "--release").stdout == "released s3/Bucket/logs\n"
    assert reserve(truce, "logs", "--release").stdout == "nobody has s3/Bucket/logs\n"
    assert truce.state("logs") == "free"


def test_the_api_as_its_specification_has_it(api):  # noqa: F811
    body = {"source": SOURCE, "type": "s3/Bucket", "name": "logs", "minutes": 10}
    path = "/api/v1/reservations"
    assert api.call("POST", path, body).json["action"] == "reserved"
    assert api.call("GET", "/api/v1/resources", state="imported").json["items"][0]["until"]
    assert api.call("POST", path, body | {"source": "other"}).status == 409
    assert api.call("POST", path, body | {"minutes": 1}).status == 400
    del body["minutes"]
    assert api.call("POST", path, body | {"release": True}).json["action"] == "released"
    api.token = TOKENS["eve"][1]
    assert api.call("POST", path, body | {"minutes": 10}).status == 403


def test_of_a_declaration_and_two_sources_one_gets_the_name(api):  # noqa: F811
    truce = api.truce
    winners = {"declaration": 0, "a": 0, "b": 0}
    clients = {source: client_of(truce) for source in ("a", "b")}
    start = threading.Barrier(3)

    def declares(name: str) -> bool:
        start.wait(30)
        return review(truce, name)[1]["allowed"]

    def reserves(name: str, source: str) -> bool:
        start.wait(30)
        status = ask(clients[source], name, source)
        assert status in (200, 409), status
        return status == 200

    with ThreadPoolExecutor(3) as pool:
        for number in range(ROUNDS):
            name = f"contested-{number}"
            asked = {"declaration": pool.submit(declares, name)}
            asked |= {source: pool.submit(reserves, name, source) for source in ("a", "b")}
            won = [who for who, answer in asked.items() if answer.result(60)]
            assert len(won) == 1, (name, won)
            winners[won[0]] += 1
            owner = truce.owner(name)["root"]
            assert (owner["name"] if owner["kind"] == "Import" else "declaration") == won[0]
    assert sum(winners.values()) == ROUNDS


def test_what_was_answered_survives_a_kill_and_ends_at_its_time(tmp_path):
    """Killed while sources reserve: what was answered is there, and the same request again renews it."""
    clock = ShiftedClock(tmp_path)
    answered, lock = [], threading.Lock()
    with TruceProcess(tmp_path, {"logFormat": "json"}, env=clock.env) as truce:
        many = threading.Event()

        def work(number: int) -> None:
            for count in range(1000):
                name = f"name-{number}-{count}"
                if reserve(truce, name).returncode != OK:
                    return
                with lock:
                    answered.append(name)
                    if len(answered) >= 20:
                        many.set()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        assert many.wait(60)
        truce.kill()
        for thread in threads:
            thread.join(60)
        truce.start()
        for name in answered:
            assert truce.owner(name)["until"], name
            assert "reserved" in refused(truce, name)
        assert reserve(truce, answered[0], "--for", "3h").stdout.startswith("renewed")
        # A server that was down at the end of a reservation ends it when it is back.
        truce.stop()
        clock.advance(2 * 3600)
        truce.start()
        wait_for(lambda: all(truce.state(name) == "free" for name in answered[1:]), 60, "the others are free")
        assert truce.state(answered[0]) == "imported"
        clock.advance(2 * 3600)
        wait_for(lambda: truce.state(answered[0]) == "free", 60, "it is free")
        grant(truce, answered[0])
        lines = json.loads(truce.command("audit", "-o", "json").stdout)["items"]
        ends = [line for line in lines if line["cause"].endswith(", and not imported")]
        assert {line["key"].rpartition("=")[2] for line in ends} >= set(answered)
        assert {line["actor"] for line in ends} == {"server"}
