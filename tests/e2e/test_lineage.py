"""One owner from claim to managed resource, and nobody else by pretending.

Crossplane's part is played by its service account, in the order that was recorded from the real
one: claim, its reference to the composite, composite, its references, composed resource.
"""

import pytest

from support.objects import (
    COMPOSITION_RESOURCE_NAME,
    MANAGED_FINALIZER,
    bucket,
    claim,
    claim_labels,
    composite,
    controller_reference,
    object_reference,
)
from support.verdicts import assert_refused

NAME = "prod-artifacts"


def composed_bucket(xr: dict, claim_object: dict, name: str, bucket_name: str = NAME) -> dict:
    """The bucket as Crossplane composes it; `xr` as the API returned it."""
    return bucket(
        name,
        bucket_name,
        annotations={COMPOSITION_RESOURCE_NAME: "bucket"},
        labels={**claim_labels(claim_object), "crossplane.io/composite": xr["metadata"]["name"]},
        ownerReferences=[controller_reference(xr)],
    )


def compose(crossplane, claim_object: dict, suffix: str, bucket_name: str = NAME) -> dict:
    """Makes the composite of a claim that exists; returns it as the API returned it."""
    wanted = composite(f"{claim_object['metadata']['name']}-{suffix}", bucket_name, claim_object)
    crossplane.patch(
        claim_object,
        {
            "metadata": {"finalizers": ["finalizer.apiextensions.crossplane.io"]},
            "spec": {"resourceRef": object_reference(wanted)},
        },
    ).expect()
    crossplane.apply(wanted, manager="apiextensions.crossplane.io/claim").expect(201)
    return crossplane.patch(
        wanted, {"metadata": {"finalizers": ["composite.apiextensions.crossplane.io"]}}
    ).expect().body


def render(crossplane, xr: dict, composed: dict):
    """Names the composed object in the composite, then applies it; returns the last reply."""
    crossplane.patch(xr, {"spec": {"resourceRefs": [object_reference(composed)]}}).expect()
    return crossplane.apply(composed, manager="apiextensions.crossplane.io/composed/0a1b")


@pytest.fixture
def chain(truce, user):
    """team-a's claim, its composite and its bucket: (claim, composite, bucket) as stored."""
    wanted = claim("artifacts", "team-a", NAME, labels={"app.kubernetes.io/part-of": "service-a"})
    stored = user("team-a").create(wanted).expect(201).body
    crossplane = user("crossplane")
    xr = compose(crossplane, stored, "h9fnb")
    made = render(crossplane, xr, composed_bucket(xr, stored, "artifacts-h9fnb-dkspn")).expect(201)
    return stored, xr, made.body


def test_the_whole_chain_is_one_owner(chain, user):
    claim_object, xr, made = chain
    provider = user("provider")
    provider.patch(made, {"metadata": {"finalizers": [MANAGED_FINALIZER]}}).expect()
    provider.patch(made, {"spec": {"forProvider": {"tags": {"team": "a"}}}}).expect()
    provider.patch_status(made, {"atProvider": {"arn": f"arn:aws:s3:::{NAME}"}}).expect()
    user("team-a").patch(claim_object, {"metadata": {"labels": {"tier": "gold"}}}).expect()
    user("crossplane").apply(
        composed_bucket(xr, claim_object, "artifacts-h9fnb-dkspn"),
        manager="apiextensions.crossplane.io/composed/0a1b",
    ).expect(200)


def test_the_api_tells_the_chain(truce, chain):
    """As the page draws it: what stands above each object, up to the claim."""
    status, told = truce.operator_get(f"/api/v1/lineage/{truce.owner(NAME)['id']}")
    above = {each["object"]["kind"]: each["above"] and each["above"]["kind"] for each in told["objects"]}
    assert (status, told["complete"]) == (200, True)
    assert above == {"ObjectStorage": None, "XObjectStorage": "ObjectStorage", "Bucket": "XObjectStorage"}


@pytest.mark.parametrize(
    "duplicate",
    [claim("artifacts", "team-b", NAME), bucket("copy", NAME)],
    ids=["claim", "managed"],
)
def test_the_owner_that_a_refusal_names_is_the_claim(chain, user, duplicate):
    reply = user("team-b").create(duplicate)
    assert_refused(reply, NAME, "ObjectStorage", "team-a/artifacts", "service-a")


def test_the_second_claim_is_refused_before_anything_is_composed(truce, user):
    user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201)
    assert_refused(
        user("team-b").create(claim("artifacts", "team-b", NAME)), NAME, "team-a/artifacts"
    )


def test_a_claim_changed_to_a_taken_name_is_refused(truce, user):
    user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201)
    other = claim("artifacts", "team-b", "team-b-artifacts")
    user("team-b").create(other).expect(201)
    patch = {"spec": {"parameters": {"name": NAME}}}
    assert_refused(user("team-b").patch(other, patch), NAME, "team-a/artifacts")


def test_a_claim_may_not_take_a_managed_resources_bucket(truce, user):
    user("team-a").create(bucket("by-hand", NAME)).expect(201)
    assert_refused(user("team-b").create(claim("artifacts", "team-b", NAME)), NAME, "by-hand")


def test_without_a_mapping_the_composed_resource_is_refused(start_truce, user):
    """Claims say nothing then, so the refusal comes when the second bucket is composed, with the
    code that lets the composite's other resources go on; the owner is the first claim all the
    same."""
    start_truce({})
    crossplane = user("crossplane")
    first = user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201).body
    second = user("team-b").create(claim("artifacts", "team-b", NAME)).expect(201).body
    xr = compose(crossplane, first, "h9fnb")
    other_xr = compose(crossplane, second, "r2ln7")
    render(crossplane, xr, composed_bucket(xr, first, "artifacts-h9fnb-dkspn")).expect(201)
    double = composed_bucket(other_xr, second, "artifacts-r2ln7-pmkxl")
    assert_refused(render(crossplane, other_xr, double), NAME, "team-a/artifacts", code=422)


def test_a_composed_resource_of_another_claim_is_refused(chain, user):
    crossplane = user("crossplane")
    other = user("team-b").create(claim("other", "team-b", "team-b-artifacts")).expect(201).body
    xr = composite("other-x7k2p", "team-b-artifacts", other)
    stored = crossplane.apply(xr).expect(201).body
    reply = render(crossplane, stored, composed_bucket(stored, other, "other-x7k2p-aaaaa"))
    assert_refused(reply, NAME, "team-a/artifacts", code=422)


def test_two_branches_of_one_composite_may_not_both_manage(chain, user):
    claim_object, xr, _ = chain
    twin = composed_bucket(xr, claim_object, "artifacts-h9fnb-twin")
    assert_refused(user("crossplane").apply(twin), NAME, code=422)


def test_forged_labels_are_no_evidence(chain, user):
    claim_object, xr, _ = chain
    forged = bucket(
        "forged",
        NAME,
        annotations={COMPOSITION_RESOURCE_NAME: "bucket"},
        labels={**claim_labels(claim_object), "crossplane.io/composite": xr["metadata"]["name"]},
    )
    for actor in ("team-b", "argocd", "admin", "provider"):
        assert_refused(user(actor).create(forged), NAME, "team-a/artifacts")


def test_forged_owner_references_are_no_evidence(chain, user):
    claim_object, xr, _ = chain
    forged = composed_bucket(xr, claim_object, "forged")
    for actor in ("team-b", "argocd", "admin", "provider"):
        assert_refused(user(actor).create(forged), NAME, "team-a/artifacts")
        assert_refused(user(actor).apply(forged), NAME, "team-a/artifacts")


def test_owner_references_forged_by_an_update_are_no_evidence(chain, user):
    claim_object, xr, _ = chain
    forged = composed_bucket(xr, claim_object, "mine")
    mine = bucket("mine", "my-bucket")
    user("team-b").create(mine).expect(201)
    reply = user("team-b").patch(mine, {"metadata": forged["metadata"]})
    assert_refused(reply, NAME, "team-a/artifacts")
    reference = {"metadata": {"ownerReferences": forged["metadata"]["ownerReferences"]}}
    user("team-b").patch(mine, reference).expect()
    name = {"metadata": {"annotations": forged["metadata"]["annotations"]}}
    assert_refused(user("team-b").patch(mine, name), NAME, "team-a/artifacts")


def test_a_forged_claim_reference_is_no_evidence(chain, user):
    claim_object, _, _ = chain
    forged = composite("artifacts-forged", NAME, claim_object)
    assert_refused(user("team-b").create(forged), NAME, "team-a/artifacts")


def test_a_made_up_composite_is_nobody(chain, user):
    """A controller reference by Crossplane to a composite that never existed gives no rights."""
    claim_object, xr, _ = chain
    ghost = {**xr, "metadata": {"name": "ghost", "uid": "00000000-0000-4000-8000-000000000000"}}
    reply = user("crossplane").apply(composed_bucket(ghost, claim_object, "ghost-bucket"))
    assert_refused(reply, NAME, "team-a/artifacts", code=422)


def test_deleting_the_chain_is_allowed_top_down(chain, user):
    claim_object, xr, made = chain
    crossplane = user("crossplane")
    user("team-a").delete(claim_object).expect()
    for obj in (xr, made):
        crossplane.delete(obj).expect()
    user("provider").patch(made, {"metadata": {"finalizers": None}})
    for obj in (xr, claim_object):
        crossplane.patch(obj, {"metadata": {"finalizers": None}}).expect()
    for obj in (claim_object, xr, made):
        assert user("admin").get(obj).status == 404
