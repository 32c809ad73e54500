"""Settings whose effect people see through the API server."""

from datetime import datetime, timedelta, timezone

import pytest

from support.objects import bucket, bucket_policy, namespaced_bucket, queue
from support.processes import wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused
from support.webhook_registration import CONFIGURATION

OWNER = bucket("artifacts", "prod-artifacts", labels={"app.kubernetes.io/part-of": "service-a"})
COPY = bucket("copy", "prod-artifacts")


def config(**more) -> dict:
    return {"mappings": OBJECT_STORAGE_MAPPINGS, **more}


@pytest.mark.parametrize(
    "level, named, hidden",
    [
        ("full", ["service-a", "artifacts"], []),
        ("service", ["service-a"], ["Bucket artifacts"]),
        ("taken", [], ["service-a", "Bucket artifacts"]),
    ],
)
def test_a_refusal_names_the_owner_as_far_as_it_may(start_truce, user, level, named, hidden):
    start_truce(config(disclosure=level))
    user("team-a").create(OWNER).expect(201)
    text = assert_refused(user("team-b").create(COPY), "prod-artifacts", *named)
    for name in hidden:
        assert name not in text


def test_a_composite_controller_may_be_refused_with_403(start_truce, user):
    start_truce(config(compositeDenialCode=403))
    user("team-a").create(OWNER).expect(201)
    assert_refused(user("crossplane").create(COPY), "prod-artifacts", code=403)


def test_an_account_is_for_the_namespaces_that_it_is_bound_to(follow, user):
    """A tenant's own ProviderConfig with a role of an account that it cannot enter."""
    ones, twos = "111111111111", "222222222222"
    truce = follow({"accountParties": {ones: ["team-a"]}})

    def provider_config(namespace: str, account: str) -> dict:
        role = f"arn:aws:iam::{account}:role/crossplane"
        return {"apiVersion": "aws.m.upbound.io/v1beta1", "kind": "ProviderConfig",
                "metadata": {"name": f"to-{account}", "namespace": namespace},
                "spec": {"credentials": {"source": "IRSA"},
                         "assumeRoleChain": [{"roleARN": role}]}}

    def bucket_of(namespace: str, name: str, account: str) -> dict:
        obj = namespaced_bucket(name, namespace, name)
        obj["spec"]["providerConfigRef"] = {"kind": "ProviderConfig", "name": f"to-{account}"}
        return obj

    for namespace in ("team-a", "team-b"):
        for account in (ones, twos):
            user(namespace).create(provider_config(namespace, account)).expect(201)
    theirs = bucket_of("team-b", "reserved-there", ones)
    wait_for(lambda: not user("team-b").create(theirs, dry_run=True).ok, 20, "the account known")
    assert_refused(user("team-b").create(theirs), ones, "team-b", "accountParties")
    user("team-a").create(bucket_of("team-a", "our-own", ones)).expect(201)
    user("team-b").create(bucket_of("team-b", "somewhere", twos)).expect(201)
    gaps = wait_for(lambda: (told := truce.command("coverage", "--all").stdout)
                    and "account-unbound" in told and told, 20, "the account of nobody")
    assert f"account {twos}" in gaps and f"account {ones}" not in gaps, gaps


def test_a_timed_override_lets_one_name_through(start_truce, user):
    until = (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    override = {"name": "prod-artifacts", "until": until, "reason": "migration of service A"}
    start_truce(config(overrides=[override]))
    client = user("team-a")
    for name in ("prod-artifacts", "other-bucket"):
        client.create(bucket(f"owner-of-{name}", name)).expect(201)
    user("team-b").create(COPY).expect(201)
    assert_refused(user("team-b").create(bucket("copy-2", "other-bucket")), "other-bucket")


def test_a_changed_mode_takes_effect_without_restart(start_truce, user):
    truce = start_truce(config(mode="audit"))
    user("team-a").create(OWNER).expect(201)
    client = user("team-b")
    assert client.create(COPY, dry_run=True).ok
    truce.write_config(config(mode="enforce"))
    reply = wait_for(
        lambda: next((r for r in [client.create(COPY, dry_run=True)] if not r.ok), None),
        30,
        "the changed mode in effect",
    )
    assert_refused(reply, "prod-artifacts")


def test_names_that_accounts_keep_apart(start_truce, user):
    """Queue names are unique per account and region: two ProviderConfigs of one account meet, those
    of two accounts do not, and one whose account is not known is warned about."""
    accounts = {"prod": "111111111111", "prod-too": "111111111111", "dev": "222222222222"}
    start_truce(
        config(
            providerConfigs=[
                {"name": name, "account": account} for name, account in accounts.items()
            ]
        )
    )

    def through(name: str) -> dict:
        obj = queue(f"events-{name}", "orders-events")
        obj["spec"]["providerConfigRef"] = {"name": name}
        return obj

    user("team-a").create(through("prod")).expect(201)
    assert_refused(user("team-b").create(through("prod-too")), "orders-events", "events-prod")
    user("team-b").create(through("dev")).expect(201)
    warned = user("team-b").create(through("unknown")).expect(201)
    assert any("orders-events" in warning for warning in warned.warnings), warned


def test_a_paused_object_owns(truce, user):
    paused = bucket("paused", "prod-artifacts", annotations={"crossplane.io/paused": "true"})
    user("team-a").create(paused).expect(201)
    assert_refused(user("team-b").create(COPY), "prod-artifacts", "paused")
    nothing = bucket("nothing-allowed", "other-bucket")
    nothing["spec"]["managementPolicies"] = []
    user("team-a").create(nothing).expect(201)
    assert_refused(user("team-b").create(bucket("c", "other-bucket")), "other-bucket", "nothing")


def test_a_reference_to_a_known_object_is_resolved(truce, user):
    user("team-a").create(OWNER).expect(201)
    by_reference = bucket_policy("by-reference", bucketRef={"name": "artifacts"})
    user("team-a").create(by_reference).expect(201)
    second = bucket_policy("by-name", bucket="prod-artifacts")
    assert_refused(user("team-b").create(second), "prod-artifacts", "by-reference")


def test_a_reference_that_a_provider_resolves_is_judged(truce, user):
    """The reference names an object that nobody has seen, so nothing is known until the provider
    writes what it found; that precedes every call to AWS."""
    user("team-a").create(bucket_policy("first", bucket="prod-artifacts")).expect(201)
    second = bucket_policy("second", bucketRef={"name": "made-elsewhere"})
    user("team-b").create(second).expect(201)
    resolved = {"spec": {"forProvider": {"bucket": "prod-artifacts"}}}
    assert_refused(user("provider").patch(second, resolved), "prod-artifacts", "first")


def test_a_bucket_moved_to_its_namespaced_kind_stays_refused_without_a_transfer(truce, user):
    user("team-a").create(OWNER).expect(201)
    moved = namespaced_bucket("artifacts", "team-a", "prod-artifacts")
    assert_refused(user("team-a").create(moved), "prod-artifacts", "artifacts")


def test_a_refused_change_is_an_event_on_the_webhook_configuration(follow, user):
    truce = follow(config())
    admin = user("admin")
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" + CONFIGURATION
    uid = admin.request("GET", path).expect().body["metadata"]["uid"]
    truce.write_config(config(typeModes={"s3/Buckett": "warn"}))

    def notes() -> list[str]:
        listed = admin.request("GET", "/api/v1/namespaces/default/events").expect().body["items"]
        return [event["message"] for event in listed
                if event["reason"] == "ConfigurationRefused" and event["involvedObject"]["uid"] == uid]

    [note] = wait_for(notes, 20, "the Event")
    assert "no type 's3/Buckett'" in note
