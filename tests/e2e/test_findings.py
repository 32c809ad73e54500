"""`truce findings`: one place for what every detector finds, with proof; who may mute what."""

import json
import sqlite3
from contextlib import closing

import pytest

from e2e.test_api_callers import client_of, make_account, token_of
from e2e.test_watch_findings import FAST, LOOK_SECONDS, warnings_about
from support.objects import bucket, claim
from support.processes import wait_for

FINDINGS = "/api/v1/findings"
CONFLICT = {"rule": "ownership-conflict"}
GAUGE = 'truce_findings{rule="ownership-conflict",mode="warn"}'
MUTED = 'truce_findings_muted{rule="ownership-conflict"}'


@pytest.fixture
def conflicts(user, follow):
    """Truce, the two claims of team-a for one bucket, and two buckets of nobody's namespace: both
    stood there before it came."""
    admin = user("admin")
    claims = [admin.create(claim(name, "team-a", "team-bucket")).expect(201).body
              for name in ("one", "two")]
    for name in ("three", "four"):
        admin.create(bucket(name, "platform-bucket")).expect(201)
    truce = follow(FAST)
    found = wait_for(
        lambda: (lambda items: items if len(items) == 2 else None)(
            truce.operator_get(FINDINGS, **CONFLICT)[1]["items"]),
        LOOK_SECONDS, "two conflicts")
    by_bucket = {name: item for item in found for name in ("team-bucket", "platform-bucket")
                 if name in item["subject"]}
    return truce, claims, by_bucket["team-bucket"], by_bucket["platform-bucket"]


@pytest.mark.rotating(15)  # half a minute of looks, each ten seconds apart
def test_findings_are_listed_explained_and_muted(conflicts, user):
    truce, claims, team, platform = conflicts
    admin = user("admin")
    make_account(admin, "team-a", "reader", "reader")
    make_account(admin, "team-b", "reader", "reader")
    assert team["namespaces"] == ["team-a"] and platform["namespaces"] == [""]
    for obj in claims:
        wait_for(lambda: warnings_about(admin, obj), LOOK_SECONDS, "an Event on each claim")

    listed = truce.command("findings", "--rule", "ownership-conflict")
    assert listed.returncode == 1, listed.stderr
    assert {line.split()[0] for line in listed.stdout.splitlines()[1:]} == {team["id"], platform["id"]}
    assert "team-bucket" in truce.command("findings", "-n", "team-a", "-o", "wide").stdout
    assert truce.command("findings", "-n", "team-b").stdout == "Nothing is found.\n"
    assert truce.command("findings", "-n", "team-b").returncode == 0
    told = truce.command("findings", "--explain", team["id"][:6])
    assert told.returncode == 0, told.stderr
    for words in ("warning: to mend", "Two rows of the registry", "Objects", "team-a/one", "Remedy"):
        assert words in told.stdout, told.stdout
    as_json = json.loads(truce.command("findings", "-o", "json", "--severity", "warning").stdout)
    assert {team["id"], platform["id"]} <= {item["id"] for item in as_json["items"]}

    # Its own team reads and mutes what concerns it alone.
    own = client_of(truce, token_of(admin, "team-a", "reader"))
    other = client_of(truce, token_of(admin, "team-b", "reader"))
    assert own.get(FINDINGS).status == 403
    assert [item["id"] for item in own.get(FINDINGS, namespace="team-a").json["items"]] == [team["id"]]
    assert other.get(f"{FINDINGS}/{team['id']}").status == 404
    until = {"until": "2026-01-01T00:00:00Z", "reason": "cut over on Friday"}
    at = f"{FINDINGS}/{team['id']}:mute"
    assert own.call("POST", at, until).status == 400  # over
    until["until"] = "9999-01-01T00:00:00Z"
    assert own.call("POST", at, until).status == 400  # for ever
    assert truce.metric(GAUGE) == 2
    muted = truce.command("findings", "--mute", platform["id"], "--for", "1h", "--reason", "known")
    assert muted.returncode == 0 and muted.stdout.startswith(f"muted {platform['id']}"), muted.stderr
    until["until"] = json.loads(
        truce.command("findings", "--explain", platform["id"], "-o", "json").stdout)["mute"]["until"]
    assert other.call("POST", at, until).status == 404
    assert own.call("POST", f"{FINDINGS}/{platform['id']}:mute", until).status == 404
    made = own.call("POST", at, until)
    assert made.status == 201, made.body
    assert made.json["by"].startswith("system:serviceaccount:team-a:reader (Kubernetes token)")
    assert own.call("POST", f"{FINDINGS}/{team['id']}:unmute", {}).status == 200
    assert own.call("POST", at, until).status == 201
    assert own.get(f"{FINDINGS}/{team['id']}").json["mute"]["reason"] == "cut over on Friday"
    assert own.get("/api/v1/mutes", namespace="team-a").json["items"][0]["id"] == team["id"]
    assert (truce.metric(GAUGE), truce.metric(MUTED)) == (0, 2)
    hidden = truce.command("findings", "-n", "team-a")
    assert hidden.returncode == 0 and "1 more is muted" in hidden.stdout
    assert "cut over on Friday" in truce.command("findings", "--muted").stdout
    assert "cut over on Friday" in truce.command("audit").stdout

    # They hold after a restart, and nobody is told again; then one ends.
    for obj in claims:
        for event in warnings_about(admin, obj):
            admin.request("DELETE", "/api/v1/namespaces/team-a/events/" + event["metadata"]["name"]).expect()
    truce.stop()
    truce.start()
    wait_for(lambda: truce.metric(MUTED) == 2, LOOK_SECONDS, "both found and muted again")
    assert truce.metric(GAUGE) == 0
    assert [warnings_about(admin, obj) for obj in claims] == [[], []]
    ended = truce.command("findings", "--unmute", team["id"])
    assert ended.returncode == 0, ended.stderr
    assert (truce.metric(GAUGE), truce.metric(MUTED)) == (1, 1)
    for obj in claims:
        wait_for(lambda: warnings_about(admin, obj), LOOK_SECONDS, "an Event once it is not muted")
    assert truce.command("findings", "--unmute", team["id"]).returncode == 1
    truce.command("findings", "--unmute", platform["id"])


def kept_rules(truce) -> list[str]:
    with closing(sqlite3.connect(f"file:{truce.data}/truce.db?mode=ro", uri=True)) as database:
        return [rule for (rule,) in database.execute("SELECT rule FROM findings")]


@pytest.mark.rotating(15)  # until a later look, to the minute
def test_findings_survive_a_restart(conflicts):
    truce, _, team, platform = conflicts
    wait_for(lambda: kept_rules(truce).count("ownership-conflict") == 2, LOOK_SECONDS, "findings in the registry")
    truce.kill()
    truce.start()
    kept = {item["id"]: item for item in truce.operator_get(FINDINGS, **CONFLICT)[1]["items"]}
    for item in (team, platform):
        assert item["id"] in kept, f"it is not there as soon as the server is ready: {kept}"
        assert kept[item["id"]]["firstSeen"] == item["firstSeen"]
    # A look of the new life finds them again, and says nothing new.
    before = kept[team["id"]]["lastSeen"]
    wait_for(lambda: truce.operator_get(f"{FINDINGS}/{team['id']}")[1]["lastSeen"] != before,
             2 * LOOK_SECONDS + 60, "a later look")
    assert truce.operator_get(f"{FINDINGS}/{team['id']}")[1]["firstSeen"] == team["firstSeen"]
    log = truce.log.read_text().split("listening listener=admission")[-1]
    assert f"finding id={team['id']}" not in log and "finding resolved" not in log, log
