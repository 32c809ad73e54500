"""NamingPolicy: the convention as an object: its schema, and Truce following it live."""

import pytest

from support.objects import bucket
from support.processes import wait_for
from support.verdicts import assert_refused

ENFORCED = {"naming-convention": {"mode": "enforce"}}


def policy(name: str, **spec) -> dict:
    return {
        "apiVersion": "truce.dev/v1alpha1",
        "kind": "NamingPolicy",
        "metadata": {"name": name},
        "spec": spec,
    }


def accepted(client, obj: dict, status: str, generation: int = 1) -> str:
    """Waits for the condition Accepted about that generation and returns its message."""

    def condition():
        body = client.get(obj).expect(200).body
        for one in body.get("status", {}).get("conditions", []):
            if one["type"] == "Accepted" and one.get("observedGeneration") == generation:
                return one if one["status"] == status else None
        return None

    return wait_for(condition, 20, f"{obj['metadata']['name']} Accepted={status}")["message"]


@pytest.mark.parametrize(
    "spec, message",
    [
        ({}, "says nothing"),
        ({"naming": {"template": "{service}-{stage}"}}, "unknown variable"),
        ({"naming": {"template": "{service}{env}"}}, "side by side"),
        ({"naming": {"template": "fixed"}}, "has no variable"),
        ({"naming": {"template": "{service"}}, "brace without its partner"),
        ({"naming": {"template": 7}}, "string"),
        ({"naming": {"types": ["Bucket"]}}, "spec.naming.types[0]"),
        ({"naming": {"maxLengths": {"s3/Bucket": 0}}}, "greater than or equal to 1"),
        ({"naming": {"maxLengths": {"Bucket": 20}}}, "a key is not a type"),
        ({"naming": {"variables": {"env": {"values": []}}}}, "at least 1 items"),
        ({"naming": {"variables": {"env": {}}}}, "says nothing"),
        (
            {"naming": {"variables": {"env": {"from": [{"label": "a", "fixed": "b"}]}}}},
            "exactly one of",
        ),
        ({"rules": {"naming-convention": {}}}, "says nothing"),
        ({"rules": {"naming-convention": {"mode": "strict"}}}, "Unsupported value"),
        (
            {
                "rules": {
                    "aws-name": {
                        "modes": [
                            {
                                "mode": "warn",
                                "from": "2027-01-01T00:00:00Z",
                                "until": "2026-01-01T00:00:00Z",
                            }
                        ]
                    }
                }
            },
            "ends before it begins",
        ),
        ({"exemptions": [{"rule": "naming-convention", "reason": "all"}]}, "exempts everything"),
        ({"exemptions": [{"rule": "naming-convention", "name": "a"}]}, "reason"),
        ({"exemptions": [{"rule": "duplicate-ownership", "name": "a", "reason": "r"}]}, "rule"),
    ],
)
def test_the_schema_refuses_with_path_and_remedy(cluster, user, spec, message):
    reply = user().create(policy("bad", **spec), dry_run=True)
    assert reply.status == 422, reply
    assert message in reply.message


@pytest.mark.rotating(2)
def test_policies_are_followed_live(follow, user):
    admin, team = user(), user("team-a")
    truce = follow({})
    wrong = bucket("files", "payments-production-bucket")
    team.create(wrong, dry_run=True).expect(201)

    standard = policy("standard", naming={"template": "{service}-{env}-{type}"}, rules=ENFORCED)
    admin.create(standard).expect(201)
    assert accepted(admin, standard, "True") == "in force"
    assert_refused(team.create(wrong, dry_run=True), "payments-prod-bucket")

    # The schema cannot know the types: Truce refuses, and keeps what was good.
    bad = {"spec": {"naming": {"types": ["s3/Bukcet"]}}}
    admin.patch(standard, bad).expect(200)
    message = accepted(admin, standard, "False", generation=2)
    assert message.startswith("naming.types: no type 's3/Bukcet'"), message
    assert message.endswith("generation 1 stays in force")
    assert_refused(team.create(wrong, dry_run=True), "payments-prod-bucket")

    # Only one object gives the convention; the other waits for its place.
    other = policy("other", naming={"template": "{env}-{service}"}, rules=ENFORCED)
    admin.create(other).expect(201)
    assert "NamingPolicy standard already" in accepted(admin, other, "False")

    # A restarted server has the policies from its first review.
    admin.patch(standard, {"spec": {"naming": {"types": ["s3/Bucket"]}}}).expect(200)
    accepted(admin, standard, "True", generation=3)
    truce.stop()
    truce.start()
    assert_refused(team.create(wrong, dry_run=True), "payments-prod-bucket")

    admin.delete(standard).expect()
    assert accepted(admin, other, "True") == "in force"
    assert_refused(team.create(wrong, dry_run=True), "{env}-{service}")
    admin.delete(other).expect()
    wait_for(lambda: team.create(wrong, dry_run=True).ok, 20, "names free again")


def test_the_configuration_goes_before_objects(follow, user):
    admin = user()
    truce = follow({})
    standard = policy("standard", naming={"template": "{service}-{env}-{type}"}, rules=ENFORCED)
    admin.create(standard).expect(201)
    accepted(admin, standard, "True")
    truce.write_config({"rules": ENFORCED, "naming": {"template": "{env}-{service}"}})
    message = accepted(admin, standard, "False")
    assert "truce.yaml:" in message and "only one can give the convention" in message
    assert_refused(
        user("team-a").create(bucket("files", "payments-prod-bucket"), dry_run=True), "{env}"
    )
