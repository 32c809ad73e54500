"""The main job: the second declaration of a resource is refused, whoever and however."""

import json

import pytest

from support.objects import (
    EXTERNAL_NAME,
    MANAGED_FINALIZER,
    bucket,
    bucket_policy,
    claim,
    collection_path,
    community_bucket,
    managed,
    namespaced_bucket,
    queue,
)
from support.verdicts import assert_refused, assert_unknown

OWNER = bucket("artifacts", "prod-artifacts", labels={"app.kubernetes.io/part-of": "service-a"})


@pytest.fixture
def owned(truce, user):
    """The bucket prod-artifacts belongs to team-a's object `artifacts`."""
    return user("team-a").create(OWNER).expect(201)


@pytest.mark.parametrize(
    "duplicate",
    [
        bucket("copy", "prod-artifacts"),
        bucket("copy", "prod-artifacts", version="v1beta1"),
        bucket("prod-artifacts"),
        namespaced_bucket("copy", "team-b", "prod-artifacts"),
        namespaced_bucket("prod-artifacts", "team-b"),
        community_bucket("copy", "prod-artifacts"),
        claim("copy", "team-b", "prod-artifacts"),
    ],
    ids=[
        "external name",
        "older version of the kind",
        "metadata.name",
        "namespaced kind",
        "namespaced kind by metadata.name",
        "community kind",
        "claim",
    ],
)
@pytest.mark.parametrize("server", [0, 1])
def test_every_way_to_name_it_is_refused(owned, user, duplicate, server):
    assert_refused(user("team-b", server).create(duplicate), "prod-artifacts", "artifacts")
    assert user("team-b").get(duplicate).status == 404


def test_what_lies_deep_or_stands_twice_keeps_nobody_from_being_judged(owned, user):
    """The API server takes the last of two members; nesting is its own business up to 10,000."""
    duplicate = claim("copy", "team-b", "prod-artifacts")
    deep = json.dumps(duplicate).replace('"parameters": {', '"parameters": {"deep": %s, "deep": %s, ' % (
        "1", "[" * 80 + "]" * 80))
    assert deep.count("deep") == 2
    reply = user("team-b").request("POST", collection_path(duplicate), deep.encode())
    assert_refused(reply, "prod-artifacts", "artifacts")


def test_the_text_names_everything_one_needs(owned, user):
    text = assert_refused(
        user("team-b").create(bucket("copy", "prod-artifacts")),
        "prod-artifacts",  # the resource,
        "service-a",  # the service that owns it,
        "Bucket artifacts",  # the object that does,
        "kubectl annotate",  # how it changes hands,
        "[duplicate-ownership]",  # and the rule, to search for.
    )
    first, *rest = text.splitlines()
    assert "prod-artifacts" in first and "artifacts" in first
    assert len(text) < 1024


@pytest.mark.parametrize(
    "actor, code",
    [("admin", 403), ("argocd", 403), ("team-b", 403), ("provider", 403), ("crossplane", 422)],
)
def test_the_code_depends_on_who_asks(owned, user, actor, code):
    # 422 lets a composite's other resources go on; for anyone else it would make tools recreate.
    reply = user(actor).create(bucket("copy", "prod-artifacts"))
    assert_refused(reply, "prod-artifacts", code=code)


@pytest.mark.parametrize(
    "first, second",
    [
        (queue("one", "orders-events"), queue("two", "orders-events")),
        (
            managed("dynamodb.aws.upbound.io/v1beta2", "Table", "one", "orders"),
            managed("dynamodb.aws.upbound.io/v1beta1", "Table", "two", "orders"),
        ),
        (
            managed("iam.aws.upbound.io/v1beta1", "Role", "one", "orders"),
            managed("iam.aws.upbound.io/v1beta1", "Role", "two", "orders"),
        ),
        (
            managed("sns.aws.upbound.io/v1beta1", "Topic", "one", "orders"),
            managed("sns.aws.upbound.io/v1beta1", "Topic", "two", "orders"),
        ),
        (bucket_policy("one", bucket="some-bucket"), bucket_policy("two", bucket="some-bucket")),
    ],
    ids=["Queue", "Table", "Role", "Topic", "BucketPolicy"],
)
def test_other_types_are_kept_too(truce, user, first, second):
    user("team-a").create(first).expect(201)
    assert_refused(user("team-b").create(second), first["metadata"]["name"])


def test_equal_names_of_different_types_do_not_meet(truce, user):
    client = user("team-a")
    for obj in (
        bucket("orders"),
        queue("orders", "orders"),
        managed("dynamodb.aws.upbound.io/v1beta2", "Table", "orders"),
        managed("iam.aws.upbound.io/v1beta1", "Role", "orders"),
        managed("sns.aws.upbound.io/v1beta1", "Topic", "orders"),
    ):
        client.create(obj).expect(201)


def test_an_update_to_a_taken_name_is_refused_and_to_a_free_one_allowed(owned, user):
    client = user("team-b")
    mine = bucket("mine", "my-bucket")
    client.create(mine).expect(201)
    assert_refused(client.patch(mine, _renamed("prod-artifacts")), "prod-artifacts")
    client.patch(mine, _renamed("another-bucket")).expect()
    reply = user("team-a").create(bucket("late", "another-bucket"))
    assert_refused(reply, "another-bucket", "mine")


def test_an_observer_is_allowed_and_may_not_become_a_manager(owned, user):
    client = user("team-b")
    observer = bucket("look", "prod-artifacts")
    observer["spec"]["managementPolicies"] = ["Observe"]
    client.create(observer).expect(201)
    for policies in (["*"], ["Observe", "Update"], ["Observe", "Delete"]):
        patch = {"spec": {"managementPolicies": policies}}
        assert_refused(client.patch(observer, patch), "prod-artifacts", "artifacts")
    client.patch(observer, {"metadata": {"labels": {"seen": "yes"}}}).expect()
    client.delete(observer).expect()


def test_an_observer_owns_nothing(truce, user):
    observer = bucket("look", "free-bucket")
    observer["spec"]["managementPolicies"] = ["Observe"]
    user("team-a").create(observer).expect(201)
    user("team-b").create(bucket("manager", "free-bucket")).expect(201)


def test_deletion_is_always_allowed(owned, user):
    assert user("team-a").delete(OWNER, dry_run=True).ok
    assert user("team-a").delete(OWNER).ok
    assert user("team-a").get(OWNER).status == 404


def test_deletion_is_allowed_without_truce(truce, owned, user):
    truce.kill()
    assert_unknown(user("team-b").create(bucket("while-down")))
    assert user("team-a").delete(OWNER).ok
    assert user("team-a").get(OWNER).status == 404


def test_a_terminating_owner_still_owns_and_can_end(truce, user):
    owner = bucket("ending", "ending-bucket", finalizers=[MANAGED_FINALIZER])
    user("team-a").create(owner).expect(201)
    user("team-a").delete(owner).expect()
    assert "deletionTimestamp" in user("team-a").get(owner).body["metadata"]
    reply = user("team-b").create(bucket("heir", "ending-bucket"))
    assert_refused(reply, "ending-bucket", "Bucket ending")
    user("provider").patch(owner, {"metadata": {"annotations": {"note": "deleting"}}}).expect()
    user("provider").patch(owner, {"metadata": {"finalizers": None}}).expect()
    assert user("team-a").get(owner).status == 404


def test_a_terminating_object_cannot_be_pointed_at_a_victim(owned, user):
    client = user("team-b")
    weapon = bucket("weapon", "my-bucket", finalizers=[MANAGED_FINALIZER])
    client.create(weapon).expect(201)
    client.delete(weapon).expect()
    assert_refused(client.patch(weapon, _renamed("prod-artifacts")), "prod-artifacts", "artifacts")
    assert client.get(weapon).body["metadata"]["annotations"][EXTERNAL_NAME] == "my-bucket"
    user("provider").patch(weapon, {"metadata": {"finalizers": None}}).expect()
    assert client.get(weapon).status == 404


def test_a_terminating_observer_cannot_be_raised(owned, user):
    client = user("team-b")
    weapon = bucket("weapon", "prod-artifacts", finalizers=[MANAGED_FINALIZER])
    weapon["spec"]["managementPolicies"] = ["Observe"]
    client.create(weapon).expect(201)
    client.delete(weapon).expect()
    assert_refused(client.patch(weapon, {"spec": {"managementPolicies": ["*"]}}), "prod-artifacts")


def test_a_status_change_is_not_asked_about(truce, owned, user):
    reviews = 'truce_admission_reviews_total{operation="UPDATE",verdict="allowed"}'
    before = truce.metric(reviews)
    arn = {"atProvider": {"arn": "arn:aws:s3:::prod-artifacts"}}
    user("provider").patch_status(OWNER, arn).expect()
    user("provider").patch(OWNER, {"metadata": {"finalizers": [MANAGED_FINALIZER]}}).expect()
    assert truce.metric(reviews) == before
    user("provider").patch(OWNER, {"metadata": {"annotations": {"note": "asked"}}}).expect()
    assert truce.metric(reviews) == before + 1
    # Who removes the finalizer of a terminating object is evidence.
    user("team-a").delete(OWNER).expect()
    user("provider").patch(OWNER, {"metadata": {"finalizers": None}}).expect()
    assert truce.metric(reviews) == before + 2


def _renamed(name: str) -> dict:
    return {"metadata": {"annotations": {EXTERNAL_NAME: name}}}
