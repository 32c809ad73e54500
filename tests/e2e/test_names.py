"""One queue, several names: what its status and its ProviderConfig tell gives nothing away."""

import re
import shlex

import pytest

from support.objects import EXTERNAL_NAME, REGION, managed, queue
from support.processes import wait_for
from support.provider import READY, SYNCED, finish_deletion, make_real, orphan
from support.verdicts import assert_refused

ONE, TWO = "111111111111", "222222222222"
TYPE = "sqs/Queue"
SECONDS = 20


def names_of(truce, account: str) -> list[tuple[str, bool]]:
    """The names of queue "jobs" that is shown in `account`: (name, known from a status only)."""
    (found,) = truce.look_up(type=TYPE, name="jobs", account=account)
    _, whole = truce.operator_get(f"/api/v1/resources/{found['id']}")
    return [(each["name"], each["observed"]) for each in whole["names"]]


def show(provider, obj: dict, account: str) -> None:
    arn = f"arn:aws:sqs:{REGION}:{account}:jobs"
    provider.patch_status(
        obj, {"conditions": [SYNCED, READY], "atProvider": {"arn": arn}}).expect()


def shown_in(truce, account: str) -> bool:
    return any(each["certain"] for each in truce.look_up(type=TYPE, name="jobs", account=account))


@pytest.fixture
def live(follow, user):
    """Truce, and team-a's queue, whose status names account ONE."""
    truce = follow()
    obj = queue("jobs", "jobs")
    user("team-a").create(obj).expect(201)
    make_real(user("provider"), obj)
    show(user("provider"), obj, ONE)
    wait_for(lambda: shown_in(truce, ONE), SECONDS, "the account of the status")
    return truce, obj


def test_a_status_takes_no_protection_away(live, user, cluster):
    truce, obj = live
    names = names_of(truce, ONE)
    assert sorted(observed for _, observed in names) == [False, True], names
    assert f"|{ONE}|" in names[0][0] and "?" in names[1][0]
    assert_refused(user("team-b").create(queue("copy", "jobs")), "jobs", "Queue")
    told = truce.command("describe", f"{TYPE}/jobs")
    assert "Names" in told.stdout and f"|{ONE}|" in told.stdout, told
    assert truce.stop() == 0
    truce.start()
    cluster.register_webhook(truce.admission_url, truce.ca_file)
    assert names_of(truce, ONE) == names
    assert_refused(user("team-b").create(queue("copy", "jobs")), "jobs", "Queue")
    # Deleted, and its queue with it: the name is free under all its names.
    user("team-a").delete(obj)
    finish_deletion(user("provider"), obj)
    wait_for(lambda: truce.state("jobs", TYPE) == "free", SECONDS, "free")
    user("team-b").create(queue("copy", "jobs")).expect(201)


def test_a_provider_config_that_moves_leaves_the_old_queue_with_its_owner(live, user):
    truce, obj = live
    user("team-a").patch(obj, {"spec": {"providerConfigRef": {"name": "stage"}}}).expect()
    show(user("provider"), obj, TWO)
    wait_for(lambda: shown_in(truce, TWO), SECONDS, "the queue of the other account")
    assert shown_in(truce, ONE), "the old one stays"
    # The old one is still protected under the ProviderConfig by which it was declared.
    assert_refused(user("team-b").create(queue("copy", "jobs")), "jobs", "Nobody declares")


# What AWS calls team-a's queue, whoever declares it.
URL = f"https://sqs.{REGION}.amazonaws.com/{ONE}/jobs"


def by_url(name: str, queue_name: str, url: str, config: str = "stage") -> dict:
    obj = managed("sqs.aws.upbound.io/v1beta1", "Queue", name, url)
    obj["spec"]["forProvider"]["name"] = queue_name
    obj["spec"]["providerConfigRef"] = {"name": config}
    return obj


@pytest.fixture
def named(follow, user):
    """Truce, and team-a's queue, to which its provider gave the URL as external name."""
    truce = follow()
    obj = queue("jobs", "jobs")
    user("team-a").create(obj).expect(201)
    make_real(user("provider"), obj)
    user("provider").patch(obj, {"metadata": {"annotations": {EXTERNAL_NAME: URL}}}).expect()
    wait_for(lambda: shown_in(truce, ONE), SECONDS, "the account of the URL")
    return truce, obj


def test_anothers_queue_by_its_url_is_refused(named, user):
    truce, obj = named
    assert [observed for _, observed in names_of(truce, ONE)] == [False, False]
    for queue_name in ("jobs", "mine"):
        assert_refused(user("team-b").create(by_url("copy", queue_name, URL)), "jobs", "Queue")
    # Its own queue may not be turned into that one, but by a provider, which only tells what is.
    own = by_url("own", "own", "")
    user("team-b").create(own).expect(201)
    stolen = {"metadata": {"annotations": {EXTERNAL_NAME: URL}}}
    assert_refused(user("team-b").patch(own, stolen), "jobs", "Queue")
    user("provider").patch(own, stolen).expect()
    # Orphaned it is team-a's still.
    user("team-a").patch(obj, {"spec": {"deletionPolicy": "Orphan"}}).expect()
    user("team-a").delete(obj)
    finish_deletion(user("provider"), obj)
    wait_for(lambda: truce.state("jobs", TYPE) == "orphaned", SECONDS, "orphaned")
    assert_refused(user("team-b").create(by_url("copy", "mine", URL)), "jobs", "Nobody declares")


def test_a_printed_release_frees_the_queue_of_one_account_alone(follow, user):
    """Two queues of one name are orphaned; the denial about one of them prints how it is freed."""
    accounts = [{"name": "one", "account": ONE}, {"name": "two", "account": TWO}]
    truce = follow({"providerConfigs": accounts})
    teams = user("team-a"), user("team-b")
    of = {}
    for config in ("one", "two"):
        of[config] = by_url(f"jobs-{config}", "jobs", "", config)
        of[config]["spec"]["deletionPolicy"] = "Orphan"
        teams[0].create(of[config]).expect(201)
        make_real(user("provider"), of[config])
    wait_for(lambda: shown_in(truce, ONE) and shown_in(truce, TWO), SECONDS, "both queues")
    for config in ("one", "two"):
        teams[0].delete(of[config]).expect()
        orphan(user("provider"), of[config])

    def states() -> list[str]:
        return [each["state"] for each in truce.look_up(type=TYPE, name="jobs")]

    wait_for(lambda: states() == ["orphaned", "orphaned"], SECONDS, "orphaned")
    asked = truce.command("release", TYPE, "jobs", "--reason", "which?")
    ids = [each["id"] for each in truce.look_up(type=TYPE, name="jobs")]
    assert asked.returncode == 1 and all(ident in asked.stderr for ident in ids), asked
    taken = by_url("taken", "jobs", "", "two")
    text = assert_refused(teams[1].create(taken), "jobs", "Nobody declares", TWO)
    [printed] = re.findall(r"`truce ([^`]+)`", text)
    released = truce.command(*shlex.split(printed))
    assert released.returncode == 0, (printed, released.stderr)
    assert_refused(teams[1].create(by_url("other", "jobs", "", "one")), "jobs", "Nobody declares")
    teams[1].create(taken).expect(201)


def test_what_is_no_url_of_a_queue_names_nothing(named, user):
    for number, bad in enumerate((URL.replace(REGION, "sa-east-1"), URL + "/junk", "arn:aws:s3:::jobs")):
        answer = user("team-b").create(by_url(f"mine-{number}", f"mine-{number}", bad)).expect(201)
        assert "external name" in str(answer.warnings), answer.warnings
