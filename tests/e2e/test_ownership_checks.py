"""OwnershipCheck and DeclarationMapping on a real API server: what is refused at creation, what the
status says, and how mapping rules are followed live."""

import json
import re
import subprocess

import pytest
import yaml

from support.cluster import REPOSITORY
from support.objects import bucket, claim
from support.processes import wait_for
from support.shifted_clock import ShiftedClock
from support.truce_process import BINARY, OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused, assert_unknown
from support.webhook_registration import CHECKS, POLICIES

PAGES = [REPOSITORY / "docs" / name for name in ("check.md", "mappings.md")]
SECONDS = 60.0
DAY = 24 * 3600
# The origin story's values.
VALUES = {"appName": "copying", "objectStorage": {"artifacts": {"name": "reports"}}}
VALUES_RULE = {
    "chartValues": True,
    "service": "appName",
    "declares": [{"type": "s3/Bucket", "parts": {"name": "objectStorage.*.name"}}],
}
CLAIM_RULE = OBJECT_STORAGE_MAPPINGS[0]


def check(namespace: str, name: str = "before", **spec) -> dict:
    return {
        "apiVersion": "truce.dev/v1alpha1",
        "kind": "OwnershipCheck",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def of_bucket(namespace: str, bucket_name: str, name: str = "before") -> dict:
    return check(namespace, name, declarations=[{"type": "s3/Bucket", "name": bucket_name}])


def mapping(name: str, spec: dict) -> dict:
    return {
        "apiVersion": "truce.dev/v1alpha1",
        "kind": "DeclarationMapping",
        "metadata": {"name": name},
        "spec": spec,
    }


@pytest.fixture
def start(cluster, follow):
    """As `follow`, with the webhook's entries about Truce's own kinds."""

    def start(config: dict | None = None, **more):
        process = follow({"drainGrace": "0s", **(config or {})}, failure_policy="", **more)
        cluster.register_webhook(process.admission_url, process.ca_file, "Fail", own_kinds=True)
        return process

    return start


def verdict(client, obj: dict) -> dict:
    """The status, once it has a verdict."""

    def told():
        status = client.get(obj).expect(200).body.get("status", {})
        return status if status.get("verdict", "unknown") != "unknown" else None

    return wait_for(told, SECONDS, f"{obj['metadata']['name']} judged")


def accepted(client, obj: dict, status: str) -> str:
    """Waits for the condition Accepted; returns its message."""

    def condition():
        body = client.get(obj).expect(200).body
        for one in body.get("status", {}).get("conditions", []):
            if one["type"] == "Accepted" and one["status"] == status:
                return one
        return None

    return wait_for(condition, SECONDS, f"{obj['metadata']['name']} Accepted={status}")["message"]


def test_a_check_is_refused_or_says_what_was_checked(start, user):
    truce = start({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS})
    owner, other = user("team-a"), user("team-b")
    owner.create(claim("files", "team-a", "reports")).expect(201)

    refused = other.create(of_bucket("team-b", "reports"))
    assert_refused(refused, 'S3 bucket "reports" is owned by', "team-a/files", webhook=CHECKS)
    assert other.get(of_bucket("team-b", "reports")).status == 404
    # All at once, and manifests as well as declarations.
    manifests = [bucket("mine", "reports"), bucket("bad", "Bad_Name")]
    refused = other.create(check("team-b", manifests=manifests))
    assert_refused(refused, "reports", "Bad_Name", webhook=CHECKS)

    free = of_bucket("team-b", "copies")
    other.create(free, dry_run=True).expect(201)
    other.create(free).expect(201)
    status = verdict(other, free)
    assert status["verdict"] == "allowed" and status["checked"]
    assert status["message"] == "1 declaration checked, nothing prevents it"
    # It owns nothing, and what it asked about stays as it was.
    assert truce.state("copies") == "free"
    owner.create(claim("more", "team-a", "copies")).expect(201)
    assert "spec" in other.patch(free, {"spec": {"service": "x"}}).expect(422).message
    # One's own is no conflict, as often as it is asked.
    for _ in range(2):
        owner.create(of_bucket("team-a", "reports")).expect(201)
        owner.delete(of_bucket("team-a", "reports")).expect(200)
    assert truce.state("reports") != "free"


@pytest.fixture
def grant(user):
    """A function that lets a subject create a resource of truce.dev in a namespace, and returns
    what takes that away."""
    api, admin = "rbac.authorization.k8s.io", user("admin")
    made = []

    def grant(namespace: str, resource: str, subject: dict):
        name = {"name": f"creates-{resource}", "namespace": namespace}
        head = {"apiVersion": f"{api}/v1", "metadata": name}
        rule = {"apiGroups": ["truce.dev"], "resources": [resource], "verbs": ["create"]}
        role = {**head, "kind": "Role", "rules": [rule]}
        binding = {**head, "kind": "RoleBinding", "subjects": [{"apiGroup": api, **subject}],
                   "roleRef": {"apiGroup": api, "kind": "Role", "name": name["name"]}}
        for plural, obj in (("roles", role), ("rolebindings", binding)):
            path = f"/apis/{api}/v1/namespaces/{namespace}/{plural}"
            admin.request("POST", path, obj).expect(201)
            made.append(f"{path}/{name['name']}")
        return lambda path=made[-1]: admin.request("DELETE", path).expect()

    yield grant
    for path in made:
        admin.request("DELETE", path)


@pytest.mark.rotating(70)
def test_only_who_speaks_for_a_namespace_asks_in_its_name(cluster, start, user, grant):
    """I8: eve may create checks in team-a. Whether she may ask for team-b, the API server says."""
    start({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS, "disclosure": "taken"})
    user("team-b").create(claim("files", "team-b", "reports")).expect(201)
    grant("team-a", "ownershipchecks", {"kind": "User", "name": "eve@example.org"})

    def told(**spec) -> str:
        """What eve reads, once the API server lets her ask."""
        def refusal():
            done = cluster.kubectl("create", "--as=eve@example.org", "--as-group=auditors",
                                   "-f", "-", stdin=check("team-a", **spec))
            assert done.returncode == 1, done
            return CHECKS in done.stderr and done.stderr

        return wait_for(refusal, SECONDS, "a check that is judged")

    def of_copy(namespace: str) -> str:
        return told(manifests=[claim("copy", namespace, "reports")])

    stranger = of_copy("team-b")
    assert "eve@example.org does not speak for namespace team-b" in stranger
    for text in (stranger, of_copy("team-a"), told(declarations=[{"type": "s3/Bucket", "name": "reports"}])):
        assert "files" not in text, text
    assert "already taken" in of_copy("team-a")
    # Granted to a group: the question names all that the review says of her.
    withdraw = grant("team-b", "checks", {"kind": "Group", "name": "auditors"})
    wait_for(lambda: "team-b/files" in of_copy("team-b"), SECONDS, "the grant in effect")
    assert "files" not in of_copy("team-a")
    withdraw()
    wait_for(lambda: "does not speak" in of_copy("team-b"), SECONDS, "the grant gone")


def test_a_recorded_conflict_is_warned_and_not_refused(start, user):
    config = {"mode": "warn", "mappings": OBJECT_STORAGE_MAPPINGS}
    truce = start(config)
    user("team-a").create(claim("files", "team-a", "reports")).expect(201)
    other = user("team-b")
    other.create(claim("copies", "team-b", "reports")).expect(201)
    wait_for(lambda: truce.metric("truce_conflicts") == 1, SECONDS, "the conflict is recorded")
    truce.write_config({**config, "mode": "enforce"})
    late = claim("late", "crossplane-system", "reports")
    wait_for(lambda: user().create(late, dry_run=True).status == 403, SECONDS, "mode enforce")

    reply = other.create(of_bucket("team-b", "reports")).expect(201)
    assert any("team-a/files" in warning for warning in reply.warnings), reply.warnings
    status = verdict(other, of_bucket("team-b", "reports"))
    assert status["verdict"] == "allowed" and "warning: " in status["message"]
    other.delete(of_bucket("team-b", "reports")).expect(200)
    # One more bucket of somebody else is new.
    user("team-a").create(claim("new", "team-a", "invoices")).expect(201)
    reply = other.create(of_bucket("team-b", "invoices"))
    assert_refused(reply, "invoices", webhook=CHECKS)


def test_without_webhook_configuration_a_check_stays_unverified(cluster, start, user):
    truce = start({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS})
    other = user("team-b")
    cluster.unregister_webhook()
    free = of_bucket("team-b", "reports")
    other.create(free).expect(201)
    status = verdict(other, free)
    assert status["verdict"] == "unverified"
    assert "webhook configuration is missing" in status["message"]
    # A server that is away stops the deployment; one that comes back says the same as before.
    cluster.register_webhook(truce.admission_url, truce.ca_file, "Fail", own_kinds=True)
    truce.stop()
    assert_unknown(other.create(of_bucket("team-b", "copies", "second")))
    truce.start()
    assert verdict(other, free)["verdict"] == "unverified"


def test_old_checks_are_cleaned_up(start, user, tmp_path):
    clock = ShiftedClock(tmp_path)
    start({"mode": "enforce"}, env=clock.env)
    client = user()
    old = of_bucket("team-a", "reports", "old")
    client.create(old).expect(201)
    verdict(client, old)
    clock.advance(DAY - 600)
    client.create(of_bucket("team-a", "reports", "second")).expect(201)
    verdict(client, of_bucket("team-a", "reports", "second"))
    assert client.get(old).status == 200
    clock.advance(1200)
    client.create(of_bucket("team-a", "reports", "third")).expect(201)
    wait_for(lambda: client.get(old).status == 404, SECONDS, "the old check deleted")


@pytest.mark.parametrize(
    "spec, message",
    [
        ({}, "asks about nothing"),
        ({"mapping": "x", "manifests": []}, "a mapping without values"),
        ({"declarations": []}, "at least 1 items"),
        ({"declarations": [{"type": "s3/Bucket"}]}, "exactly one of name and parts"),
        ({"declarations": [{"type": "Bucket", "name": "x"}]}, "spec.declarations[0].type"),
        ({"declarations": [{"type": "s3/Bucket", "name": "x", "account": "7"}]}, "account"),
        ({"manifests": [{"apiVersion": "v1"}]}, "spec.manifests[0]"),
    ],
)
def test_the_schema_of_a_check_refuses_with_path_and_remedy(cluster, user, spec, message):
    reply = user().create(check("team-a", **spec), dry_run=True)
    assert reply.status == 422 and message in reply.message, reply


@pytest.mark.parametrize(
    "spec, message",
    [
        ({}, "spec.declares: Required"),
        ({**VALUES_RULE, "kind": "K", "group": "g.io"}, "either group and kind, or chartValues"),
        ({**CLAIM_RULE, "kind": None}, "either group and kind, or chartValues"),
        ({**CLAIM_RULE, "service": "status.x"}, "service must be a path"),
        ({**CLAIM_RULE, "declares": []}, "at least 1 items"),
        ({**CLAIM_RULE, "namespaces": []}, "at least 1 items"),
        ({**CLAIM_RULE, "namespaces": ["a", "a"]}, "Duplicate value"),
        ({**CLAIM_RULE, "declares": [{"type": "s3/Bucket", "parts": {}}]}, "at least 1 properties"),
    ],
)
def test_the_schema_of_a_mapping_refuses_with_path_and_remedy(cluster, user, spec, message):
    spec = {key: value for key, value in spec.items() if value is not None}
    reply = user().create(mapping("bad", spec), dry_run=True)
    assert reply.status == 422 and message in reply.message, reply


def test_mappings_are_followed_live(start, user, tmp_path):
    truce = start({"mode": "enforce"})
    admin, one, other = user(), user("team-a"), user("team-b")
    one.create(bucket("owner", "reports")).expect(201)
    values = check("team-b", values=VALUES, mapping="charts")
    reply = other.create(values)
    assert_refused(reply, "no DeclarationMapping 'charts'", webhook=CHECKS)

    charts = mapping("charts", VALUES_RULE)
    admin.create(charts).expect(201)
    assert accepted(admin, charts, "True") == "in force"
    assert_refused(other.create(values), 'S3 bucket "reports" is owned by', webhook=CHECKS)
    # The same from the command line, beside the server.
    file = tmp_path / "values.yaml"
    file.write_text("appName: copying\nobjectStorage:\n  artifacts:\n    name: reports\n")
    done = truce.command("check", "--values", str(file), "--mapping", "charts", "-n", "team-b")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f'{file}:4: error: S3 bucket "reports" is owned by')

    # Claims are judged once a rule says what they declare, and only where it holds.
    claims = mapping("claims", {**CLAIM_RULE, "namespaces": ["team-b"]})
    copy = claim("copy", "team-b", "reports")
    other.create(copy, dry_run=True).expect(201)
    admin.create(claims).expect(201)
    accepted(admin, claims, "True")
    assert_refused(other.create(copy), "reports")
    one.create(claim("copy", "team-a", "reports"), dry_run=True).expect(201)
    # A restarted server has the rules from its first review.
    truce.stop()
    truce.start()
    assert_refused(other.create(copy), "reports")
    admin.patch(claims, {"spec": {"namespaces": None}}).expect(200)
    wait_for(
        lambda: one.create(claim("copy", "team-a", "reports"), dry_run=True).status == 403,
        SECONDS,
        "the rule holds everywhere",
    )
    admin.delete(claims).expect(200)
    wait_for(lambda: other.create(copy, dry_run=True).ok, SECONDS, "the rule is gone")


def test_the_command_line_asks_through_the_api_server(cluster, start, user):
    """With the rights of kubectl, and no way to Truce itself."""
    start({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS})
    user("team-a").create(claim("files", "team-a", "reports")).expect(201)

    def asked(team: str, *objects: dict):
        manifests = yaml.safe_dump_all(objects)
        return manifests, subprocess.run(
            [BINARY, "check", "--admission", "--kubeconfig", cluster.kubeconfig(team),
             "-n", team],
            input=manifests, capture_output=True, text=True, timeout=60)

    mine = claim("files", "team-a", "reports")
    assert asked("team-a", mine, bucket("free", "free-bucket"))[1].returncode == 0
    manifests, done = asked("team-b", bucket("free", "free-bucket"), claim("x", "team-b", "reports"))
    assert done.returncode == 1, done.stderr
    place, _, text = done.stdout.partition(": error: ")
    line = manifests.splitlines()[int(place.split(":")[1]) - 1]
    assert "reports" in line and text.startswith('S3 bucket "reports" is owned by'), done.stdout
    # Together only.
    both = (claim("x", "team-b", "same"), claim("y", "team-b", "same"))
    assert asked("team-b", *both)[1].returncode == 1
    assert user().list("truce.dev/v1alpha1", "OwnershipCheck").body["items"] == []
    # What nobody judges is not taken for a verdict.
    cluster.unregister_webhook()
    done = asked("team-a", mine)[1]
    assert done.returncode == 3 and "does not ask Truce about OwnershipChecks" in done.stderr


def test_a_plan_is_asked_about_through_the_api_server(cluster, start, user):
    """What its source imported is its own; the kind's schema takes what the command line sends."""
    truce = start({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS})
    user("team-a").create(claim("files", "team-a", "reports")).expect(201)
    imported = truce.command("import", "-", "--source", "terraform:logs", "--apply",
                             stdin="type,name\ns3/Bucket,flow-logs\n")
    assert imported.returncode == 0, imported.stderr

    def asked(name: str, *more: str):
        plan = {"format_version": "1.2", "resource_changes": [
            {"address": "aws_s3_bucket.this", "mode": "managed", "type": "aws_s3_bucket", "name": "this",
             "change": {"actions": ["create"], "after": {"bucket": name, "region": "eu-west-1"}}}]}
        return subprocess.run(
            [BINARY, "check", "--admission", "--kubeconfig", cluster.kubeconfig("team-b"), "-n", "team-b", *more],
            input=json.dumps(plan), capture_output=True, text=True, timeout=60)

    free = asked("free-bucket")
    assert free.returncode == 0, (free.stdout, free.stderr)
    for name, more in (("reports", ("--source", "terraform:logs")), ("flow-logs", ()),
                       ("flow-logs", ("--source", "terraform:other"))):
        refused = asked(name, *more)
        assert refused.returncode == 1 and f'S3 bucket "{name}" is ' in refused.stdout, refused
        assert "in aws_s3_bucket.this" in refused.stdout, refused.stdout
    own = asked("flow-logs", "--source", "terraform:logs")
    assert (own.returncode, own.stderr) == (0, ""), (own.stdout, own.stderr)


def test_the_command_line_asks_as_kubectl_would(cluster, start, user, grant, tmp_path):
    """Namespace of the context, and --as; what nobody owns is free, and a refusal names the owner."""
    start({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS})
    user("team-a").create(claim("files", "team-a", "reports")).expect(201)
    of_team_b = json.loads(cluster.kubeconfig("team-b").read_text())
    for context in of_team_b["contexts"]:
        context["context"]["namespace"] = "team-b"
    kubeconfig = tmp_path / "team-b.json"
    kubeconfig.write_text(json.dumps(of_team_b))
    taken = claim("x", "team-b", "reports")
    del taken["metadata"]["namespace"]

    def asked(kubeconfig, *words: str):
        return subprocess.run(
            [BINARY, "check", "--admission", "--kubeconfig", kubeconfig, *words],
            input=yaml.safe_dump(taken), capture_output=True, text=True, timeout=60)

    refused = asked(kubeconfig)
    assert refused.returncode == 1 and "team-a/files" in refused.stdout, refused
    assert "Both are yours" in asked(kubeconfig, "-n", "team-a").stdout, "a flag is more than the context"
    as_team_a = asked(cluster.kubeconfig(), "-n", "team-a", "--as", "ann@example.org")
    assert as_team_a.returncode == 1 and "ann@example.org" in as_team_a.stderr, as_team_a
    grant("team-a", "ownershipchecks", {"kind": "Group", "name": "readers"})
    words = ("-n", "team-a", "--as", "ann@example.org", "--as-group", "readers", "--as-group", "system:authenticated")
    wait_for(lambda: "Both are yours" in asked(cluster.kubeconfig(), *words).stdout, SECONDS, "the group's right")
    for command in ("who-owns", "list"):
        gone = subprocess.run([BINARY, command, "--admission"], capture_output=True, text=True, timeout=60)
        assert gone.returncode == 2 and "unknown flag '--admission'" in gone.stderr


def test_the_command_line_shows_what_the_api_server_warned_of(cluster, start, user):
    start({"mode": "warn", "mappings": OBJECT_STORAGE_MAPPINGS})
    user("team-a").create(claim("files", "team-a", "reports")).expect(201)
    # The command line knows what a Bucket declares, hence the line of its name; of a claim it does not.
    named = yaml.safe_dump_all([bucket("free", "free"), bucket("x", "reports")])
    named_line = next(number for number, text in enumerate(named.splitlines(), 1)
                      if text.endswith(": reports"))
    claims = yaml.safe_dump_all([bucket("free", "free"), claim("x", "team-b", "reports")])
    line = claims.splitlines().index("---") + 2

    def asked(*args: str, manifests: str = claims) -> subprocess.CompletedProcess:
        return subprocess.run(
            [BINARY, "check", "--admission", "--kubeconfig", cluster.kubeconfig("team-b"),
             "-n", "team-b", *args],
            input=manifests, capture_output=True, text=True, timeout=60)

    taken = "truce: S3 bucket reports belongs to ObjectStorage team-a/files"
    done = asked()
    assert done.returncode == 0, done
    assert f"stdin:{line}: warning: {taken}" in done.stdout, done.stdout
    done = asked(manifests=named)
    assert f"stdin:{named_line}: warning: {taken}" in done.stdout, done.stdout
    assert asked("--fail-on-warn").returncode == 4
    findings = json.loads(asked("-o", "json").stdout)["findings"]
    assert [each["severity"] for each in findings] == ["warning"], findings
    assert findings[0]["cause"].startswith(taken) and findings[0]["line"] == line, findings
    (result,) = json.loads(asked("-o", "sarif").stdout)["runs"][0]["results"]
    assert result["level"] == "warning" and taken in result["message"]["text"], result
    assert taken in asked("-o", "junit").stdout


def test_the_manuals_objects_are_as_they_should_be(start, user):
    start({"mode": "enforce"})
    text = "\n".join(page.read_text() for page in PAGES)
    blocks = re.findall(r"^```\n(apiVersion: truce\.dev/.*?)^```", text, re.M | re.S)
    objects = [yaml.safe_load(block) for block in blocks]
    assert {obj["kind"] for obj in objects} == {"OwnershipCheck", "DeclarationMapping"}
    for obj in objects:
        user().create(obj, dry_run=True).expect(201)


def test_what_the_schema_cannot_know_is_refused_at_admission(cluster, start, user):
    truce = start({"mode": "enforce", "mappings": OBJECT_STORAGE_MAPPINGS})
    admin = user()
    unknown = {**VALUES_RULE, "declares": [{"type": "s3/Bukcet", "parts": {"name": "x"}}]}
    reply = admin.create(mapping("charts", unknown))
    assert_refused(reply, "s3/Bukcet", webhook=POLICIES)
    reply = admin.create(mapping("claims", CLAIM_RULE))
    assert_refused(reply, "maps a kind that is mapped already", webhook=POLICIES)
    admin.create(mapping("charts", VALUES_RULE)).expect(201)
    reply = admin.patch(mapping("charts", {}), {"spec": {"service": "a..b"}})
    assert_refused(reply, "'a..b' is not a path", webhook=POLICIES)
    # Truce away: it is stored, and the status says so later.
    truce.stop()
    admin.create(mapping("late", unknown)).expect(201)
    truce.start()
    assert "s3/Bukcet" in accepted(admin, mapping("late", unknown), "False")
