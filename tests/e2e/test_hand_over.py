"""Ownership changes hands: never two managers, never a lost resource. Each run is what a team would
do, on the real API server; the provider's part is played in the order of a real one's writes."""

import pytest

from e2e.test_lineage import compose, composed_bucket, render
from support.objects import bucket, claim, community_bucket, namespaced_bucket
from support.processes import wait_for
from support.provider import make_real, orphan
from support.verdicts import assert_refused

NAME = "prod-artifacts"
OBSERVE = {"spec": {"managementPolicies": ["Observe"]}}


@pytest.fixture
def truce(follow):
    """Truce following the cluster."""
    return follow()


def owned_by(truce, namespace: str, name: str) -> bool:
    root = truce.owner(NAME).get("root", {})
    return (root.get("namespace", ""), root.get("name")) == (namespace, name)


def successor_of(name: str) -> dict:
    return {"metadata": {"annotations": {"truce.dev/transfer-to": name}}}


def real(user, actor: str, obj: dict) -> dict:
    stored = user(actor).create(obj).expect(201).body
    make_real(user("provider"), stored)
    return stored


def let_go(user, actor: str, obj: dict) -> None:
    """Deleted by its team under a policy that keeps the bucket, and let go of by the provider."""
    user(actor).patch(obj, {"spec": {"deletionPolicy": "Orphan"}}).expect()
    user(actor).delete(obj).expect()
    orphan(user("provider"), obj)


def test_hand_over_to_another_team(truce, user):
    old = real(user, "team-a", namespaced_bucket("artifacts", "team-a", NAME))
    new = namespaced_bucket("artifacts", "team-b", NAME)
    assert_refused(user("team-b").create(new), NAME)
    user("team-a").patch(old, successor_of("Bucket/team-b/artifacts")).expect()
    assert_refused(user("team-b").create(new), "Observe")  # Never two managers.
    user("team-a").patch(old, OBSERVE).expect()
    truce.wait_for_state(NAME, "orphaned")
    assert_refused(user("team-b").create(namespaced_bucket("x", "team-b", NAME)), NAME)
    user("team-b").create(new).expect(201)
    assert owned_by(truce, "team-b", "artifacts")
    assert_refused(user("team-a").patch(old, {"spec": {"managementPolicies": ["*"]}}), NAME)


def test_helm_renames_a_release(truce, user):
    """The new object comes before the old one goes."""
    old = real(user, "team-a", namespaced_bucket("release-1-files", "team-a", NAME))
    new = namespaced_bucket("release-2-files", "team-a", NAME)
    assert_refused(user("team-a").create(new), NAME)
    user("team-a").patch(old, successor_of("Bucket/team-a/release-2-files")).expect()
    user("team-a").patch(old, OBSERVE).expect()
    truce.wait_for_state(NAME, "orphaned")
    user("team-a").create(new).expect(201)
    user("team-a").delete(old).expect()
    orphan(user("provider"), old)
    assert owned_by(truce, "team-a", "release-2-files")


def test_a_claim_moves_between_namespaces(truce, user):
    """With everything that is composed of it; the bucket itself is only let go of."""
    crossplane = user("crossplane")
    old = user("team-a").create(claim("files", "team-a", NAME)).expect(201).body
    xr = compose(crossplane, old, "h9fnb")
    made = render(crossplane, xr, composed_bucket(xr, old, "files-h9fnb-dkspn")).expect(201).body
    make_real(user("provider"), made)
    truce.wait_for_state(NAME, "held")
    user("team-a").patch(old, successor_of("ObjectStorage/team-b/files")).expect()
    new = claim("files", "team-b", NAME)
    assert_refused(user("team-b").create(new), NAME, "team-a/files")
    let_go(user, "crossplane", made)
    for actor, obj in (("team-a", old), ("crossplane", xr)):
        user(actor).delete(obj).expect()
        crossplane.patch(obj, {"metadata": {"finalizers": None}}).expect()
    truce.wait_for_state(NAME, "orphaned")
    assert_refused(user("team-b").create(claim("other", "team-b", NAME)), NAME)
    stored = user("team-b").create(new).expect(201).body
    assert owned_by(truce, "team-b", "files")
    xr = compose(crossplane, stored, "r2ln7")
    render(crossplane, xr, composed_bucket(xr, stored, "files-r2ln7-pmkxl")).expect(201)


def test_from_cluster_scoped_to_namespaced(truce, user):
    old = real(user, "team-a", bucket("artifacts", NAME))
    new = namespaced_bucket("artifacts", "team-a", NAME)
    assert_refused(user("team-a").create(new), NAME)
    user("team-a").patch(old, successor_of("Bucket/team-a/artifacts")).expect()
    assert_refused(user("team-a").create(new), "Observe")
    let_go(user, "team-a", old)
    wait_for(lambda: truce.owner(NAME).get("state") == "orphaned", 20, "between the two")
    assert_refused(user("team-b").create(namespaced_bucket("x", "team-b", NAME)), NAME)
    user("team-a").create(new).expect(201)
    assert owned_by(truce, "team-a", "artifacts")


def test_from_community_to_upjet(truce, user):
    old = real(user, "team-a", community_bucket("files", NAME))
    new = bucket("artifacts", NAME)
    assert_refused(user("team-a").create(new), NAME)
    user("team-a").patch(old, successor_of("Bucket/artifacts")).expect()
    let_go(user, "team-a", old)
    wait_for(lambda: truce.owner(NAME).get("state") == "orphaned", 20, "between the two")
    assert_refused(user("team-b").create(namespaced_bucket("x", "team-b", NAME)), NAME)
    user("team-a").create(new).expect(201)
    assert owned_by(truce, "", "artifacts")
