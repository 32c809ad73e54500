"""Restored objects that Crossplane has not adopted yet: what a changed Composition would orphan or
delete is refused by the guards, by what the API server shows at that moment."""

import pytest

from e2e.test_life_cycles import make_chain, restored, vanish
from e2e.test_lineage import NAME
from support.objects import composite, controller_reference, object_reference
from support.processes import wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused
from support.webhook_registration import DELETIONS

ENFORCED = {rule: {"mode": "enforce"}
            for rule in ("orphaning-update", "restored-twin", "restored-delete")}


def restored_chain(truce, user) -> tuple[dict, dict]:
    """(composite, managed resource) of team-a, brought back by Velero and not adopted."""
    admin = user("admin")
    chain = make_chain(truce, user)
    for obj in chain:
        vanish(admin, obj)
    truce.wait_for_state(NAME, "orphaned")
    back = [user("velero").create(restored(obj)).expect(201).body for obj in chain]
    wait_for(lambda: truce.owner(NAME)["state"] == "held", 20, "one owner again")
    return back[1], back[2]


def drop(user, xr: dict, dry_run: bool = False):
    """What Crossplane does when the Composition has the template no more."""
    return user("crossplane").patch(xr, {"spec": {"resourceRefs": []}}, dry_run=dry_run)


def test_without_configuration_both_are_only_warned_of(follow, user):
    truce = follow()
    xr, made = restored_chain(truce, user)
    reply = drop(user, xr).expect()
    assert any("would be orphaned" in warning for warning in reply.warnings), reply.warnings
    reply = user("crossplane").delete(made).expect()
    assert any("not adopted" in warning for warning in reply.warnings), reply.warnings


def test_what_was_restored_is_neither_orphaned_nor_deleted(follow, user):
    truce = follow({"mappings": OBJECT_STORAGE_MAPPINGS, "rules": ENFORCED})
    xr, made = restored_chain(truce, user)
    name = made["metadata"]["name"]
    text = assert_refused(drop(user, xr), f"Bucket {name} would be orphaned")
    assert f"kubectl annotate --overwrite bucket.s3.aws.upbound.io {name} truce.dev/orphan=true" in text
    assert_refused(user("crossplane").delete(made), f"Bucket {name} would be deleted",
                   webhook=DELETIONS)
    # Its template is back, Crossplane adopts it: from that moment on it may be dropped, whatever
    # the watch has seen.
    user("crossplane").patch(
        made, {"metadata": {"ownerReferences": [controller_reference(xr)]}}).expect()
    drop(user, xr).expect()
    user("crossplane").delete(made).expect()


def test_kinds_that_nobody_follows_are_looked_at_too(follow, user):
    """What a composite is made of may be of any kind; Truce may read this one."""
    follow({"mappings": OBJECT_STORAGE_MAPPINGS, "rules": ENFORCED})
    admin, crossplane = user(), user("crossplane")
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "restored-role"}, "rules": []}
    admin.create(role).expect(201)
    try:
        xr = crossplane.create(composite("roles", "role-files")).expect(201).body
        crossplane.patch(xr, {"spec": {"resourceRefs": [object_reference(role)]}}).expect()
        wait_for(lambda: not drop(user, xr, dry_run=True).ok, 60, "the kinds are known")
        assert_refused(drop(user, xr), "ClusterRole restored-role would be orphaned")
        admin.patch(role, {"metadata": {"annotations": {"truce.dev/orphan": "true"}}}).expect()
        drop(user, xr).expect()
    finally:
        admin.delete(role)


@pytest.mark.parametrize("who", ["annotation", "person"])
def test_who_means_it_may_let_go(follow, user, who):
    truce = follow({"mappings": OBJECT_STORAGE_MAPPINGS, "rules": ENFORCED})
    xr, made = restored_chain(truce, user)
    if who == "annotation":
        user("admin").patch(
            made, {"metadata": {"annotations": {"truce.dev/orphan": "true"}}}).expect()
        drop(user, xr).expect()
    else:
        user("admin").patch(xr, {"spec": {"resourceRefs": []}}).expect()
        user("admin").delete(made).expect()
