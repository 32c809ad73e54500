"""Admitted by Truce, refused by somebody else: nothing was stored, and proof says so."""

import pytest

from support.objects import bucket
from support.processes import wait_for
from support.shifted_clock import ShiftedClock
from support.verdicts import assert_refused
from support.webhook_registration import marker_entry

NAME = "prod-artifacts"
REFUSED_LABEL = {"refused-by": "other-policy"}

REFUSER = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "other-policy"},
    "webhooks": [
        {
            # Asked at the same time as Truce, and nobody answers it. (A ValidatingAdmissionPolicy
            # would come first, and Truce would never hear of the object.)
            **marker_entry("other-policy.example.org"),
            "namespaceSelector": {},
            "objectSelector": {"matchLabels": REFUSED_LABEL},
            "rules": [
                {
                    "apiGroups": ["s3.aws.upbound.io"],
                    "apiVersions": ["*"],
                    "operations": ["CREATE"],
                    "resources": ["buckets"],
                }
            ],
        }
    ],
}


@pytest.fixture
def clock(tmp_path):
    return ShiftedClock(tmp_path)


@pytest.fixture
def reserved(follow, clock, user, cluster):
    """Truce, which reserved NAME for an object that another webhook then refused."""
    truce = follow({"reservationTTL": "120s"}, env=clock.env)
    # A live object of the kind: Truce watches it.
    user("team-a").create(bucket("other", "other-bucket")).expect(201)
    user("admin").create(REFUSER).expect(201)
    try:
        obj = bucket("artifacts", NAME, labels=REFUSED_LABEL)
        for server in range(cluster.api_servers):
            client = user("team-a", server)
            wait_for(lambda: not client.create(obj, dry_run=True).ok, 20, "refused by the other")
        reply = user("team-a").create(obj)
        assert not reply.ok and "other-policy" in reply.message, reply.body
        assert truce.state(NAME) == "reserved"
        yield truce
    finally:
        user("admin").delete(REFUSER)


def test_a_reservation_that_never_came_true_ends_after_its_time(reserved, clock):
    clock.advance(121)
    reserved.wait_for_state(NAME, "free", 15)


def test_whoever_wants_the_name_gets_it_soon(reserved, clock, user):
    """A denial against a reservation of more than a minute asks for its proof at once."""
    other = bucket("copy", NAME)
    assert_refused(user("team-b").create(other), NAME, "artifacts")
    assert reserved.state(NAME) == "reserved"
    clock.advance(61)
    assert_refused(user("team-b").create(other), NAME, "artifacts")
    reserved.wait_for_state(NAME, "free", 4)
    user("team-b").create(other).expect(201)
    reserved.wait_for_state(NAME, "held")
