"""Histories of parties, words and names, through the real API server: who may say what of a
resource, and what configuration means by a name."""

from datetime import datetime, timedelta, timezone

import pytest

from e2e.histories import CONFIG, SECONDS, World
from e2e.test_life_cycles import make_chain, vanish
from e2e.test_lineage import NAME
from e2e.test_watch_trust import LOOK
from support.objects import (
    CUSTOM_KINDS,
    EXTERNAL_NAME,
    bucket,
    bucket_policy,
    claim,
    composite,
    controller_reference,
    managed,
    namespaced_bucket,
    object_path,
    object_reference,
)
from support.processes import wait_for
from support.provider import make_real, orphan

OBSERVE = {"spec": {"managementPolicies": ["Observe"]}}
ONE_TEAM = [{"service": "files", "namespaces": ["team-a", "team-b"]}]


def live(world: World, obj: dict, who: str = "team-a") -> dict:
    stored = world.user(who).create(obj).expect(201).body
    make_real(world.user("provider"), stored)
    world.exists(obj["metadata"]["annotations"][EXTERNAL_NAME])
    return stored


# All but Delete: namespaced kinds have no deletionPolicy.
KEEPS = ["Observe", "Create", "Update", "LateInitialize"]


def leave(world: World, obj: dict) -> None:
    """team-a's object goes, its bucket stays."""
    world.user("team-a").patch(obj, {"spec": {"managementPolicies": KEEPS}}).expect()
    world.user("team-a").delete(obj).expect()
    orphan(world.user("provider"), obj)


def policy_of(namespace: str, bucket_name: str) -> dict:
    obj = bucket_policy("theirs", bucket=bucket_name)
    obj["apiVersion"] = "s3.aws.m.upbound.io/v1beta1"
    obj["metadata"]["namespace"] = namespace
    obj["spec"]["providerConfigRef"] = {"kind": "ProviderConfig", "name": "default"}
    return obj


def test_a_team_is_bound_later_and_no_more(world):
    """History 10: it declares again what is orphaned, and attaches to what it holds."""
    live(world, namespaced_bucket("kept", "team-a", "kept-files"))
    left = live(world, namespaced_bucket("left", "team-a", NAME))
    leave(world, left)
    world.settles(NAME, "orphaned")
    again = namespaced_bucket("again", "team-b", NAME)
    policy = policy_of("team-b", "kept-files")
    world.refuses(again, NAME)
    world.refuses(policy, "truce share")
    world.configure(parties=ONE_TEAM)
    world.comes_to(True, policy)
    if world.follows:  # Without a cluster nobody saw the end of team-a's.
        world.user("team-b").create(again).expect(201)
    world.configure(parties=[])
    world.comes_to(False, policy)
    world.refuses(namespaced_bucket("more", "team-b", "kept-files"), "kept-files")


def test_a_binding_makes_no_second_manager(begin):
    """History 31: what is left orphaned, bound to the team of a living conflict."""
    world = begin({**CONFIG, "mode": "warn"})
    left = live(world, namespaced_bucket("left", "team-a", NAME))
    live(world, namespaced_bucket("other", "team-b", NAME), "team-b")
    world.configure()
    stranger = bucket("stranger", NAME)
    world.comes_to(False, stranger)
    leave(world, left)
    world.settles(NAME, "orphaned")
    again = namespaced_bucket("again", "team-a", NAME)
    world.configure(parties=ONE_TEAM)
    world.comes_to(False, again, who="team-a")
    world.refuses(again, NAME, who="team-a")
    world.refuses(stranger, NAME)


def test_an_override_of_a_name_means_the_resource(begin):
    """History 14: no object that is called so."""
    until = (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    world = begin({**CONFIG, "overrides": [{"name": "files", "until": until, "reason": "migration"}]})
    for name, external in (("art", NAME), ("theirs", "files")):
        world.user("team-a").create(bucket(name, external)).expect(201)
    world.turn()
    world.refuses(bucket("files", NAME), NAME)
    world.user("team-b").create(bucket("copy", "files")).expect(201)


def test_a_kind_that_may_not_be_listed_is_held_against_nobody(begin, may):
    """History 15: nobody is refused for it, and nothing of it counts for the cap, which ends without
    a cluster."""
    groups = {each.group for each in CUSTOM_KINDS} - {"platform.example.org"}
    may([{"apiGroups": ["", "apiextensions.k8s.io", "apiextensions.crossplane.io", *groups],
          "resources": ["*"], "verbs": LOOK}])
    world = begin({**CONFIG, "reservationCap": 1, "reservationBurst": 1}, user="truce")
    team = world.user("team-a")
    for name in ("one", "two", "three"):
        wait_for(lambda: team.create(claim(name, "team-a", f"{name}-files")).ok, SECONDS, name)
    world.turn()
    team.create(claim("four", "team-a", "four-files")).expect(201)
    world.refuses(claim("copy", "team-b", "one-files"), "one-files")


def record(name: str, record_name: str) -> dict:
    obj = managed("route53.aws.upbound.io/v1beta1", "Record", name)
    obj["spec"]["forProvider"].update({"zoneId": "Z2FDTNDATAQYW2", "type": "A", "name": record_name})
    return obj


def test_a_record_is_known_with_its_zone_and_without(world):
    """History 17."""
    zone = managed("route53.aws.upbound.io/v1beta1", "Zone", "example", "Z2FDTNDATAQYW2")
    zone["spec"]["forProvider"]["name"] = "example.org"
    world.user("admin").create(zone).expect(201)
    world.user("team-a").create(record("www", "www")).expect(201)
    world.turn()
    for number, same in enumerate(("www", "www.example.org", "WWW.example.org.")):
        world.refuses(record(f"copy-{number}", same), "www")
    world.user("team-b").create(record("other", "www.example.com")).expect(201)


def test_a_stale_annotation_does_not_undo_a_forced_transfer(world):
    """History 18."""
    stale = {"truce.dev/transfer-to": "Bucket/team-b/stale"}
    old = live(world, namespaced_bucket("art", "team-a", NAME, annotations=stale))
    done = world.truce.command(
        "transfer", f"s3/Bucket/{NAME}", "--to", "team-b", "--successor", "Bucket/team-b/new",
        "--force", "--reason", "ticket 4711")
    assert done.returncode in (0, 1), done
    world.turn()
    world.user("team-a").patch(old, {"metadata": {"labels": {"tier": "gold"}}}).expect()
    world.user("team-a").patch(old, OBSERVE).expect()
    new = namespaced_bucket("new", "team-b", NAME)
    if world.follows:
        world.comes_to(True, new)
    world.refuses(namespaced_bucket("stale", "team-b", NAME), NAME)
    world.refuses(bucket("copy", NAME), NAME)
    if world.follows:
        world.user("team-b").create(new).expect(201)
    else:  # Nobody saw that the old one only observes.
        world.refuses(new, NAME)


def deep(obj: dict) -> dict:
    nested: dict = {"end": True}
    for _ in range(80):
        nested = {"level": nested}
    obj["spec"]["parameters"]["nested"] = nested
    return obj


def test_a_claim_that_is_nested_deeply_is_judged(world):
    """History 21."""
    world.user("team-a").create(deep(claim("artifacts", "team-a", NAME))).expect(201)
    world.turn()
    world.refuses(deep(claim("artifacts", "team-b", NAME)), NAME, "team-a/artifacts")


# What follows is of lists, which need a cluster.


@pytest.fixture
def unseen(follow, cluster, user, restarts):
    """A history whose beginning nobody reviews: (World, function that begins to look)."""
    truce = follow(CONFIG, failure_policy="")
    world = World(truce, cluster, user, True, restarts)
    assert truce.stop() == 0

    def look() -> None:
        truce.start()
        world.register()
        world.turn()

    return world, look


def test_a_chain_that_is_listed_in_any_order_is_one(unseen):
    """History 26: nobody reviewed it, and whichever kind is listed first."""
    world, look = unseen
    make_chain(None, world.user)
    look()
    owner = world.truce.owner(NAME)
    assert (owner["state"], owner["root"]["kind"]) == ("held", "ObjectStorage"), owner
    assert not owner["contested"], owner
    world.refuses(bucket("copy", NAME), NAME, "team-a/artifacts")


def test_after_a_rebuild_a_strangers_composite_takes_nothing(unseen):
    """History 29: it names what the composite that went with --cascade=orphan had composed."""
    world, look = unseen
    _, xr, made = make_chain(None, world.user)
    admin, crossplane = world.user("admin"), world.user("crossplane")
    admin.request("DELETE", object_path(xr), {"propagationPolicy": "Orphan"}).expect()
    world.user("collector").patch(made, {"metadata": {"ownerReferences": None}}).expect()
    vanish(admin, xr)
    thief = world.user("team-b").create(composite("thief", "else-files")).expect(201).body
    crossplane.patch(thief, {"spec": {"resourceRefs": [object_reference(made)]}}).expect()
    look()
    assert world.truce.owner(NAME)["root"]["kind"] != "XObjectStorage"
    reference = {"metadata": {"ownerReferences": [controller_reference(thief)]}}
    crossplane.patch(made, reference).expect()
    world.user("provider").patch(made, {"spec": {"forProvider": {"tags": {"a": "b"}}}}).expect()
    world.turn()
    assert world.truce.owner(NAME)["root"]["kind"] != "XObjectStorage"
    world.refuses(bucket("copy", NAME), NAME)
