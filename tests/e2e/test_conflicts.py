"""Two objects that name one bucket already: neither is trapped, and it gets no worse."""

import pytest

from support.objects import EXTERNAL_NAME, MANAGED_FINALIZER, bucket
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused

OWNER = bucket("owner", "shared-logs", finalizers=[MANAGED_FINALIZER])
DOUBLE = bucket("double", "shared-logs", finalizers=[MANAGED_FINALIZER])

both = pytest.mark.parametrize(
    "obj, actor", [(OWNER, "team-a"), (DOUBLE, "team-b")], ids=["owner", "double"]
)


@pytest.fixture(params=["webhook removed", "Truce down under Ignore", "mode audit", "mode warn"])
def double(request, start_truce, cluster, user):
    """OWNER owns the bucket, DOUBLE was stored beside it, and Truce enforces (again)."""
    way = request.param
    mode = way.removeprefix("mode ") if way.startswith("mode ") else "enforce"
    truce = start_truce({"mappings": OBJECT_STORAGE_MAPPINGS, "mode": mode, "drainGrace": "0s"})
    user("team-a").create(OWNER).expect(201)
    if way == "webhook removed":
        cluster.unregister_webhook()
    if way == "Truce down under Ignore":
        cluster.register_webhook(truce.admission_url, truce.ca_file, failure_policy="Ignore")
        truce.kill()
    reply = user("team-b").create(DOUBLE).expect(201)
    warned = any("shared-logs" in warning for warning in reply.warnings)
    assert warned == (way == "mode warn"), reply.warnings
    if truce.running:
        truce.stop()
    truce.write_config(None)
    truce.start()
    cluster.register_webhook(truce.admission_url, truce.ca_file)
    return truce


@both
def test_both_can_be_changed_elsewhere(double, user, obj, actor):
    client = user(actor)
    client.patch(obj, {"metadata": {"labels": {"tier": "gold"}}}).expect()
    client.patch(obj, {"metadata": {"annotations": {"note": "changed"}}}).expect()
    client.patch(obj, {"spec": {"forProvider": {"tags": {"team": actor}}}}).expect()
    client.patch(obj, {"spec": {"deletionPolicy": "Orphan"}}).expect()
    client.apply({**obj, "spec": {**obj["spec"], "writeConnectionSecretToRef": None}}).expect()


@both
def test_both_can_be_deleted_to_the_end(double, user, obj, actor):
    user(actor).delete(obj).expect()
    user("provider").patch(obj, {"metadata": {"annotations": {"note": "ending"}}}).expect()
    user("provider").patch(obj, {"metadata": {"finalizers": None}}).expect()
    assert user(actor).get(obj).status == 404


def test_a_name_added_later_is_judged(double, user):
    user("team-a").create(bucket("other", "other-bucket")).expect(201)
    client = user("team-b")
    taken = {"metadata": {"annotations": {EXTERNAL_NAME: "other-bucket"}}}
    free = {"metadata": {"annotations": {EXTERNAL_NAME: "quite-free"}}}
    assert_refused(client.patch(DOUBLE, taken), "other-bucket", "other")
    client.patch(DOUBLE, free).expect()
    assert_refused(user("team-a").create(bucket("third", "quite-free")), "quite-free", "double")


def test_a_third_one_is_refused(double, user):
    assert_refused(user("team-b").create(bucket("third", "shared-logs")), "shared-logs", "owner")
