"""Two servers of one cluster on one registry in PostgreSQL: whichever is asked, the answer is the same, and what was
reviewed at the one that does not watch the cluster reaches the one that does."""

import pytest

from e2e.test_ownership_checks import of_bucket, verdict
from support.objects import claim
from support.processes import wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS, TruceProcess
from support.verdicts import assert_refused

CONFIG = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s", "storeDurability": "single",
          "denialEvents": True}
LEADER = "truce_watcher_leader"
REFUSED = "refused-by-both"  # the cluster is others', too
SECONDS = 60.0  # a start, and some looks, on a busy machine
CHANGES = {"lastSeen", "at", "seconds"}  # from look to look
EVENTS = "/api/v1/namespaces/{}/events?fieldSelector=reason%3DOwnershipRefused"


@pytest.fixture
def pair(postgres, database, cluster, started_truces, tmp_path):
    """A function that starts both, the leader first; reviews go to the other one."""

    def start() -> tuple[TruceProcess, TruceProcess]:
        for number in range(2):
            directory = tmp_path / f"server-{number}"
            directory.mkdir()
            server = TruceProcess(directory, {**CONFIG, "store": postgres.url(database)},
                                  kubeconfig=cluster.kubeconfig("admin"))
            started_truces.append(server)
            server.cluster_id = started_truces[0].cluster_id
            server.start()
        leader, other = started_truces
        assert leader.metric(LEADER) == 1 and other.metric(LEADER) == 0
        cluster.register_webhook(other.admission_url, other.ca_file, "Fail", own_kinds=True)
        return leader, other

    return start


def steady(value):
    """Without what changes from look to look."""
    if isinstance(value, dict):
        return {key: steady(each) for key, each in value.items() if key not in CHANGES}
    return [steady(each) for each in value] if isinstance(value, list) else value


def answer(server: TruceProcess, path: str):
    status, body = server.operator_get(path)
    assert status == 200, body
    return steady(body)


def assert_alike(servers, path: str):
    """The answer of both, once they are the same."""
    answers = []

    def are_alike() -> bool:
        answers[:] = [answer(server, path) for server in servers]
        return answers[0] == answers[1]

    try:
        wait_for(are_alike, SECONDS, f"one answer to {path}")
    finally:
        assert answers[0] == answers[1]
    return answers[0]


@pytest.mark.rotating(77)  # a minute of looks, and a lease that ends
def test_both_answer_alike_and_carry_out_orders(pair, user):
    for name in ("one", "two"):
        user("admin").create(claim(name, "team-a", "team-bucket")).expect(201)
    leader, other = both = pair()

    def found(server: TruceProcess) -> list[dict]:
        return [item for item in server.operator_get("/api/v1/findings")[1]["items"]
                if item["rule"] == "ownership-conflict"]

    wait_for(lambda: found(leader), SECONDS, "the conflict")
    for path in ("findings", "conflicts", "coverage", "baseline", "recovery", "brake", "mutes"):
        body = assert_alike(both, f"/api/v1/{path}")
        assert "asOf" not in body, path
    assert len(answer(other, "/api/v1/conflicts")["items"]) == 1
    assert answer(other, "/api/v1/baseline")["complete"]
    for server in both:
        assert "team-bucket" in server.command("conflicts").stdout
        assert server.command("findings", "--rule", "ownership-conflict").returncode == 1
    examined = [{item["name"]: item["state"] for item in answer(server, "/api/v1/doctor")["items"]
                 if item["name"] != "reachability"} for server in both]
    assert examined[0] == examined[1]

    # What somebody mutes at one of them is muted at both.
    [finding] = found(other)
    muted = other.command("findings", "--mute", finding["id"], "--for", "1h", "--reason", "known")
    assert muted.returncode == 0, muted.stderr
    assert found(other) == []
    wait_for(lambda: not found(leader), SECONDS, "the mute at the other one")

    # Orders go to the one that watches.
    begun = other.command("recovery", "start", "--reason", "a drill")
    assert begun.returncode == 0, begun.stderr
    for server in both:
        assert answer(server, "/api/v1/recovery")["reason"] == "a drill"
    wait_for(lambda: answer(other, "/api/v1/recovery")["resynced"], SECONDS, "the resync")
    ended = other.command("recovery", "finish")
    assert ended.returncode == 0, ended.stderr
    assert not answer(leader, "/api/v1/recovery")["active"]
    released = other.command("brake", "release", "--reason", "deleted by hand")
    assert released.returncode == 0, released.stderr

    # While nobody watches, nothing is done behind the back of who was told so. The next one knows the same.
    leader.kill()
    refused = other.command("brake", "release", "--reason", "deleted by hand")
    assert refused.returncode != 0 and "nothing was done" in refused.stderr, refused.stderr
    assert len(answer(other, "/api/v1/conflicts")["items"]) == 1
    wait_for(lambda: other.metric(LEADER) == 1, SECONDS, "the next leader")
    wait_for(lambda: answer(other, "/api/v1/conflicts")["items"], SECONDS, "the conflict there")
    assert found(other) == [], "the mute is the registry's"
    assert answer(other, "/api/v1/brake")["heldBack"] == 0


@pytest.mark.slow(10)
def test_what_was_reviewed_at_the_other_one_reaches_the_leader(pair, cluster, user):
    leader, other = pair()
    team_a, team_b, admin = user("team-a"), user("team-b"), user("admin")
    check = of_bucket("team-a", "reports")
    team_a.create(check).expect(201)
    assert verdict(team_a, check)["verdict"] == "allowed"
    team_a.create(claim("artifacts", "team-a", "reports")).expect(201)
    for server in (leader, other):
        server.wait_for_state("reports", "held", SECONDS)
    check = of_bucket("team-a", "reports", "after")
    team_a.create(check).expect(201)
    assert verdict(team_a, check)["verdict"] == "allowed"

    text = assert_refused(team_b.create(claim(REFUSED, "team-b", "reports")), "reports")

    def events() -> list[dict]:
        listed = admin.request("GET", EVENTS.format("team-b")).expect().body["items"]
        return [event for event in listed if event["involvedObject"]["name"] == REFUSED]

    wait_for(events, SECONDS, "the Event")
    assert_refused(team_b.create(claim(REFUSED, "team-b", "reports")), "reports")
    # Refused at the leader it is the same Event.
    cluster.register_webhook(leader.admission_url, leader.ca_file, "Fail", own_kinds=True)
    assert_refused(team_b.create(claim(REFUSED, "team-b", "reports")), "reports")
    wait_for(lambda: leader.metric('truce_events_total{outcome="repeated"}') > 0, SECONDS, "the leader's attempt")
    [event] = events()
    assert text.splitlines()[0] in event["message"]
