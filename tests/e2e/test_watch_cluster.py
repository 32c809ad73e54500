"""What happens to the cluster itself: kinds that come and go, history that is lost, another one."""

import json

import pytest

from support.cluster import CRDS, Cluster
from support.objects import CUSTOM_KINDS, bucket, queue
from support.processes import wait_for
from support.provider import make_real
from support.truce_process import OBJECT_STORAGE_MAPPINGS, TruceProcess
from support.verdicts import assert_refused

NAME = "prod-artifacts"
FAST = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"}
BUCKETS = "/apis/s3.aws.upbound.io/v1beta2/buckets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NEW_KIND_SECONDS = 30.0


@pytest.fixture(scope="module")
def bare(request):
    """API servers with nothing in them, for what the shared ones would not survive. Truce follows
    the first of them."""
    failed_before = request.session.testsfailed
    bare_cluster = Cluster(api_servers=2)
    bare_cluster.start()
    yield bare_cluster
    bare_cluster.stop(keep_logs=request.session.testsfailed > failed_before)


@pytest.fixture
def admin(bare):
    with bare.client() as client:
        yield client


@pytest.fixture
def truce(bare, tmp_path):
    with TruceProcess(tmp_path, FAST, kubeconfig=bare.kubeconfig()) as process:
        yield process
    bare.unregister_webhook()


def remove_crds(bare: Cluster) -> None:
    done = bare.kubectl("delete", "--ignore-not-found", "-f", str(CRDS))
    assert done.returncode == 0, done.stderr


@pytest.mark.rotating(14)
def test_kinds_come_and_go(bare, admin, tmp_path):
    remove_crds(bare)
    with TruceProcess(tmp_path, FAST, kubeconfig=bare.kubeconfig()) as truce:
        wait_for(lambda: "it has no Crossplane" in truce.log.read_text(), 10, "told so")
        bare.register_webhook(truce.admission_url, truce.ca_file)
        # A provider is installed later: seen without a restart, reviewed or not.
        bare.apply_crds()
        obj = bucket("artifacts", NAME)
        admin.create(obj).expect(201)
        make_real(admin, obj)
        admin.create(queue("jobs", "jobs")).expect(201)
        truce.wait_for_state(NAME, "held", NEW_KIND_SECONDS)
        assert_refused(admin.create(bucket("copy", NAME)), NAME, "artifacts")
        # A CRD that is removed takes its objects along, and nothing is known of their buckets.
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/buckets.s3.aws.upbound.io"
        admin.request("DELETE", path).expect()
        wait_for(
            lambda: admin.get(obj).body["metadata"].get("deletionTimestamp"), 30, "terminating"
        )
        admin.patch(obj, {"metadata": {"finalizers": None}}).expect()
        wait_for(lambda: admin.request("GET", path).status == 404, 30, "the CRD gone")
        assert admin.request("GET", BUCKETS).status == 404
        bare.apply_crds()
        for _ in range(20):
            assert truce.state(NAME) in ("held", "orphaned")
            assert_refused(admin.create(bucket("copy", NAME)), NAME)
        admin.create(obj).expect(201)
        truce.wait_for_state(NAME, "held", NEW_KIND_SECONDS)
        assert truce.state("jobs", "sqs/Queue") == "held"
    bare.unregister_webhook()


def definition(group: str, kind: str, plural: str, scope: str) -> dict:
    """A CRD that keeps whatever it is given."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [version],
        },
    }


def serve(bare: Cluster, admin, crd: dict) -> None:
    spec = crd["spec"]
    admin.request("POST", DEFINITIONS, crd).expect(201)
    path = f"/apis/{spec['group']}/v1/{spec['names']['plural']}"
    wait_for(lambda: admin.request("GET", path).status == 200, 30, f"{path} served")


def remove(admin, crd_name: str) -> None:
    path = f"{DEFINITIONS}/{crd_name}"
    admin.request("DELETE", path)
    wait_for(lambda: admin.request("GET", path).status == 404, 30, f"{crd_name} gone")


@pytest.mark.rotating(6)
def test_a_kind_changes_its_scope(bare, admin, tmp_path):
    """Its objects go with its definition; those of the new one stand in other places."""
    group, plural = "platform.example.org", "objectstorages"
    name = f"{plural}.{group}"
    remove(admin, name)
    serve(bare, admin, definition(group, "ObjectStorage", plural, "Namespaced"))
    with TruceProcess(tmp_path, FAST, kubeconfig=bare.kubeconfig()) as truce:
        bare.register_webhook(truce.admission_url, truce.ca_file)
        store = {
            "apiVersion": f"{group}/v1",
            "kind": "ObjectStorage",
            "metadata": {"name": "orders", "namespace": "team-a"},
            "spec": {"parameters": {"name": "orders-prod", "region": "eu-central-1"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},  # It exists.
        }
        admin.request("POST", f"/apis/{group}/v1/namespaces/team-a/{plural}", store).expect(201)
        truce.wait_for_state("orders-prod", "held", NEW_KIND_SECONDS)
        remove(admin, name)
        serve(bare, admin, definition(group, "ObjectStorage", plural, "Cluster"))
        del store["metadata"]["namespace"]
        store["spec"]["parameters"]["name"] = "invoices-prod"
        admin.request("POST", f"/apis/{group}/v1/{plural}", store).expect(201)
        owner = truce.wait_for_state("invoices-prod", "held", NEW_KIND_SECONDS)
        assert not owner["root"].get("namespace")
        # Nothing is known of the bucket of the object that went with the old definition.
        assert truce.state("orders-prod") in ("held", "orphaned")
    bare.unregister_webhook()
    remove(admin, name)
    bare.apply_crds()


def test_claims_without_mapping_are_told_of(bare, admin, tmp_path):
    """CRDs that are served with an XRD, but no rule says what they declare."""
    group = "unmapped.example.org"
    crossplane = "apiextensions.crossplane.io"
    xrds = "compositeresourcedefinitions"
    definitions = (
        definition(group, "XDatabase", "xdatabases", "Cluster"),
        definition(group, "Database", "databases", "Namespaced"),
    )
    bare.apply_crds()
    for crd in definitions:
        serve(bare, admin, crd)
    xrd = {
        "apiVersion": f"{crossplane}/v1",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"xdatabases.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "XDatabase", "plural": "xdatabases"},
            "claimNames": {"kind": "Database", "plural": "databases"},
        },
    }
    admin.request("POST", f"/apis/{crossplane}/v1/{xrds}", xrd).expect(201)
    with TruceProcess(tmp_path, FAST, kubeconfig=bare.kubeconfig()) as truce:
        bare.register_webhook(truce.admission_url, truce.ca_file)

        def told(reason: str) -> list[str]:
            done = truce.command("coverage", "-o", "json")
            gaps = json.loads(done.stdout)["gaps"]
            return [gap["subject"] for gap in gaps if gap["reason"] == reason]

        wait_for(lambda: f"Database.{group}" in told("no-mapping"), NEW_KIND_SECONDS,
                 "the claim kind told")
        # The webhook's rules have the group of the tests' other XRD, and not this one's.
        assert told("xrd-group") == [group]
        doctor = truce.command("doctor").stdout
        assert f"webhook: {{xrdGroups: [platform.example.org, {group}]}}" in doctor, doctor
        assert f"Database.{group}" in truce.command("coverage", "--all").stdout
    bare.unregister_webhook()
    path = f"/apis/{crossplane}/v1/{xrds}/{xrd['metadata']['name']}"
    admin.request("DELETE", path).expect()
    for crd in definitions:
        admin.request("DELETE", f"{DEFINITIONS}/{crd['metadata']['name']}").expect()


@pytest.mark.rotating(13)
def test_lost_history_is_listed_again(bare, admin, truce):
    """The watch was left behind so far that its version has expired."""
    bare.apply_crds()
    bare.register_webhook(truce.admission_url, truce.ca_file)
    admin.create(bucket("stays", "stays-bucket")).expect(201)
    admin.create(bucket("goes", "goes-bucket")).expect(201)
    for name in ("stays-bucket", "goes-bucket"):
        truce.wait_for_state(name, "held", NEW_KIND_SECONDS)
    bare.unregister_webhook()
    bare.stop_api_server(0)
    with bare.client(server=1) as other:
        other.delete(bucket("goes")).expect(200)
        other.create(bucket("comes", "comes-bucket")).expect(201)
    bare.compact()
    bare.start_api_server(0)
    truce.wait_for_state("comes-bucket", "held", NEW_KIND_SECONDS)
    truce.wait_for_state("goes-bucket", "orphaned", NEW_KIND_SECONDS)
    assert truce.state("stays-bucket") == "held"
    with bare.client() as client:
        client.create(bucket("again", "again-bucket")).expect(201)
    truce.wait_for_state("again-bucket", "held", NEW_KIND_SECONDS)


def test_the_registry_of_another_cluster_is_refused(bare, cluster, truce, tmp_path):
    assert truce.stop() == 0
    truce.kubeconfig = cluster.kubeconfig()
    truce.start(wait_until_ready=False)
    wait_for(lambda: not truce.running, 20, "it ended")
    told = truce.logs()
    for which in (bare, cluster):
        with which.client() as client:
            kube_system = client.request("GET", "/api/v1/namespaces/kube-system").expect()
        assert kube_system.uid in told, told
    for way_out in ("kubeconfig", "--cluster-id", "--data-dir"):
        assert way_out in told, told
    truce.cluster_id += "-other"
    truce.start()
