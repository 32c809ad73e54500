"""What people do with kubectl, and what it shows them."""

import os
import re
from pathlib import Path

import pytest

from support.objects import bucket, managed, namespaced_bucket
from support.webhook_registration import DECLARATIONS

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "kubectl-denied.txt"


@pytest.fixture
def owner(truce, cluster):
    """team-a owns the bucket prod-artifacts."""
    obj = bucket("artifacts", "prod-artifacts", labels={"app.kubernetes.io/part-of": "service-a"})
    done = cluster.kubectl("create", "-f", "-", user="team-a", stdin=obj)
    assert done.returncode == 0, done.stderr
    return obj


DUPLICATE = bucket("copy", "prod-artifacts", labels={"app.kubernetes.io/part-of": "service-b"})


def refused(done) -> bool:
    return (
        done.returncode != 0
        and f'admission webhook "{DECLARATIONS}" denied the request: ' in done.stderr
        and "prod-artifacts" in done.stderr
        and "(Forbidden)" in done.stderr
    )


@pytest.mark.parametrize(
    "command",
    [
        ("create", "-f", "-"),
        ("create", "-f", "-", "--dry-run=server"),
        ("apply", "-f", "-"),
        ("apply", "-f", "-", "--dry-run=server"),
        ("apply", "-f", "-", "--server-side"),
        ("apply", "-f", "-", "--server-side", "--dry-run=server"),
        ("apply", "-f", "-", "--server-side", "--force-conflicts"),
        ("replace", "-f", "-", "--force"),
    ],
    ids=" ".join,
)
def test_a_taken_name_is_refused(owner, cluster, command):
    done = cluster.kubectl(*command, user="team-b", stdin=DUPLICATE)
    assert refused(done), f"{done.returncode}: {done.stdout}{done.stderr}"
    assert cluster.kubectl("get", "-f", "-", stdin=DUPLICATE).returncode != 0, "it was stored"


@pytest.mark.parametrize(
    "command",
    [
        ("apply", "-f", "-"),
        ("apply", "-f", "-", "--server-side"),
        ("apply", "-f", "-", "--server-side", "--dry-run=server"),
        ("diff", "-f", "-"),
        ("replace", "-f", "-"),
        ("replace", "-f", "-", "--force"),
        ("annotate", "-f", "-", "note=mine"),
    ],
    ids=" ".join,
)
def test_the_owner_may_go_on(truce, cluster, command):
    own = bucket("artifacts", "prod-artifacts")
    assert cluster.kubectl("apply", "-f", "-", user="team-a", stdin=own).returncode == 0
    done = cluster.kubectl(*command, user="team-a", stdin=own)
    assert done.returncode == 0, done.stderr


def test_a_replaced_owner_still_owns(owner, cluster):
    done = cluster.kubectl("replace", "--force", "-f", "-", user="team-a", stdin=owner)
    assert done.returncode == 0, done.stderr
    assert refused(cluster.kubectl("create", "-f", "-", user="team-b", stdin=DUPLICATE))


def test_a_generated_name_is_its_own_bucket(truce, cluster):
    adhoc = managed("s3.aws.upbound.io/v1beta1", "Bucket", "", generateName="adhoc-")
    names = set()
    for _ in range(3):
        done = cluster.kubectl("create", "-f", "-", "-o", "name", user="team-a", stdin=adhoc)
        assert done.returncode == 0, done.stderr
        names.add(done.stdout.strip().rpartition("/")[2])
    assert len(names) == 3
    for name in names:
        done = cluster.kubectl("create", "-f", "-", user="team-b", stdin=bucket("mine", name))
        assert done.returncode != 0 and name in done.stderr, done.stderr


def test_a_generated_object_of_a_taken_bucket_is_refused(owner, cluster):
    adhoc = bucket("", "prod-artifacts", generateName="adhoc-")
    assert refused(cluster.kubectl("create", "-f", "-", user="team-b", stdin=adhoc))


@pytest.mark.parametrize(
    "patch",
    [
        ("annotate", "--overwrite", "crossplane.io/external-name=prod-artifacts"),
        (
            "patch", "--type=merge",
            '--patch={"metadata":{"annotations":{"crossplane.io/external-name":"prod-artifacts"}}}',
        ),
        (
            "patch", "--type=json",
            '--patch=[{"op":"replace","path":"/metadata/annotations/crossplane.io~1external-name",'
            '"value":"prod-artifacts"}]',
        ),
    ],
    ids=["annotate", "merge-patch", "json-patch"],
)
def test_an_update_to_a_taken_name_is_refused(owner, cluster, patch):
    mine = bucket("mine", "my-own-bucket")
    assert cluster.kubectl("create", "-f", "-", user="team-b", stdin=mine).returncode == 0
    verb, *flags = patch
    target = ["buckets.s3.aws.upbound.io", "mine"]
    done = cluster.kubectl(verb, *target, *flags, user="team-b")
    assert refused(done), done.stderr
    shown = cluster.kubectl("get", *target, "-o", "json", user="team-b").stdout
    assert '"my-own-bucket"' in shown


def test_a_dry_run_reserves_nothing(truce, cluster):
    first, second = bucket("first", "free-name"), bucket("second", "free-name")
    for command in (("create",), ("apply",), ("apply", "--server-side")):
        done = cluster.kubectl(*command, "--dry-run=server", "-f", "-", user="team-a", stdin=first)
        assert done.returncode == 0, done.stderr
    done = cluster.kubectl("create", "-f", "-", user="team-b", stdin=second)
    assert done.returncode == 0, done.stderr


def test_a_dry_run_says_the_same(owner, cluster):
    real = cluster.kubectl("create", "-f", "-", user="team-b", stdin=DUPLICATE)
    dry = cluster.kubectl("create", "-f", "-", "--dry-run=server", user="team-b", stdin=DUPLICATE)
    assert dry.stderr == real.stderr


def test_one_duplicate_of_a_list_stops_nothing_else(owner, cluster):
    others = [bucket("b-one", "name-one"), namespaced_bucket("b-two", "team-b", "name-two")]
    objects = [others[0], DUPLICATE, others[1]]
    done = cluster.kubectl("apply", "-f", "-", user="team-b", stdin=objects)
    assert refused(done)
    assert "b-one created" in done.stdout and "b-two created" in done.stdout


def test_the_text_that_kubectl_shows(owner, cluster):
    """Golden: the whole of it, for the commonest refusal. UPDATE_GOLDEN=1 writes it anew."""
    done = cluster.kubectl("create", "-f", "-", user="team-b", stdin=DUPLICATE)
    shown = normalised(done.stderr)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(shown)
    assert GOLDEN.read_text() == shown


def normalised(text: str) -> str:
    """The text without what differs from run to run."""
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC))?", "<time>", text)
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>", text)
    return re.sub(r"/r/[a-z2-7]{13}\b", "/r/<id>", text)
