"""What the garbage collector, Crossplane and Velero do to a chain, in the shapes of their real
requests: each is admitted, and the bucket stays whose it was. Also with a restart in between."""

import itertools

import pytest

from e2e.test_lineage import NAME, compose, composed_bucket, render
from support.objects import MANAGED_FINALIZER, bucket, claim, object_path, object_reference
from support.processes import wait_for
from support.provider import make_real
from support.verdicts import assert_refused

OF_THE_CLUSTER = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields",
                  "deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences")


def make_chain(truce, user) -> tuple[dict, dict, dict]:
    """team-a's chain with its bucket made: (claim, composite, managed resource), as stored at the
    end. `truce`: what follows the cluster and is to have seen it; None: nobody."""
    wanted = claim("artifacts", "team-a", NAME, labels={"app.kubernetes.io/part-of": "service-a"})
    stored = user("team-a").create(wanted).expect(201).body
    crossplane = user("crossplane")
    xr = compose(crossplane, stored, "h9fnb")
    made = render(crossplane, xr, composed_bucket(xr, stored, "artifacts-h9fnb-dkspn")).expect(201)
    make_real(user("provider"), made.body)
    if truce:
        truce.wait_for_state(NAME, "held")
    admin = user("admin")
    return tuple(admin.get(obj).expect().body for obj in (stored, xr, made.body))


@pytest.fixture
def live(follow, user):
    """Truce following the cluster, and make_chain()."""
    truce = follow()
    return truce, *make_chain(truce, user)


def restart(truce, wanted: bool) -> None:
    if wanted:
        truce.stop()
        truce.start()


def is_team_a(truce) -> bool:
    owner = truce.owner(NAME)
    root = owner.get("root", {})
    return owner["state"] == "held" and root.get("namespace") == "team-a"


def vanish(admin, obj: dict) -> None:
    """It goes, and nobody deletes what it stood for."""
    admin.patch(obj, {"metadata": {"finalizers": None}})
    admin.delete(obj)
    wait_for(lambda: admin.get(obj).status == 404, 10, "gone")


def restored(obj: dict) -> dict:
    """As Velero creates it again: owner references and all that a cluster gives are stripped."""
    metadata = {k: v for k, v in obj["metadata"].items() if k not in OF_THE_CLUSTER}
    return {**{k: v for k, v in obj.items() if k != "status"}, "metadata": metadata}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
@pytest.mark.parametrize("again", [False, True], ids=["", "restart"])
def test_a_chain_comes_back_from_a_backup_in_any_order(live, user, order, again):
    truce, *chain = live
    admin = user("admin")
    for obj in chain:
        vanish(admin, obj)
    truce.wait_for_state(NAME, "orphaned")
    restart(truce, again)
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME, "service-a")
    for which in order:
        user("velero").create(restored(chain[which])).expect(201)
    wait_for(lambda: is_team_a(truce), 20, "one owner again")
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME, "team-a/artifacts")
    user("provider").patch(chain[2], {"spec": {"forProvider": {"tags": {"a": "b"}}}}).expect()


@pytest.mark.parametrize("again", [False, True], ids=["", "restart"])
def test_the_garbage_collector_may_take_the_owner_reference(live, user, again):
    """History 7, and 4: what was orphaned by --cascade=orphan is nobody else's."""
    truce, claim_object, xr, made = live
    admin, collector, crossplane = user("admin"), user("collector"), user("crossplane")
    admin.request("DELETE", object_path(xr), {"propagationPolicy": "Orphan"}).expect()
    collector.patch(made, {"metadata": {"ownerReferences": None}}).expect()
    restart(truce, again)
    vanish(admin, xr)
    assert admin.get(made).expect().body["metadata"].get("ownerReferences") is None

    stranger = user("team-b").create(claim("mine", "team-b", "mine-artifacts")).expect(201).body
    theirs = compose(crossplane, stranger, "zzzzz", "mine-artifacts")
    crossplane.patch(theirs, {"spec": {"resourceRefs": [object_reference(made)]}}).expect()
    restart(truce, again)
    assert is_team_a(truce)
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME, "team-a/artifacts")

    back = compose(crossplane, claim_object, "h9fnb")
    composed = composed_bucket(back, claim_object, made["metadata"]["name"])
    render(crossplane, back, composed).expect(200)
    wait_for(lambda: is_team_a(truce), 20, "the owner's again")
    user("provider").patch(made, {"spec": {"forProvider": {"tags": {"a": "b"}}}}).expect()


def test_a_replaced_object_is_the_same_owners(live, user):
    """`kubectl replace --force`: deleted, and created again under a new uid. Recorded so."""
    truce, *_ = live
    mine = bucket("mine", "mine-artifacts", finalizers=[MANAGED_FINALIZER])
    stored = user("team-a").create(mine).expect(201).body
    truce.wait_for_state("mine-artifacts", "held")
    user("team-a").delete(stored).expect()
    user("provider").patch(stored, {"metadata": {"finalizers": None}}).expect()
    user("team-a").create(bucket("mine", "mine-artifacts")).expect(201)
    truce.wait_for_state("mine-artifacts", "held")
    assert_refused(user("team-b").create(bucket("copy", "mine-artifacts")), "mine-artifacts")
