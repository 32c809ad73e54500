"""Histories of ends and accounts, through the real API server: what may live on is nobody else's,
and what is really gone is free. Without a cluster nobody sees an end: there nothing is given away."""

import pytest

from e2e.histories import (
    CONFIG,
    ONE,
    QUEUE,
    SECONDS,
    TWO,
    arn,
    by,
    provider_config,
    show,
    with_role,
    with_secret,
)
from e2e.test_life_cycles import vanish
from e2e.test_lineage import NAME
from support.objects import (
    EXTERNAL_NAME,
    MANAGED_FINALIZER,
    bucket,
    claim,
    composite_definition,
    namespaced_bucket,
    object_path,
    queue,
)
from support.processes import wait_for
from support.provider import DELETING, finish_deletion, make_real, orphan
from support.shifted_clock import ShiftedClock

OF_A_MINUTE = 61


def live(world, obj: dict) -> dict:
    """team-a's queue, made by its provider."""
    stored = world.user("team-a").create(obj).expect(201).body
    make_real(world.user("provider"), stored)
    world.exists("jobs", QUEUE)
    return stored


def delete_in_the_foreground(world, claim_object: dict, xr: dict, made: dict) -> None:
    """As Crossplane does for compositeDeletePolicy Foreground, and the garbage collector after it."""
    world.user("team-a").delete(claim_object).expect()
    world.user("crossplane").request(
        "DELETE", object_path(xr), {"propagationPolicy": "Foreground"}).expect()
    world.user("collector").delete(made).expect()


def test_a_bucket_that_is_kept_stays_whose_it_was(world):
    """History 5: deletionPolicy Orphan; the mapped composite and claim end without a word of it."""
    claim_object, xr, made = world.chain()
    world.user("crossplane").patch(made, {"spec": {"deletionPolicy": "Orphan"}}).expect()
    delete_in_the_foreground(world, claim_object, xr, made)
    world.turn()
    orphan(world.user("provider"), made)
    for obj in (xr, claim_object):
        vanish(world.user("admin"), obj)
    world.settles(NAME, "orphaned")
    world.refuses(bucket("copy", NAME), NAME, "service-a")
    world.user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201)


def test_a_bucket_that_is_really_gone_is_free_when_its_claim_is(world):
    """History 5, the other half."""
    claim_object, xr, made = world.chain()
    delete_in_the_foreground(world, claim_object, xr, made)
    world.turn()
    finish_deletion(world.user("provider"), made)
    # The claim still declares the name.
    world.refuses(bucket("copy", NAME), NAME, "team-a/artifacts")
    for obj in (xr, claim_object):
        vanish(world.user("admin"), obj)
    world.settles(NAME, "free")
    if world.follows:
        world.user("team-b").create(bucket("copy", NAME)).expect(201)
    else:
        world.refuses(bucket("copy", NAME), NAME)


def test_what_was_created_is_real_before_its_status_says_so(world):
    """History 11: its provider was killed after the creation, and people removed the finalizer."""
    stored = world.user("team-a").create(bucket("art", NAME)).expect(201).body
    provider = world.user("provider")
    for metadata in (
        {"annotations": {EXTERNAL_NAME: NAME}},
        {"finalizers": [MANAGED_FINALIZER]},
        {"annotations": {"crossplane.io/external-create-pending": "2026-11-21T12:00:00Z"}},
        {"annotations": {"crossplane.io/external-create-succeeded": "2026-11-21T12:00:01Z"}},
    ):
        provider.patch(stored, {"metadata": metadata}).expect()
    world.settles(NAME, "held")
    world.user("team-a").delete(stored).expect()
    world.turn()
    world.user("team-a").patch(stored, {"metadata": {"finalizers": None}}).expect()
    world.settles(NAME, "orphaned")
    world.refuses(bucket("copy", NAME), NAME)
    world.user("team-a").create(bucket("art", NAME)).expect(201)


@pytest.mark.parametrize("stays", [False, True], ids=["moved", "another-role"])
def test_a_provider_config_that_is_sent_elsewhere_leaves_the_old_queue(world, stays):
    """History 2, the other half: the role of the ProviderConfig. Without a cluster nobody reads it."""
    admin = world.user("admin")
    admin.create(with_role("moving", ONE)).expect(201)
    live(world, by("moving", queue("jobs", "jobs")))
    world.knows("jobs", ONE)
    role = with_role("moving", ONE if stays else TWO)
    role["spec"]["assumeRoleChain"][0]["roleARN"] += "-2"
    admin.patch(role, {"spec": role["spec"]}).expect()
    if not stays:
        world.knows("jobs", TWO)
    world.turn()
    world.knows("jobs", ONE, "held" if stays else "orphaned")
    world.refuses(by("stage" if world.follows else "moving", queue("copy", "jobs")), "jobs")


def test_an_account_that_is_configured_anew_leaves_the_old_queue(world):
    """History 2 by configuration, which is read without a cluster, too."""
    def leads_to(account: str) -> None:
        known = [*CONFIG["providerConfigs"], {"name": "late", "account": account}]
        world.configure(providerConfigs=known)

    leads_to(ONE)
    mine = live(world, by("late", queue("jobs", "jobs")))
    in_one, in_two = by("stage", queue("copy", "jobs")), by("dev", queue("copy", "jobs"))
    world.comes_to(False, in_one)
    assert world.user("team-b").create(in_two, dry_run=True).ok
    leads_to(TWO)
    world.comes_to(False, in_two)
    world.refuses(in_one, "jobs")
    tags = {"spec": {"forProvider": {"tags": {"a": "b"}}}}
    world.user("team-a").patch(mine, tags).expect()
    world.turn()
    for account, state in ((TWO, "held"), (ONE, "orphaned")):
        world.knows("jobs", account, state)
    for copy in (in_one, in_two):
        world.refuses(copy, "jobs")


def test_another_secret_of_a_provider_config_gives_nothing_away(world):
    """History 22: what was left orphaned under it stays whose it was."""
    admin = world.user("admin")
    admin.create(with_secret("keys", "first")).expect(201)
    stored = live(world, by("keys", queue("jobs", "jobs")))
    world.user("team-a").patch(stored, {"spec": {"deletionPolicy": "Orphan"}}).expect()
    world.user("team-a").delete(stored).expect()
    orphan(world.user("provider"), stored)
    world.settles("jobs", "orphaned", QUEUE)
    admin.patch(provider_config("keys"), {"spec": with_secret("keys", "second")["spec"]}).expect()
    world.turn()
    world.refuses(by("keys", queue("copy", "jobs")), "jobs")


def test_the_end_of_another_accounts_queue_leaves_the_first(world):
    """History 23: the status showed one account, then another, and the second queue was deleted."""
    stored = live(world, queue("jobs", "jobs"))
    provider = world.user("provider")
    for account in (ONE, TWO):
        show(provider, stored, **arn(account))
        world.knows("jobs", account)
    world.turn()
    world.user("team-a").delete(stored).expect()
    show(provider, stored, DELETING, **arn(TWO))
    provider.patch(stored, {"metadata": {"finalizers": None}}).expect()
    world.knows("jobs", ONE, "orphaned")
    if world.follows:
        world.refuses(by("stage", queue("copy", "jobs")), "jobs")
        world.comes_to(True, by("dev", queue("copy", "jobs")))
    else:  # Nobody sees a status.
        world.refuses(queue("copy", "jobs"), "jobs")


def test_an_account_that_changes_while_it_is_deleted_frees_nothing(world):
    """History 30: sent elsewhere, the provider finds nothing there and lets go."""
    admin, provider = world.user("admin"), world.user("provider")
    admin.create(with_role("moving", ONE)).expect(201)
    stored = live(world, by("moving", queue("jobs", "jobs")))
    world.knows("jobs", ONE)
    world.user("team-a").delete(stored).expect()
    show(provider, stored, DELETING)
    world.turn()
    admin.patch(provider_config("moving"), {"spec": with_role("moving", TWO)["spec"]}).expect()
    provider.patch(stored, {"metadata": {"finalizers": None}}).expect()
    world.knows("jobs", ONE, "orphaned")
    world.refuses(by("stage" if world.follows else "moving", queue("copy", "jobs")), "jobs")


PORTIONS = 4
NAMES = [f"jobs-{number:02}" for number in range(16 * PORTIONS)]


def test_an_account_that_becomes_known_is_waited_for(world):
    """History 25: the account of a ProviderConfig becomes known, by the object or, without a cluster,
    by configuration; another one leads there already."""
    for name in NAMES:
        world.user("team-a").create(by("late", queue(name, name))).expect(201)
    last = NAMES[-1]
    world.settles(last, "held", QUEUE)
    copy = by("stage", queue("copy", last))
    assert world.user("team-b").create(copy, dry_run=True).ok
    if world.follows:
        world.user("admin").create(with_role("late", ONE)).expect(201)
    else:
        known = [*CONFIG["providerConfigs"], {"name": "late", "account": ONE}]
        world.configure(providerConfigs=known)
    world.comes_to(False, copy)
    world.turn()
    for name in reversed(NAMES):  # Those are last that the first portions reach last.
        world.refuses(by("stage", queue("copy", name)), name)
    for name in (NAMES[0], last):
        world.knows(name, ONE)


@pytest.fixture
def clock(tmp_path):
    return ShiftedClock(tmp_path)


@pytest.mark.rotating(4)
def test_what_no_mapping_rule_reads_any_more_is_not_held_for_ever(begin, clock):
    """History 20: the rule is gone, then the object. Without a cluster a command ends it."""
    world = begin({**CONFIG, "settleTime": "1m"}, env=clock.env)
    admin = world.user("admin")
    definition = composite_definition()
    admin.delete(definition).expect()  # Else its claims are read anyway.
    try:
        stored = world.user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201).body
        world.settles(NAME, "held")
        world.configure(mappings=[], settleTime="1m")
        if world.follows:
            wait_for(lambda: "ObjectStorage" in world.truce.command("coverage", "--all").stdout,
                     SECONDS, "the kind unwatched")
        vanish(admin, stored)
        again = namespaced_bucket("artifacts", "team-a", NAME)
        world.refuses(again, NAME, who="team-a")
        if world.follows:
            clock.advance(OF_A_MINUTE)
        else:
            done = world.truce.command("release", "s3/Bucket", NAME, "--reason", "nobody's")
            assert done.returncode == 0, done
        world.settles(NAME, "orphaned")
        if world.follows:
            world.refuses(namespaced_bucket("copy", "team-b", NAME), NAME)
        world.user("team-a").create(again).expect(201)
    finally:
        admin.create(definition).expect(201)
