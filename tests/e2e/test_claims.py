"""Claims and composites, one to one: whoever binds somebody else's composite is told, with the ways to
share instead; those ways are applied as charts/truce/examples/sharing shows them."""

import base64
import json
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from support.cluster import PEERS
from support.objects import REGION, bucket, claim, composite, namespaced_bucket, object_reference
from support.processes import wait_for
from support.provider import make_real
from support.truce_process import TruceProcess
from support.verdicts import assert_refused

pytestmark = pytest.mark.slow(3)

EXAMPLES = Path(__file__).resolve().parents[2] / "charts/truce/examples/sharing"
NAME = "prod-artifacts"
SECONDS = 60
ENFORCED = {"rules": {"claim-binding": {"mode": "enforce"}, "claim-takeover": {"mode": "enforce"}}}
COMPOSITION = "apiextensions.crossplane.io/v1/compositions"


def bound(user) -> dict:
    """A composite that team-a's claim has."""
    admin, core = user(), user("crossplane")
    mine = admin.create(claim("shared", "team-a", "mine")).expect(201).body
    made = core.create(composite("shared-x7k2q", "mine", mine)).expect(201).body
    core.patch(mine, {"spec": {"resourceRef": object_reference(made)}}).expect()
    return made


def second(made: dict, name: str = "second") -> dict:
    obj = claim(name, "team-b", "theirs")
    obj["spec"]["resourceRef"] = object_reference(made)
    return obj


def claim_ref(namespace: str, name: str) -> dict:
    return {"spec": {"claimRef": {"apiVersion": "platform.example.org/v1alpha1",
                                  "kind": "ObjectStorage", "namespace": namespace, "name": name}}}


def test_a_claim_of_a_bound_composite_is_warned_of(follow, user):
    follow({"mappings": []})
    made = bound(user)
    reply = user("team-b").create(second(made)).expect(201)
    assert any("another claim has composite XObjectStorage shared-x7k2q" in warning
               for warning in reply.warnings), reply.warnings
    lost = second({**made, "metadata": {"name": "lost"}}, "third")
    reply = user("team-b").create(lost).expect(201)
    assert any("does not exist" in warning for warning in reply.warnings), reply.warnings


def test_where_it_is_configured_it_is_refused(follow, user):
    follow({"mappings": [], **ENFORCED})
    made = bound(user)
    team = user("team-b")
    refused = assert_refused(team.create(second(made)), "shared-x7k2q")
    for part in ("ObjectStorage team-a/shared", "truce share", "EnvironmentConfig",
                 "truce.dev/transfer-to", "[claim-binding]"):
        assert part in refused, refused
    # Set by an update: the same.
    later = claim("later", "team-b", "theirs")
    team.create(later).expect(201)
    reference = {"spec": {"resourceRef": object_reference(made)}}
    assert_refused(team.patch(later, reference), "shared-x7k2q")
    # The composite changes hands by its owner's word only.
    move = claim_ref("team-b", "later")
    assert_refused(user().patch(made, move), "team-a/shared")
    handed = {"metadata": {"annotations": {"truce.dev/transfer-to": "ObjectStorage/team-b/later"}}}
    user("team-a").patch(claim("shared", "team-a", "mine"), handed).expect()
    wait_for(lambda: user().patch(made, move, dry_run=True).ok, SECONDS, "the hand-over is known")
    user().patch(made, move).expect()
    # Now it is team-b's: what was refused passes, read from the composite as it is.
    assert not team.patch(later, reference).expect().warnings
    free = user().create(composite("free", "unbound")).expect(201).body
    assert not team.create(second(free, "binds")).expect(201).warnings


def test_who_deletes_what_others_use_is_told(follow, user):
    truce = follow()
    mine = user("team-a").create(claim("artifacts", "team-a", NAME)).expect(201).body
    truce.wait_for_state(NAME, "held")
    assert not user("team-a").delete(mine, dry_run=True).expect().warnings
    shared = truce.command("share", f"s3/Bucket/{NAME}", "--with", "team-b", "--level", "observe",
                           "--reason", "they read it")
    assert shared.returncode == 0, shared.stderr
    reply = user("team-a").delete(mine).expect()
    assert any(NAME in warning for warning in reply.warnings), reply.warnings


def documents(name: str) -> list[dict]:
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def test_every_example_stands_in_its_readme():
    told = (EXAMPLES / "README.md").read_text()
    files = sorted(path.name for path in EXAMPLES.glob("*.yaml"))
    assert files and all(name in told for name in files)


def test_the_example_of_observing(follow, user):
    truce = follow()
    owner = namespaced_bucket("artifacts", "team-a", NAME)
    make_real(user("provider"), user("team-a").create(owner).expect(201).body)
    truce.wait_for_state(NAME, "held")
    grant, observer = documents("observe.yaml")
    user().create(grant).expect(201)
    wait_for(lambda: "team-b" in truce.command("share", f"s3/Bucket/{NAME}").stdout, SECONDS,
             "the share")
    assert not user("team-b").create(observer).expect(201).warnings
    assert any("in use" in warning
               for warning in user("team-a").delete(owner, dry_run=True).expect().warnings)


def test_the_example_of_a_hand_over(follow, user):
    truce = follow()
    [old] = documents("transfer.yaml")
    user("team-a").create(old).expect(201)
    wait_for(lambda: truce.owner(NAME).get("root", {}).get("namespace") == "team-a", SECONDS, "owned")
    # Admission reserves the name; the watch reads the annotation, which may be later.
    wait_for(lambda: "team-b/artifacts" in truce.command("describe", f"s3/Bucket/{NAME}").stdout,
             SECONDS, "the hand-over")


def consumer() -> dict:
    """Composite of team-b's claim, which the Composition of another team's bucket serves."""
    return {"apiVersion": "platform.example.org/v1alpha1", "kind": "XJobs",
            "metadata": {"name": "jobs-7fk2p"},
            "spec": {"claimRef": {"apiVersion": "platform.example.org/v1alpha1", "kind": "Jobs",
                                  "namespace": "team-b", "name": "jobs"}}}


def rendered(template: str, request: dict, directory: Path) -> list[dict]:
    path = directory / "template"
    path.write_text(template)
    done = subprocess.run([str(PEERS / "go-template"), str(path)], input=json.dumps(request),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def test_the_template_of_the_example_makes_the_secret_of_the_consumer(own_cluster, tmp_path):
    """Rendered, accepted by provider-kubernetes' own CRD, and what that writes by the API server."""
    [composition] = documents("extra-resources.yaml")
    read, write = composition["spec"]["pipeline"]
    into = read["input"]["spec"]["extraResources"][0]["into"]
    owner = composite("artifacts-x7k2q", NAME, claim("artifacts", "team-a", NAME))
    wanted = read["input"]["spec"]["extraResources"][0]["selector"]["matchLabels"]
    assert {each["key"]: each["value"] for each in wanted} == owner["metadata"]["labels"]
    request = {"observed": {"composite": {"resource": consumer()}, "resources": {}},
               "desired": {},
               "context": {"apiextensions.crossplane.io/extra-resources": {into: [owner]}}}
    [made] = rendered(write["input"]["inline"]["template"], request, tmp_path)
    # Crossplane names what it composes.
    made["metadata"]["name"] = "jobs-7fk2p-secret"
    [crd] = yaml.safe_load_all((PEERS.parent / "provider-kubernetes-crds"
                                / "kubernetes.crossplane.io_objects.yaml").read_text())
    # Between its versions the provider's own webhook converts, of which a Crossplane says where it is.
    crd["spec"].pop("conversion", None)

    def apply(obj: dict) -> str:
        file = tmp_path / "object.yaml"
        file.write_text(yaml.safe_dump(obj))
        done = own_cluster.kubectl("apply", "--server-side", "--validate=strict", "-f", str(file))
        return "" if done.returncode == 0 else done.stderr

    assert apply(crd) == ""
    last = "not tried"

    def accepted() -> bool:
        nonlocal last
        last = apply(made)
        return not last

    assert wait_for(accepted, SECONDS, "the Object is accepted"), last
    assert apply(made["spec"]["forProvider"]["manifest"]) == ""
    secret = own_cluster.kubectl("get", "secret", "-n", "team-b", "artifacts-of-team-a", "-o", "json")
    data = json.loads(secret.stdout)["data"]
    told = {key: base64.b64decode(value).decode() for key, value in data.items()}
    assert told == {"bucket": NAME, "region": REGION}


@pytest.mark.peer("crossplane")
def test_the_examples_of_compositions_fit_their_real_schemas(own_cluster):
    """With the CRDs of Crossplane 1.20 itself, whose validation is strict."""
    crds = sorted((PEERS.parent / "crossplane-crds").glob("apiextensions.crossplane.io_*.yaml"))
    assert crds
    done = own_cluster.kubectl("apply", "--server-side", "--force-conflicts",
                               *(part for crd in crds for part in ("-f", str(crd))))
    assert done.returncode == 0, done.stderr
    files = [EXAMPLES / name
             for name in ("platform.yaml", "environment-config.yaml", "extra-resources.yaml")]

    def applied() -> bool:
        done = own_cluster.kubectl("apply", "--server-side", "--validate=strict",
                                   *(part for path in files for part in ("-f", str(path))))
        nonlocal last
        last = done.stderr
        return done.returncode == 0

    last = ""
    assert wait_for(applied, SECONDS, "the examples are applied"), last


def creation(obj: dict, plural: str, number: int) -> dict:
    """A review of it, as an API server asks."""
    group, _, version = obj["apiVersion"].partition("/")
    metadata = {**obj["metadata"], "uid": f"{obj['metadata']['name']}-{number}"}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": f"review-{plural}-{number}", "operation": "CREATE", "name": metadata["name"],
        "namespace": metadata.get("namespace", ""),
        "kind": {"group": group, "version": version, "kind": obj["kind"]},
        "resource": {"group": group, "version": version, "resource": plural},
        "userInfo": {"username": "alice"}, "object": {**obj, "metadata": metadata},
        "oldObject": None, "dryRun": False}}


@pytest.mark.slow(15)
def test_a_hanging_api_server_keeps_no_denial_waiting(own_cluster, tmp_path):
    """It accepts, and says nothing: 180 claims of one tenant, each of which names a composite to look at, are
    warned of as far as that is known, and a name that another has is refused as ever."""
    truce = TruceProcess(tmp_path, config={"mappings": [], **ENFORCED}, kubeconfig=own_cluster.kubeconfig("admin"))
    with own_cluster.client("admin") as admin:
        admin.create(bucket("held", NAME)).expect(201)
    with truce:
        truce.wait_for_state(NAME, "held")
        own_cluster.signal_api_server(0, signal.SIGSTOP)

        def bind(number: int) -> dict:
            obj = claim(f"claim-{number}", "team-b", f"theirs-{number}")
            obj["spec"]["resourceRef"] = {"apiVersion": "platform.example.org/v1alpha1", "kind": "XObjectStorage",
                                          "name": f"somebodys-{number}"}
            with truce.reviewer() as reviewer:
                return reviewer.review(creation(obj, "objectstorages", number))[1]

        try:
            with ThreadPoolExecutor(180) as tenant, truce.reviewer() as other:
                bound_ones = [tenant.submit(bind, number) for number in range(360)]
                number = 0
                while not all(each.done() for each in bound_ones):
                    number += 1
                    begun = time.monotonic()
                    status, answer = other.review(creation(bucket("copy", NAME), "buckets", number))
                    assert status == 200 and not answer["allowed"], answer
                    assert time.monotonic() - begun < 1
                assert number > 10
                assert all(each.result()["allowed"] for each in bound_ones)
        finally:
            own_cluster.signal_api_server(0, signal.SIGCONT)
