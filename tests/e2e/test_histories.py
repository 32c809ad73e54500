"""Histories in which a resource was lost once, through the real API server: with the cluster
followed and without, and with a restart before the answer that matters."""

import pytest

from e2e.histories import ONE, SECONDS, TWO, arn, by, group, show, table
from e2e.test_life_cycles import restored, vanish
from e2e.test_lineage import NAME, compose, composed_bucket, render
from support.objects import (
    EXTERNAL_NAME,
    MANAGED_FINALIZER,
    REGION,
    bucket,
    bucket_policy,
    claim,
    composite,
    namespaced_bucket,
    object_path,
    object_reference,
    queue,
)
from support.processes import wait_for
from support.provider import make_real
from support.verdicts import assert_refused
from support.webhook_registration import STATUS

URL = f"https://sqs.{REGION}.amazonaws.com/{ONE}/jobs"


@pytest.mark.parametrize(
    ("mine", "copy", "service"),
    [
        (queue("jobs", "jobs"), queue("copy", "jobs"), "sqs"),
        (table("jobs", "jobs"), table("copy", "jobs"), "dynamodb"),
        (bucket("jobs", "all-jobs"), namespaced_bucket("copy", "team-b", "all-jobs"), "s3"),
    ],
    ids=["Queue", "Table", "Bucket"],
)
def test_what_a_status_shows_gives_nothing_away(world, mine, copy, service):
    """History 1: an ARN under a ProviderConfig that tells no account; also when orphaned."""
    stored = world.user("team-a").create(mine).expect(201).body
    provider = world.user("provider")
    make_real(provider, stored)
    show(provider, stored, **arn(ONE, service=service))
    world.turn()
    world.refuses(copy, "jobs")
    world.user("team-a").delete(stored).expect()
    # Of a provider that would be the word that nothing is there.
    world.user("team-a").patch(stored, {"metadata": {"finalizers": None}}).expect()
    world.turn()
    world.refuses(copy, "jobs")


def test_a_reference_to_another_provider_config_leaves_the_old_queue(world):
    """History 2."""
    stored = world.user("team-a").create(by("stage", queue("jobs", "jobs"))).expect(201).body
    make_real(world.user("provider"), stored)
    world.user("team-a").patch(stored, {"spec": {"providerConfigRef": {"name": "prod"}}}).expect()
    world.turn()
    world.refuses(by("stage", queue("copy", "jobs")), "jobs")


def test_an_external_name_that_aws_gave_is_refused(world):
    """History 3: a URL, an id."""
    stored = world.user("team-a").create(by("stage", queue("jobs", "jobs"))).expect(201).body
    make_real(world.user("provider"), stored)
    mine = world.user("team-a").create(group("web")).expect(201).body
    world.user("provider").patch(
        mine, {"metadata": {"annotations": {EXTERNAL_NAME: "sg-0123456789abcdef0"}}}).expect()
    world.turn()
    copy = queue("copy", "else")
    copy["metadata"]["annotations"] = {EXTERNAL_NAME: URL}
    world.refuses(copy, "jobs")
    world.refuses(group("copy", annotations={EXTERNAL_NAME: "sg-0123456789abcdef0"}), "web")


def test_two_statuses_with_one_arn_are_a_conflict(world):
    """History 3, the rest: who held the name stays owner. Without a cluster nobody sees a status."""
    mine = world.user("team-a").create(queue("jobs", "jobs")).expect(201).body
    theirs = world.user("team-b").create(by("other", queue("theirs", "jobs"))).expect(201).body
    for obj in (mine, theirs):
        make_real(world.user("provider"), obj)
        show(world.user("provider"), obj, **arn(ONE))
        world.knows("jobs", ONE)
    if world.follows:
        wait_for(lambda: world.truce.metric("truce_conflicts") == 1, SECONDS, "the conflict")
    world.turn()
    if world.follows:
        text = world.truce.command("conflicts", "-o", "wide").stdout
        assert "Queue jobs" in text and "Queue theirs" in text, text
        world.refuses(by("stage", queue("copy", "jobs")), "Queue jobs")
    world.refuses(queue("copy", "jobs"), "Queue jobs")
    world.user("team-b").patch(theirs, {"spec": {"forProvider": {"tags": {"a": "b"}}}}).expect()


def test_one_denial_names_two_foreign_owners(world):
    """Bad input: the names of one object belong to two."""
    world.user("team-a").create(by("stage", queue("jobs-a", "jobs"))).expect(201)
    world.user("admin").create(by("stage", queue("other-c", "other"))).expect(201)
    world.turn()
    copy = by("stage", queue("copy", "other"))
    copy["metadata"]["annotations"] = {EXTERNAL_NAME: URL}
    world.refuses(copy, "jobs-a", "other-c")


def test_a_strangers_claim_takes_nothing_of_an_orphaned_chain(world):
    """Histories 4 and 7: the composite went with --cascade=orphan, and comes back."""
    claim_object, xr, made = world.chain()
    admin, crossplane = world.user("admin"), world.user("crossplane")
    admin.request("DELETE", object_path(xr), {"propagationPolicy": "Orphan"}).expect()
    world.user("collector").patch(made, {"metadata": {"ownerReferences": None}}).expect()
    vanish(admin, xr)
    stranger = claim("mine", "team-b", "mine-artifacts")
    stranger["spec"]["resourceRef"] = object_reference(made)
    world.user("team-b").create(stranger).expect(201)
    world.turn()
    world.refuses(bucket("copy", NAME), NAME, "team-a/artifacts")
    back = compose(crossplane, claim_object, "h9fnb")
    render(crossplane, back, composed_bucket(back, claim_object, made["metadata"]["name"])).expect()
    world.user("provider").patch(made, {"spec": {"forProvider": {"tags": {"a": "b"}}}}).expect()


def test_a_reference_that_is_resolved_late_is_judged(world):
    """History 6: the policy of a bucket that another party keeps."""
    world.user("team-a").create(bucket("art", NAME)).expect(201)
    world.user("team-a").create(bucket_policy("art", bucket=NAME)).expect(201)
    late = world.user("team-b").create(bucket_policy("late", bucketRef={"name": "later"}))
    stored = late.expect(201).body
    seen = bucket("later", NAME)
    seen["spec"]["managementPolicies"] = ["Observe"]
    world.user("team-b").create(seen).expect(201)
    world.turn()
    resolved = {"spec": {"forProvider": {"bucket": NAME}}}
    assert_refused(world.user("provider").patch(stored, resolved), NAME)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
def test_a_restored_chain_is_the_owners(world, order):
    """History 8."""
    chain = world.chain()
    for obj in chain:
        vanish(world.user("admin"), obj)
    if world.follows:
        world.truce.wait_for_state(NAME, "orphaned")
    world.turn()
    for which in order:
        world.user("velero").create(restored(chain[which])).expect(201)
    world.refuses(bucket("copy", NAME), NAME)


def test_a_forged_claim_reference_joins_no_chain(world):
    """History 9: what a stranger's composite composes is not of team-a's claim."""
    wanted = claim("artifacts", "team-a", NAME)
    stored = world.user("team-a").create(wanted).expect(201).body
    crossplane = world.user("crossplane")
    forged = composite("forged", "else-artifacts", stored)
    theirs = world.user("admin").create(forged).expect(201).body
    world.turn()
    made = composed_bucket(theirs, stored, "forged-bucket")
    assert_refused(render(crossplane, theirs, made), NAME, "team-a/artifacts", code=422)
    xr = compose(crossplane, stored, "h9fnb")
    render(crossplane, xr, composed_bucket(xr, stored, "artifacts-h9fnb-dkspn")).expect(201)


def test_a_second_composed_bucket_of_one_claim_is_refused(world):
    """History 12: composed again while the former one lives."""
    claim_object, xr, _ = world.chain()
    vanish(world.user("admin"), xr)
    world.turn()
    crossplane = world.user("crossplane")
    back = compose(crossplane, claim_object, "h9fnb")
    second = composed_bucket(back, claim_object, "artifacts-h9fnb-second")
    assert_refused(render(crossplane, back, second), NAME, "declared twice", code=422)


def test_a_terminating_attachment_is_pointed_at_nobody(world):
    """History 13."""
    world.user("team-a").create(bucket("art", NAME)).expect(201)
    world.user("team-a").create(bucket_policy("art", bucket=NAME)).expect(201)
    world.user("team-b").create(bucket("mine", "prod-mine")).expect(201)
    policy = bucket_policy("mine", bucket="prod-mine")
    policy["metadata"]["finalizers"] = [MANAGED_FINALIZER]
    stored = world.user("team-b").create(policy).expect(201).body
    world.user("team-b").delete(stored).expect()
    world.turn()
    pointed = {"spec": {"forProvider": {"bucket": NAME}}}
    assert_refused(world.user("team-b").patch(stored, pointed), NAME)


def test_a_tenants_status_neither_takes_nor_evades(world):
    """History 16."""
    stored = world.user("team-b").create(queue("mine", "jobs")).expect(201).body
    forged = world.user("team-b").patch_status(stored, arn(TWO))
    assert_refused(forged, webhook=STATUS)
    world.turn()
    world.refuses(queue("copy", "jobs"), "jobs", who="team-a")


def test_the_owners_slot_is_nobodys_pass(world):
    """History 19: its bucket is declared by another under the name of the owner's object."""
    _, _, made = world.chain()
    vanish(world.user("admin"), made)
    world.turn()
    world.refuses(bucket(made["metadata"]["name"], NAME), NAME)


def test_nothing_is_restored_beside_a_living_declaration(world):
    """History 27."""
    _, _, made = world.chain()
    second = restored(made)
    second["metadata"]["name"] = "artifacts-second"
    world.turn()
    world.refuses(second, NAME, who="velero")


def test_a_claim_takes_a_composite_that_offers_itself(world):
    """History 28."""
    offered = composite("offered", NAME, annotations={
        "truce.dev/transfer-to": "ObjectStorage.platform.example.org/team-a/artifacts"})
    stored = world.user("admin").create(offered).expect(201).body
    if world.follows:
        world.truce.wait_for_state(NAME, "held")  # the offer counts with the watch
    world.turn()
    stranger = claim("artifacts", "team-b", NAME)
    stranger["spec"]["resourceRef"] = object_reference(stored)
    world.refuses(stranger, NAME)
    taker = claim("artifacts", "team-a", NAME)
    taker["spec"]["resourceRef"] = object_reference(stored)
    if not world.follows:
        # A composite that nobody has seen settled cannot be handed over.
        world.refuses(taker, NAME, "settled", who="team-a")
        return
    taken = world.user("team-a").create(taker).expect(201).body
    bound = composite("offered", NAME, taken)["spec"]["claimRef"]
    world.user("crossplane").patch(stored, {"spec": {"claimRef": bound}}).expect()
    world.refuses(bucket("copy", NAME), NAME)
