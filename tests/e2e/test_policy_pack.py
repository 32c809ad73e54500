"""The policy pack decides policies/vectors as Truce does: ValidatingAdmissionPolicies in the real API
server, Gatekeeper's templates in the real gator. What an engine cannot express, a vector says."""

import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from support.cluster import PEERS
from support.objects import CUSTOM_KINDS, bucket
from support.policy_vectors import REPOSITORY, Case, read_cases
from support.processes import wait_for

NAMING = "naming-convention"
ACTIONS = {"enforce": "Deny", "warn": "Warn", "audit": "Audit"}


@pytest.fixture(scope="module")
def pack(tmp_path_factory) -> Path:
    """The pack as a release has it."""
    folder = tmp_path_factory.mktemp("pack")
    subprocess.run([sys.executable, str(REPOSITORY / "release/policy_pack.py"), str(folder)], check=True)
    return folder


def test_the_pack_is_whole(pack):
    policies = {f"vap/{name}.yaml" for name in ("aws-name", "aws-name-warn", "naming-audit", "naming-enforce",
                                                "naming-warn")}
    templates = {f"gatekeeper/template-{name}.yaml" for name in ("aws-name", "naming", "unique-name")}
    made = {str(file.relative_to(pack)) for file in pack.rglob("*.yaml")
            if "Written by release/policy_pack.py" in file.read_text()}
    assert made == policies | templates
    for name in ("gatekeeper/suite.yaml", "gatekeeper/sync.yaml", "gatekeeper/samples/bucket.yaml"):
        assert (pack / name).is_file(), name


def test_every_engine_decides_most_vectors():
    cases = read_cases()
    assert len(cases) >= 290
    for engine in ("cel", "rego"):
        assert sum(case.expressible(engine) for case in cases) >= 250, engine


# ValidatingAdmissionPolicy


def label_of(case: Case) -> str:
    return re.sub(r"[^a-z0-9-]", "-", case.policy)


def path_of(obj: dict) -> str:
    group, version = obj["apiVersion"].split("/")
    namespace = obj["metadata"].get("namespace")
    middle = f"/namespaces/{namespace}" if namespace else ""
    return f"/apis/{group}/{version}{middle}/{plural_of(group, obj['kind'])}"


def plural_of(group: str, kind: str) -> str:
    known = [one.plural for one in CUSTOM_KINDS if (one.group, one.kind) == (group, kind)]
    return known[0] if known else kind.lower() + "s"


def crd_of(group: str, kind: str, versions: list[str]) -> dict:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced" if ".m." in group else "Cluster",
            "names": {"kind": kind, "plural": kind.lower() + "s", "singular": kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {"openAPIV3Schema": schema},
                }
                for version in versions
            ],
        },
    }


def serve_kinds(client, cases: list[Case]) -> None:
    kinds: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        group, version = case.object["apiVersion"].split("/")
        kinds.setdefault((group, case.object["kind"]), set()).add(version)
    known = {(one.group, one.kind) for one in CUSTOM_KINDS}
    wanted = {key: sorted(value) for key, value in kinds.items() if key not in known}
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for (group, kind), versions in wanted.items():
        client.request("POST", crds, crd_of(group, kind, versions)).expect(201)
    for (group, kind), versions in wanted.items():
        path = f"/apis/{group}/{versions[-1]}/{kind.lower()}s?limit=1"
        wait_for(lambda: client.request("GET", path).status == 200, 60, f"{kind} served")


def install_policies(pack, client, cases: list[Case]) -> None:
    """The pack's policies as they are; the bindings, one for each policy of the vectors."""
    objects = [
        obj
        for file in sorted((pack / "vap").glob("*.yaml"))
        for obj in yaml.safe_load_all(file.read_text())
    ]
    base = "/apis/admissionregistration.k8s.io/v1"
    for obj in objects:
        if obj["kind"] == "ValidatingAdmissionPolicy":
            reply = client.request("POST", f"{base}/validatingadmissionpolicies", obj)
            reply.expect(201)

    def bind(name: str, spec: dict) -> None:
        obj = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": spec,
        }
        client.request("POST", f"{base}/validatingadmissionpolicybindings", obj).expect(201)

    for obj in objects:
        if obj["kind"].endswith("Binding") and "paramRef" not in obj["spec"]:
            bind(obj["metadata"]["name"], obj["spec"])
    for case in {case.policy: case for case in cases}.values():
        if NAMING not in case.spec.get("rules", {}):
            continue
        label = label_of(case)
        spec = dict(case.spec)
        if "exemptions" in spec:
            spec["exemptions"] = [one for one in spec["exemptions"] if "rule" in one]
        naming = {
            "apiVersion": "truce.dev/v1alpha1",
            "kind": "NamingPolicy",
            "metadata": {"name": label},
            "spec": spec,
        }
        client.create(naming).expect(201)
        for mode, action in ACTIONS.items():
            bind(
                f"{label}-{mode}",
                {
                    "policyName": f"truce-naming-{mode}",
                    "validationActions": [action],
                    "paramRef": {"name": label, "parameterNotFoundAction": "Allow"},
                    "matchResources": {"objectSelector": {"matchLabels": {"vectors": label}}},
                },
            )


def await_policies(client, cases: list[Case]) -> None:
    """The API server takes over new policies and bindings within a second or two."""
    canary = bucket("canary", "Not_A_Bucket")
    wait_for(lambda: not client.create(canary, dry_run=True).ok, 30, "AWS names judged")
    refused = {case.policy: case for case in cases if case.mode_of(NAMING) == "enforce"}
    for case in refused.values():
        wait_for(lambda: decide(client, case) == "enforce", 30, f"{case.id} judged")


def decide(client, case: Case) -> str:
    """"enforce", "warn" or "": what the API server makes of the case."""
    obj = json.loads(json.dumps(case.object))
    obj["metadata"].setdefault("labels", {})["vectors"] = label_of(case)
    path = path_of(obj)
    if case.before is None:
        reply = client.request("POST", f"{path}?dryRun=All", obj)
    else:
        old = client.request("POST", path, case.before).expect(201).body
        obj["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        reply = client.request("PUT", f"{path}/{obj['metadata']['name']}?dryRun=All", obj)
        client.request("DELETE", f"{path}/{obj['metadata']['name']}").expect()
    if reply.ok:
        return "warn" if reply.warnings else ""
    assert reply.status == 422 and "ValidatingAdmissionPolicy 'truce-" in reply.message, reply
    assert " of " in reply.message, reply.message
    return "enforce"


def strongest(case: Case) -> str:
    modes = {one["mode"] for one in case.expect}
    return "enforce" if "enforce" in modes else "warn" if "warn" in modes else ""


@pytest.mark.rotating(8)
def test_validating_admission_policies_decide_alike(pack, own_cluster):
    cases = [case for case in read_cases() if case.expressible("cel")]
    clients = [own_cluster.client("admin") for _ in range(4)]
    try:
        namespaces = {case.object["metadata"].get("namespace") for case in cases} - {None}
        for name in namespaces:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            assert clients[0].create(body).status in (201, 409)
        serve_kinds(clients[0], cases)


        install_policies(pack, clients[0], cases)
        await_policies(clients[0], cases)
        with ThreadPoolExecutor(len(clients)) as pool:
            shares = [
                pool.submit(lambda n=n: [(c.id, decide(clients[n], c), strongest(c))
                                         for c in cases[n :: len(clients)]])
                for n in range(len(clients))
            ]
            decided = [one for share in shares for one in share.result()]
    finally:
        for client in clients:
            client.close()
    assert len(decided) == len(cases)
    assert [one for one in decided if one[1] != one[2]] == []


# Gatekeeper


class Suite:
    """A gator suite in a folder of its own."""

    def __init__(self, pack, folder):
        self.pack, self.folder = pack, folder
        self.tests: list[dict] = []

    def add(self, name: str, stem: str, parameters: dict, cases: list[tuple[Case, bool]]) -> None:
        template = f"template-{stem}.yaml"
        shutil.copy(self.pack / "gatekeeper" / template, self.folder)
        kind = yaml.safe_load((self.pack / "gatekeeper" / template).read_text())["spec"]["crd"]["spec"]
        constraint = {
            "apiVersion": "constraints.gatekeeper.sh/v1beta1",
            "kind": kind["names"]["kind"],
            "metadata": {"name": re.sub(r"[^a-z0-9-]", "-", name)},
            "spec": {
                "match": {"kinds": [{"apiGroups": ["*"], "kinds": ["*"]}]},
                "parameters": parameters,
            },
        }
        (self.folder / f"constraint-{name}.yaml").write_text(json.dumps(constraint))
        for case, _ in cases:
            (self.folder / f"{case.id}.json").write_text(json.dumps(case.object))
        self.tests.append(
            {
                "name": name,
                "template": template,
                "constraint": f"constraint-{name}.yaml",
                "cases": [
                    {
                        "name": case.id,
                        "object": f"{case.id}.json",
                        "assertions": [{"violations": "yes" if wrong else "no"}],
                    }
                    for case, wrong in cases
                ],
            }
        )

    def verify(self) -> None:
        suite = {"apiVersion": "test.gatekeeper.sh/v1alpha1", "kind": "Suite", "tests": self.tests}
        (self.folder / "suite.yaml").write_text(json.dumps(suite))
        verify(self.folder / "suite.yaml")


def verify(suite) -> None:
    done = subprocess.run(
        [str(PEERS / "gator"), "verify", str(suite)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


@pytest.mark.peer("gator")
def test_gatekeeper_decides_alike(pack, tmp_path):
    cases = [case for case in read_cases() if case.expressible("rego")]
    suite = Suite(pack, tmp_path)
    aws = [(case, case.mode_of("aws-name") == "enforce") for case in cases]
    suite.add("aws-name", "aws-name", {}, [one for one in aws if one[0].policy.startswith("aws")])
    doubtful = [case for case in cases if case.mode_of("aws-name") == "warn"]
    suite.add("doubtful", "aws-name", {"level": "doubtful"}, [(case, True) for case in doubtful])
    for policy in sorted({case.policy for case in cases}):
        of_policy = [case for case in cases if case.policy == policy]
        mode = of_policy[0].spec.get("rules", {}).get(NAMING, {}).get("mode")
        if mode is None:
            continue
        for case in of_policy:  # The mode is the constraint's enforcementAction.
            assert case.mode_of(NAMING) in ("", mode), case.id
        suite.add(policy, "naming", of_policy[0].spec, [(c, bool(c.mode_of(NAMING))) for c in of_policy])
    suite.verify()


@pytest.mark.peer("gator")
def test_the_suite_that_is_delivered(pack):
    verify(pack / "gatekeeper/suite.yaml")
