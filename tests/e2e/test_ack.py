"""One bucket has one owner, whether Crossplane or ACK declares it."""

import json

import pytest

from support.objects import ack, bucket, queue
from support.processes import wait_for
from support.provider import make_real
from support.truce_process import FOLLOW_SECONDS
from support.verdicts import assert_refused
from support.webhook_registration import STATUS

NAME = "prod-artifacts"
FINALIZER = "finalizers.s3.services.k8s.aws/Bucket"
ADOPTS = {"adoption_policy": "adopt", "adoption_fields": json.dumps({"name": NAME})}
ACCOUNT = "111122223333"
TEAM = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}


def ack_bucket(name: str, namespace: str, bucket_name: str = NAME, **annotations: str) -> dict:
    return ack("s3", "Bucket", name, namespace, {"name": bucket_name}, **annotations)


def manage(controller, obj: dict) -> None:
    """What the controller writes of a bucket that it made."""
    controller.patch(obj, {"metadata": {"finalizers": [FINALIZER]}}).expect()
    show(controller, obj)


def show(controller, obj: dict) -> None:
    """The status that it writes, of a bucket that it refuses too."""
    metadata = {"arn": f"arn:aws:s3:::{NAME}", "ownerAccountID": ACCOUNT, "region": "eu-west-1"}
    controller.patch_status(obj, {"ackResourceMetadata": metadata}).expect()


@pytest.fixture
def truce(follow):
    return follow()


@pytest.fixture
def say(user):
    """A function that writes annotations of services.k8s.aws (_ for -) on namespace team-a; None takes one off."""
    said = set()

    def annotate(service: str = "", **annotations: str | None) -> None:
        prefix = f"{service}.services.k8s.aws" if service else "services.k8s.aws"
        keys = {f"{prefix}/{key.replace('_', '-')}": text for key, text in annotations.items()}
        said.update(keys)
        user().patch(TEAM, {"metadata": {"annotations": keys}}).expect()

    yield annotate
    user().patch(TEAM, {"metadata": {"annotations": dict.fromkeys(said)}}).expect()


def test_a_bucket_of_crossplane_is_not_taken_by_ack(truce, user):
    user("team-a").create(bucket("artifacts", NAME)).expect(201)
    team = user("team-b")
    answer = team.create(ack_bucket("copy", "team-b"))
    assert_refused(answer, NAME, "artifacts")
    assert 'annotation services.k8s.aws/read-only: "true"' in answer.message
    assert_refused(team.create(ack("s3", "Bucket", "copy", "team-b", **ADOPTS)), NAME, "artifacts")
    other = ack_bucket("copy", "team-b", "other-artifacts")
    team.create(other).expect(201)
    assert_refused(team.patch(other, {"spec": {"name": NAME}}), NAME, "artifacts")
    annotated = {"metadata": {"annotations": {f"services.k8s.aws/{key.replace('_', '-')}": text
                                              for key, text in ADOPTS.items()}}}
    assert_refused(team.patch(other, annotated), NAME, "artifacts")


def test_a_bucket_of_ack_is_not_taken_by_crossplane(truce, user):
    user("team-a").create(ack_bucket("artifacts", "team-a")).expect(201)
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME, "artifacts")
    assert truce.wait_for_state(NAME, "held")["root"]["group"] == "s3.services.k8s.aws"


def test_an_adopted_bucket_of_ack_has_one_owner(truce, user):
    user("team-a").create(ack("s3", "Bucket", "artifacts", "team-a", **ADOPTS)).expect(201)
    truce.wait_for_state(NAME, "held")
    assert_refused(user("team-b").create(ack("s3", "Bucket", "copy", "team-b", **ADOPTS)), NAME, "artifacts")


def test_a_reader_owns_nothing(truce, user):
    user("team-a").create(ack_bucket("reader", "team-a", read_only="true")).expect(201)
    user("team-b").create(bucket("artifacts", NAME)).expect(201)
    assert truce.wait_for_state(NAME, "held")["root"]["name"] == "artifacts"


def test_what_is_adopted_or_created_is_both(truce, user):
    """The controller makes the resource of the spec where the one to be adopted is not there."""
    fields = {**ADOPTS, "adoption_policy": "adopt-or-create"}
    user("team-a").create(ack_bucket("artifacts", "team-a", "made-artifacts", **fields)).expect(201)
    for name in (NAME, "made-artifacts"):
        assert_refused(user("team-b").create(bucket("copy", name)), name, "artifacts")
    assert truce.wait_for_state("made-artifacts", "held")


@pytest.mark.parametrize("policy, state", [("delete", "free"), ("retain", "orphaned")])
def test_a_namespace_tells_whether_its_buckets_are_deleted(truce, user, say, policy, state):
    say("s3", deletion_policy=policy)
    say(default_region="us-west-2")
    user("team-a").create(ack("sqs", "Queue", "probe", "team-a", {"queueName": "probe"})).expect(201)
    wait_for(lambda: truce.state("probe", "sqs/Queue") == "held", FOLLOW_SECONDS, "Truce knows what the namespace says")
    obj = ack_bucket("artifacts", "team-a")
    user("team-a").create(obj).expect(201)
    manage(user("ack"), obj)
    truce.wait_for_state(NAME, "held")
    user("team-a").delete(obj).expect(200)
    user("ack").patch(obj, {"metadata": {"finalizers": None}}).expect()
    truce.wait_for_state(NAME, state)


def test_a_namespace_tells_the_region_and_the_account(follow, user, say):
    truce = follow({"providerConfigs": [{"name": "prod", "account": ACCOUNT}]})
    obj = ack("sqs", "Queue", "jobs", "team-a", {"queueName": "jobs"})
    user("team-a").create(obj).expect(201)
    assert truce.state("jobs", "sqs/Queue") == "free"
    say(default_region="us-west-2", owner_account_id=ACCOUNT)
    wait_for(lambda: truce.state("jobs", "sqs/Queue") == "held", FOLLOW_SECONDS, "held")
    assert_refused(user("team-b").create(queue("copy", "jobs")), "jobs")
    other = ack("sqs", "Queue", "more", "team-a", {"queueName": "more"})
    user("team-a").create(other).expect(201)
    assert_refused(user("team-b").create(queue("copy", "more")), "more")


@pytest.mark.parametrize(
    "policy, lets_go, state",
    [("delete", "ack", "free"), ("delete", "team-a", "orphaned"), ("retain", "ack", "orphaned"), ("", "ack", "orphaned")],
    ids=["deleted", "stripped by somebody else", "retained", "perhaps retained by its namespace"],
)
def test_a_bucket_is_free_once_its_controller_deleted_it(truce, user, policy, lets_go, state):
    policies = {"deletion_policy": policy} if policy else {}
    obj = ack_bucket("artifacts", "team-a", **policies)
    user("team-a").create(obj).expect(201)
    manage(user("ack"), obj)
    truce.wait_for_state(NAME, "held")
    user("team-a").delete(obj).expect(200)
    assert_refused(user("team-b").create(bucket("copy", NAME)), NAME)
    user(lets_go).patch(obj, {"metadata": {"finalizers": None}}).expect()
    truce.wait_for_state(NAME, state)


def test_a_bucket_that_was_never_made_is_free(truce, user):
    """Without the finalizer the controller made nothing, whatever the status shows."""
    obj = ack_bucket("artifacts", "team-a")
    user("team-a").create(obj).expect(201)
    show(user("ack"), obj)
    truce.wait_for_state(NAME, "held")
    user("team-a").delete(obj).expect(200)
    truce.wait_for_state(NAME, "free")


def test_a_dormant_duplicate_says_nothing_of_the_bucket(follow, user):
    """What ACK refused stays a conflict; its end touches nothing."""
    truce = follow({"mode": "warn"})
    owner = bucket("artifacts", NAME)
    user("team-a").create(owner).expect(201)
    make_real(user("provider"), owner)
    truce.wait_for_state(NAME, "held")
    copy = ack_bucket("copy", "team-b", deletion_policy="delete")
    user("team-b").create(copy).expect(201)
    show(user("ack"), copy)
    wait_for(lambda: "copy" in truce.command("conflicts").stdout, FOLLOW_SECONDS, "the conflict")
    terminal = {"type": "ACK.Terminal", "status": "True", "message": "Resource already exists"}
    user("ack").patch_status(copy, {"conditions": [terminal]}).expect()
    dormant = "Bucket.s3.services.k8s.aws team-b/copy manages nothing for now (condition ACK.Terminal)"
    wait_for(lambda: dormant in truce.command("findings", "--output", "json").stdout, 30, "the finding")
    user("team-b").delete(copy).expect(200)
    wait_for(lambda: "copy" not in truce.command("conflicts").stdout, FOLLOW_SECONDS, "no conflict")
    assert truce.owner(NAME)["root"]["name"] == "artifacts"
    assert truce.state(NAME) == "held"


@pytest.mark.parametrize("guards", [False, True], ids=["", "statuses reviewed"])
def test_a_queue_is_known_once_its_region_is(follow, cluster, user, guards):
    """Without annotations region and account are the controller's: status tells them, which refuses
    others only where nobody else may write it."""
    config = {"providerConfigs": [{"name": "prod", "account": ACCOUNT}], "statusGuard": guards}
    truce = follow(config, failure_policy="" if guards else "Fail")
    if guards:
        cluster.register_webhook(truce.admission_url, truce.ca_file, statuses=True)
    obj = ack("sqs", "Queue", "jobs", "team-a", {"queueName": "jobs"})
    user("team-a").create(obj).expect(201)
    assert truce.state("jobs", "sqs/Queue") == "free"
    metadata = {"arn": f"arn:aws:sqs:us-west-2:{ACCOUNT}:jobs", "ownerAccountID": ACCOUNT, "region": "us-west-2"}
    status = {"ackResourceMetadata": metadata}
    if guards:
        assert_refused(user("team-a").patch_status(obj, status), "Queue team-a/jobs", webhook=STATUS)
    user("ack").patch(obj, {"metadata": {"finalizers": ["finalizers.sqs.services.k8s.aws/Queue"]}}).expect()
    user("ack").patch_status(obj, status).expect()
    wait_for(lambda: truce.state("jobs", "sqs/Queue") == "held", FOLLOW_SECONDS, "held")
    answer = user("team-b").create(queue("copy", "jobs"))
    if guards:
        assert_refused(answer, "jobs")
    else:
        assert answer.status == 201 and "jobs" in str(answer.warnings)
