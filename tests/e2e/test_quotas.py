"""Quotas: of a type there are no more than is allowed, also when many ask at once, and what exists
counts through restarts, deletions and reloads."""

import json

import pytest

from support.objects import bucket, namespaced_bucket, queue
from support.processes import wait_for
from support.provider import make_real
from support.race import Racers, Tally
from support.verdicts import assert_refused

ROUNDS = 200


def test_the_last_place_is_taken_once(start_truce, user, cluster, capsys):
    """Two creations of different buckets through two API servers, one place left: in each round a
    region's."""
    start_truce({"quotas": [{"type": "s3/Bucket", "region": "*", "max": 1, "warnAt": "100%"}]})
    tally = Tally("2 simultaneous creates for one last place")
    clients = [user("team-a", server=0), user("team-b", server=1 % cluster.api_servers)]
    with Racers(clients) as crew:
        for number in range(ROUNDS):
            objects = [bucket(f"place-{number}-{racer}") for racer in range(len(clients))]
            for obj in objects:
                obj["spec"]["forProvider"]["region"] = f"eu-{number}"
            replies = crew.run([lambda client, obj=obj: client.create(obj) for obj in objects])
            tally.add(replies)
            for reply in replies:
                if not reply.ok:
                    assert_refused(reply, f"region eu-{number} has 1 of 1")
    with capsys.disabled():
        print(f"\n  {tally}", flush=True)
    assert tally.admitted_once == ROUNDS, str(tally)


@pytest.fixture
def quota_of_two(follow):
    config = {"quotas": [{"type": "s3/Bucket", "namespace": "team-*", "max": 2}]}
    return follow(config), config


def used(truce) -> dict[str, int]:
    report = json.loads(truce.command("quotas", "-o", "json").stdout)
    return {each["in"]["namespace"]: each["used"] for each in report["items"]}


def test_a_quota_through_the_life_of_what_it_counts(quota_of_two, user):
    truce, config = quota_of_two
    team = user("team-a")
    first = namespaced_bucket("one", "team-a", "prod-one")
    team.create(first).expect(201)
    team.create(namespaced_bucket("two", "team-a", "prod-two")).expect(201)
    third = namespaced_bucket("three", "team-a", "prod-three")
    assert_refused(team.create(third), 'namespace "team-a" has 2 of 2', "truce list --type s3/Bucket -n team-a")
    user("team-b").create(namespaced_bucket("three", "team-b", "other")).expect(201)
    assert used(truce) == {"team-a": 2, "team-b": 1}
    # Of what never was in AWS the place is free as soon as the object is gone.
    team.delete(first).expect(200)
    wait_for(lambda: used(truce)["team-a"] == 1, 20, "the place free")
    team.create(third).expect(201)
    # Restarted it counts what it kept.
    truce.stop()
    truce.start()
    assert_refused(team.create(namespaced_bucket("five", "team-a", "prod-five")), "2 of 2")
    assert "2/2" in truce.command("quotas").stdout
    labels = '{type="s3/Bucket",quota="s3/Bucket in each namespace team-*"}'
    metrics = truce.metrics_get("/metrics")[1].splitlines()
    assert f"truce_quota_used{labels} 2" in metrics
    assert f"truce_quota_max{labels} 2" in metrics
    # Lowered it refuses nothing that exists; raised it takes more, without a restart.
    config["quotas"][0]["max"] = 1
    truce.write_config(config)
    wait_for(lambda: "2/1" in truce.command("quotas").stdout, 20, "the lower quota")
    team.patch(third, {"metadata": {"labels": {"changed": "yes"}}}).expect(200)
    config["quotas"][0]["max"] = 3
    truce.write_config(config)
    wait_for(lambda: "2/3" in truce.command("quotas").stdout, 20, "the higher quota")
    team.create(namespaced_bucket("four", "team-a", "prod-four")).expect(201)
    # A file that is wrong changes nothing.
    truce.write_config({"quotas": [{"type": "s3/Bucked", "max": 1}]})
    assert_refused(team.create(namespaced_bucket("five", "team-a", "prod-five")), "3 of 3")


ACCOUNT = "111111111111"


def queue_by(config: str, name: str) -> dict:
    obj = queue(name, name)
    obj["spec"]["providerConfigRef"] = {"name": config}
    return obj


def in_account(truce) -> str:
    """How far the account's quota is used: "3/2"."""
    report = json.loads(truce.command("quotas", "-o", "json").stdout)
    [use] = [f"{each['used']}/{each['max']}" for each in report["items"]
             if each["in"].get("account") == ACCOUNT] or ["0/2"]
    return use


def test_an_account_that_is_learned_late_counts_from_then_on(follow, user):
    """What was declared before exists: beyond the quota or not, it is never refused."""
    truce = follow({"providerConfigs": [{"name": "prod", "account": ACCOUNT}],
                    "quotas": [{"type": "sqs/Queue", "account": ACCOUNT, "max": 2}]})
    team = user("team-a")
    objects = [queue_by("late", name) for name in ("one", "two", "three")]
    for obj in objects:
        reply = team.create(obj).expect(201)
        assert any("no quota counts it: account not known" in text for text in reply.warnings)
        make_real(user("provider"), obj)
    assert in_account(truce) == "0/2"
    config = {"apiVersion": "aws.upbound.io/v1beta1", "kind": "ProviderConfig",
              "metadata": {"name": "late"},
              "spec": {"credentials": {"source": "IRSA"},
                       "assumeRoleChain": [{"roleARN": f"arn:aws:iam::{ACCOUNT}:role/x"}]}}
    user().create(config).expect(201)
    wait_for(lambda: in_account(truce) == "3/2", 60, "all three counted")
    for again in (False, True):
        if again:
            truce.stop()
            truce.start()
            assert in_account(truce) == "3/2"
        for obj in objects:
            change = {"spec": {"forProvider": {"tags": {"again": str(again)}}}}
            team.patch(obj, change).expect()
            user("provider").patch(obj, {"metadata": {"labels": {"again": str(again)}}}).expect()
        # What is new finds no place, by whichever ProviderConfig.
        for config_name in ("late", "prod"):
            assert_refused(team.create(queue_by(config_name, "four")), "3 of 2")
