"""Only a provider, or who restores backups, says which cloud resource a status shows."""

import json

import pytest

from support.kube_client import MERGE_PATCH
from support.objects import REGION, object_path, queue
from support.processes import wait_for
from support.provider import READY, SYNCED, make_real
from support.verdicts import assert_refused
from support.webhook_registration import STATUS

ONE, TWO = "111111111111", "222222222222"
TYPE = "sqs/Queue"
SECONDS = 20
# The ProviderConfig "default" is not configured: what it declares is located by statuses alone.
ACCOUNTS = {"providerConfigs": [{"name": "stage", "account": ONE}]}


def arn(account: str) -> dict:
    return {"atProvider": {"arn": f"arn:aws:sqs:{REGION}:{account}:jobs"}}


def url(field: str, account: str) -> dict:
    """What the provider shows of a queue beside its ARN, in its id too."""
    return {"atProvider": {field: f"https://sqs.{REGION}.amazonaws.com/{account}/jobs"}}


def queue_of(name: str, provider_config: str) -> dict:
    obj = queue(name, "jobs")
    obj["spec"]["providerConfigRef"] = {"name": provider_config}
    return obj


def shown_in(truce, account: str) -> bool:
    return any(each["certain"] for each in truce.look_up(type=TYPE, name="jobs", account=account))


def status_faults(truce) -> list[str]:
    """What `truce doctor` says of the entry for statuses."""
    told = truce.command("doctor", "--output", "json")
    items = json.loads(told.stdout)["items"]
    return [each["what"] for each in items
            if each["name"] == "webhook-configuration" and "status of" in each["what"]]


@pytest.fixture
def guarded(follow, cluster):
    """Truce behind a webhook with the entry for statuses."""
    truce = follow({**ACCOUNTS, "statusGuard": True}, failure_policy="")
    cluster.register_webhook(truce.admission_url, truce.ca_file, statuses=True)
    return truce


def test_a_tenant_writes_no_name_into_a_status(guarded, user):
    obj = queue_of("mine", "default")
    user("team-b").create(obj).expect(201)
    make_real(user("provider"), obj)
    team = user("team-b")
    # The status that its own provider would show, a foreign one, none at all.
    for account in (ONE, TWO):
        text = assert_refused(
            team.patch_status(obj, arn(account)), "status.atProvider.arn", "Queue mine",
            "bob@example.org", "providers or restorers", webhook=STATUS)
        assert ONE not in text and TWO not in text
    for field in ("id", "url"):
        assert_refused(team.patch_status(obj, url(field, TWO)), f"status.atProvider.{field}",
                       "Queue mine", webhook=STATUS)
    user("provider").patch_status(obj, arn(ONE)).expect()
    wait_for(lambda: shown_in(guarded, ONE), SECONDS, "the account of the status")
    assert_refused(team.patch_status(obj, {"atProvider": None}), "Queue mine", webhook=STATUS)
    assert_refused(team.patch_status(obj, arn(TWO)), "Queue mine", webhook=STATUS)
    path = object_path(obj, "status") + "?dryRun=All"
    dry = team.request("PATCH", path, {"status": arn(TWO)}, MERGE_PATCH)
    assert_refused(dry, "Queue mine", webhook=STATUS)
    assert not shown_in(guarded, TWO)
    # What is no name is theirs to write; so is the status for who restores it.
    team.patch_status(obj, {"conditions": [SYNCED], "atProvider": {"visibility": "x"}}).expect()
    user("velero").patch_status(obj, arn(TWO)).expect()
    user("provider").patch_status(obj, {"conditions": [SYNCED, READY], **arn(ONE)}).expect()


def test_a_guarded_status_denies_an_unguarded_one_warns(guarded, user, cluster, follow):
    obj = queue_of("live", "default")
    user("team-a").create(obj).expect(201)
    make_real(user("provider"), obj)
    user("provider").patch_status(obj, arn(ONE)).expect()
    wait_for(lambda: shown_in(guarded, ONE), SECONDS, "the account of the status")
    copy = queue_of("copy", "stage")
    assert_refused(user("team-b").create(copy), "jobs", "Queue live")
    assert status_faults(guarded) == []

    assert guarded.stop() == 0
    open_ = follow(ACCOUNTS)
    wait_for(lambda: shown_in(open_, ONE), SECONDS, "the account of the status")
    # Nobody asks about statuses now: the tenant's own says what it likes.
    forged = queue_of("forged", "other")
    user("team-b").create(forged).expect(201)
    user("team-b").patch_status(forged, arn(ONE)).expect()
    created = user("team-b").create(copy).expect(201)
    assert any("jobs" in warning for warning in created.warnings), created.warnings
    gaps = open_.command("coverage").stdout
    assert "status-unguarded" in gaps, gaps


def test_a_guard_that_is_not_installed_is_told(follow):
    truce = follow({**ACCOUNTS, "statusGuard": True})
    faults = wait_for(lambda: status_faults(truce), SECONDS, "a fault of the configuration")
    assert "whoever may write a status can take names" in faults[0], faults
