"""truce check: input, registry, formats, exit codes."""

import http.server
import json
import os
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree
from pathlib import Path

import pytest
import yaml

from support import objects
from support.truce_process import BINARY, TruceProcess
from system.test_api import TOKENS, api, creation, wait_for  # noqa: F401  (api is a fixture)

OK, NO, USAGE, UNREACHABLE, WARNINGS = 0, 1, 2, 3, 4
SECONDS_MAX = 3.0  # for 10,000 documents
BYTES_MAX = 256 * 1024 * 1024


def documents(*each: dict) -> str:
    return yaml.safe_dump_all(each, sort_keys=False)


class Check:
    """Runs `truce check` with manifests on standard input."""

    def __init__(self, directory: Path):
        self.directory = directory

    def __call__(self, text: str | bytes, *args: str, **variables: str):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TRUCE_")}
        data = text.encode() if isinstance(text, str) else text
        result = subprocess.run(
            [str(BINARY), "check", *args], input=data, capture_output=True, timeout=60,
            cwd=self.directory, env=environment | variables)
        result.stdout, result.stderr = result.stdout.decode(), result.stderr.decode()
        return result


@pytest.fixture
def check(tmp_path: Path) -> Check:
    return Check(tmp_path)


BUCKET = documents(objects.bucket("mine", "free-bucket"))


def remote(api) -> tuple[list[str], dict[str, str]]:  # noqa: F811
    """Flags and variables that reach the server over the network."""
    flags = ["--server", f"https://{api.address}", "--ca-file", str(api.truce.ca_file)]
    return flags, {"TRUCE_TOKEN": TOKENS["eve"][1]}


def test_against_the_registry(check, api):  # noqa: F811
    flags, token = remote(api)
    clean = check(BUCKET, *flags, **token)
    assert (clean.returncode, clean.stderr) == (OK, ""), clean.stderr
    taken = documents(objects.claim("new", "team-b", "prod-one"), objects.bucket("mine", "free"))
    refused = check(taken, *flags, **token)
    assert refused.returncode == NO
    first = refused.stdout.splitlines()[0]
    assert first.startswith("stdin:") and ": error: S3 bucket \"prod-one\" is owned by" in first
    line = int(first.split(":")[1])
    assert "prod-one" in taken.splitlines()[line - 1]
    # The owner's own claim, as it stands in its chart, is no conflict; its namespace may be a flag.
    own = objects.claim("one", "team-a", "prod-one")
    del own["metadata"]["namespace"]
    assert check(documents(own), "-n", "team-a", *flags, **token).returncode == OK
    assert check(documents(own), "-n", "team-b", *flags, **token).returncode == NO
    # Claims are known to the registry's mapping only: the input is compared by its answer.
    both = documents(objects.claim("x", "team-b", "same-name"), objects.claim("y", "team-b", "same-name"))
    twice = check(both, "-o", "json", *flags, **token)
    report = json.loads(twice.stdout)
    assert twice.returncode == NO and report["verdict"] == "refused"
    assert [f["rule"] for f in report["findings"]] == ["duplicate-ownership"]
    assert "declared twice in the input" in report["findings"][0]["cause"]
    # Nothing was written.
    assert api.get("/api/v1/resources:lookup", type="s3/Bucket", name="free-bucket").json["free"]


def test_many_documents_in_several_requests(check, api):  # noqa: F811
    flags, token = remote(api)
    many = [objects.claim(f"c{i}", f"team-{i % 50}", f"bucket-{i}") for i in range(1200)]
    many.append(objects.claim("last", "team-z", "bucket-3"))
    result = check(documents(*many), "-o", "json", *flags, **token)
    report = json.loads(result.stdout)
    assert result.returncode == NO, result.stderr
    assert (report["documents"], len(report["declarations"]), len(report["findings"])) == (1201, 1201, 1)


def test_who_may_not_ask_learns_what_to_do(check, api):  # noqa: F811
    flags, token = remote(api)
    without = check(BUCKET, *flags)
    assert without.returncode == NO and "--token-file" in without.stderr
    wrong = check(BUCKET, *flags, TRUCE_TOKEN="wrong-token-00001")
    assert wrong.returncode == NO and "does not accept the token" in wrong.stderr
    other = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", "/dev/null", "-subj", "/CN=other", "-out", "-"],
        capture_output=True, check=True).stdout
    (check.directory / "other.crt").write_bytes(other)
    begin = time.monotonic()
    untrusted = check(BUCKET, "--server", flags[1], "--ca-file", "other.crt", **token)
    assert untrusted.returncode == UNREACHABLE and "--ca-file" in untrusted.stderr
    assert time.monotonic() - begin < 20, "a wrong authority does not get better by waiting"
    missing = check(BUCKET, "--server", flags[1], "--ca-file", "no-such.crt", **token)
    assert missing.returncode == USAGE and "no-such.crt" in missing.stderr


class Moody(http.server.BaseHTTPRequestHandler):
    """Answers a script of (status, Retry-After), then a clean check."""

    script: list = []
    seen: list = []

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        items = json.loads(self.rfile.read(length))["items"]
        type(self).seen.append(time.monotonic())
        status, after = type(self).script.pop(0) if type(self).script else (200, None)
        each = {"object": {}, "verdict": "allowed", "declares": [], "findings": []}
        body = json.dumps({"verdict": "allowed", "items": [each] * len(items)}
                          if status == 200 else {"detail": "not now"}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if after is not None:
            self.send_header("Retry-After", str(after))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def moody():
    handler = type("Handler", (Moody,), {"script": [], "seen": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    handler.url = f"http://127.0.0.1:{server.server_port}"
    yield handler
    server.shutdown()


def test_tries_again(check, moody):
    moody.script[:] = [(503, None), (429, 1), (502, None)]
    result = check(BUCKET, "--server", moody.url)
    assert result.returncode == OK, result.stderr
    assert len(moody.seen) == 4
    assert moody.seen[2] - moody.seen[1] >= 1.0, "Retry-After is the least it waits"


def test_gives_up_in_time(check, moody):
    moody.script[:] = [(503, None)] * 100
    begin = time.monotonic()
    result = check(BUCKET, "--server", moody.url, "--timeout", "2", "--termination-log", "message")
    assert result.returncode == UNREACHABLE
    assert time.monotonic() - begin < 10
    assert "not now (503)" in result.stderr and "--timeout is over" in result.stderr
    message = (check.directory / "message").read_text().splitlines()[0]
    assert message.startswith("truce check: nothing was decided, the registry did not answer: not now")
    moody.script[:] = [(503, 300)] * 100
    lenient = check(BUCKET, "--server", moody.url, "--timeout", "1", "--on-unreachable", "warn")
    assert (lenient.returncode, "warning" in lenient.stderr) == (OK, True)
    moody.script[:] = [(404, None)] * 2
    assert check(BUCKET, "--server", moody.url).returncode == NO
    assert len(moody.script) == 1, "what will not get better is not repeated"


def test_bad_input(check):
    for text, word in ((b"", "no document"), (b"---\n---\n# nothing\n", "no document"),
                       (b"a: [", "stdin:2"), (b"\x00\x01", "stdin:1"), (b"a: \xff\xfe", "stdin:1"),
                       (b"just: values\n", "stdin:1: is not a Kubernetes object"),
                       (b"- a\n", "is not a Kubernetes object"),
                       (b"apiVersion: a.b/v1\nkind: K\nmetadata: {}\n", "lacks metadata.name"),
                       (b"a: 1\na: 2\n", "stands here a second time"),
                       (b"[" * 100_000, "nested deeper than"),
                       (b"a: &a [" + b"*b," * 3 + b"]", "names no anchor")):
        result = check(text, "--offline")
        assert (result.returncode, word in result.stderr) == (USAGE, True), (text[:40], result.stderr)
    for path, word in (("no-such-file", "No such file"), ("/proc/self/mem", "cannot be read")):
        result = check("", "--offline", path)
        assert (result.returncode, word in result.stderr) == (USAGE, True), result.stderr
    nothing = check("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", "--offline")
    assert nothing.returncode == OK and "nothing in the input declares" in nothing.stdout
    assert check("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", "--offline",
                 "--fail-on-warn").returncode == WARNINGS
    huge = check(b'a: "' + b"x" * 100_000_000 + b'"', "--offline")
    assert huge.returncode == USAGE and "larger than 8 MiB" in huge.stderr


def test_bad_input_has_its_reports_too(check):
    """Whoever reads a file of them, a comment or code scanning, has no other word of it."""
    (check.directory / "deploy").mkdir()
    (check.directory / "deploy/bad.yaml").write_text("kind: Bucket\nmetadata: [\n")
    (check.directory / "deploy/good.yaml").write_text(
        "apiVersion: s3.aws.upbound.io/v1beta1\nkind: Bucket\nmetadata: {name: a-bucket}\n")
    forms = ("text", "json", "junit", "sarif", "github", "markdown")
    outputs = [word for form in forms for word in ("-o", f"{form}={form}.out")]

    def reports(*args, **options):
        for form in forms:
            (check.directory / f"{form}.out").unlink(missing_ok=True)
        result = check("", *args, *outputs, **options)
        assert result.returncode == USAGE, result.stderr
        return {form: (check.directory / f"{form}.out").read_text() for form in forms}

    bad = reports("deploy", "--offline")
    document = json.loads(bad["json"])
    assert document["verdict"] == "unread" and "could be checked" in document["message"]
    first = document["findings"][0]
    assert (first["rule"], first["file"], first["line"]) == ("input", "deploy/bad.yaml", 3), first
    assert "check again" in first["remedy"]
    assert [each["name"] for each in document["declarations"]] == ["a-bucket"]
    assert "deploy/bad.yaml:3: error: " in bad["text"] and "check again" in bad["text"]
    assert bad["github"].startswith("::error file=deploy/bad.yaml,line=3,"), bad["github"]
    assert "not all of it could be checked" in bad["markdown"] and "deploy/bad.yaml:3" in bad["markdown"]
    assert "<failure" in bad["junit"]
    (run,) = json.loads(bad["sarif"])["runs"]
    assert run["invocations"] == [{"executionSuccessful": False}]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 3

    for args, word in ((["no-such-file", "--offline"], "No such file"),
                       (["deploy/good.yaml", "--config", "no.yaml", "--offline"], "no.yaml"),
                       (["deploy/good.yaml", "--server", "https://127.0.0.1:1", "--token-file", "no-token"],
                        "no-token"),
                       (["deploy/good.yaml", "--mapping", "charts", "--offline"], "--mapping"),
                       (["--offline"], "no document")):
        for form, text in reports(*args).items():
            assert word in text, (args, form, text)
    # In a pipe as in a file; to people the messages say it.
    assert json.loads(check("a: [", "--offline", "-o", "json").stdout)["verdict"] == "unread"
    assert check("a: [", "--offline").stdout == ""


def other(kind: str, name: str) -> dict:
    return {"apiVersion": "example.org/v1", "kind": kind, "metadata": {"name": name}}


def test_names_what_it_passed_over(check, api):  # noqa: F811
    own = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    text = documents(objects.bucket("mine", "free-bucket"), other("Widget", "a"), other("Gadget", "b"), own)
    flags, token = remote(api)
    for where in ([], ["--offline"]):
        flagged = where or flags
        result = check(text, *flagged, **token)
        assert result.returncode == OK, result.stderr
        assert ("2 objects of kinds Truce does not know: Gadget.example.org, Widget.example.org"
                in result.stdout)
        assert check(text, *flagged, "--fail-on-unknown", **token).returncode == WARNINGS
        report = json.loads(check(text, *flagged, "-o", "json", **token).stdout)
        assert report["unknownObjects"] == 2
    # A claim is known to the registry by its mapping, though not here.
    claim = documents(objects.claim("c", "team-b", "free-bucket"))
    known = check(claim, *flags, "--fail-on-unknown", **token)
    assert known.returncode == OK and "does not know" not in known.stdout, known.stdout
    one = check(documents(objects.bucket("mine", "free"), other("Widget", "a")), "--offline")
    assert "1 object of a kind Truce does not know: Widget.example.org" in one.stdout


def test_folders(check):
    folder = check.directory / "deploy"
    (folder / "sub").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "a.yaml").write_text(BUCKET)
    (folder / "sub" / "b.yml").write_text(documents(objects.bucket("other", "free-bucket")))
    (folder / "sub" / "c.json").write_text(json.dumps(objects.bucket("third", "another-bucket")))
    (folder / ".hidden" / "d.yaml").write_text("a: [")
    (folder / "values.yaml").write_text("appName: a\n")
    (folder / "README.md").write_text("not yaml: [")
    result = check("", "--offline", "deploy", "-o", "sarif")
    assert result.returncode == NO, result.stderr
    run = json.loads(result.stdout)["runs"][0]
    clash, passed_over = run["results"]
    where = clash["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "deploy/sub/b.yml"
    line = (folder / "sub" / "b.yml").read_text().splitlines()[where["region"]["startLine"] - 1]
    assert "free-bucket" in line
    assert "passed over" in passed_over["message"]["text"] and passed_over["level"] == "note"
    junit = xml.etree.ElementTree.fromstring(check("", "--offline", "deploy", "-o", "junit").stdout)
    assert junit.get("failures") == "1"


def test_what_a_renderer_reads_is_no_manifest(check):
    """Sources of Helm, kustomize, Jsonnet and CUE: named or met, each with what renders it."""
    folder = check.directory / "deploy"
    (folder / "shop/templates").mkdir(parents=True)
    (folder / "shop/crds").mkdir()
    (folder / "overlay").mkdir()
    (folder / "plain.yaml").write_text(BUCKET)
    (folder / "shop/Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 0.1.0\n")
    (folder / "shop/values.yaml").write_text("name: a\n")
    (folder / "shop/templates/bucket.yaml").write_text(documents(objects.bucket("two", "free-bucket")))
    (folder / "shop/crds/bucket.yaml").write_text(documents(objects.bucket("three", "another-bucket")))
    (folder / "overlay/kustomization.yaml").write_text("namePrefix: a-\nresources: [bucket.yaml]\n")
    (folder / "overlay/bucket.yaml").write_text(documents(objects.bucket("four", "free-bucket")))
    (folder / "main.jsonnet").write_text("{apiVersion: 'v1'}\n")
    (folder / "main.cue").write_text('apiVersion: "v1"\n')
    commands = {
        "deploy/shop": "helm template deploy/shop | truce check",
        "deploy/shop/Chart.yaml": "helm template deploy/shop | truce check",
        "deploy/shop/templates": "helm template deploy/shop | truce check",
        "deploy/shop/templates/bucket.yaml": "helm template deploy/shop | truce check",
        "deploy/overlay": "kubectl kustomize deploy/overlay | truce check",
        "deploy/overlay/kustomization.yaml": "kubectl kustomize deploy/overlay | truce check",
        "deploy/main.jsonnet": "jsonnet deploy/main.jsonnet | truce check",
        "deploy/main.cue": "cue export --out yaml deploy/main.cue | truce check",
    }
    for path, command in commands.items():
        result = check("", "--offline", path)
        assert result.returncode == USAGE and f"`{command}`" in result.stderr, (path, result)
        assert f"--skip {command.split()[-4]}" in result.stderr, (path, result)
        assert "passed over" not in result.stdout, (path, result)
    met = check("", "--offline", "deploy", "-o", "json")
    assert met.returncode == USAGE
    report = json.loads(met.stdout)
    faults = [each for each in report["findings"] if each["severity"] == "error"]
    assert [each["file"] for each in faults] == [
        "deploy/main.cue", "deploy/main.jsonnet", "deploy/overlay/kustomization.yaml",
        "deploy/shop/Chart.yaml"], faults
    assert [each["name"] for each in report["declarations"]] == ["free-bucket"], "none of theirs is judged"
    # What names no folder of its own.
    kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"
    piped = check(kustomization, "--offline")
    assert piped.returncode == USAGE and "kubectl kustomize FOLDER | truce check" in piped.stderr, piped
    flux = check(kustomization.replace("config", "toolkit").replace("k8s.io", "fluxcd.io") + "metadata: {name: a}\n",
                 "--offline")
    assert flux.returncode == OK, "Flux's objects are manifests"


def test_skip_leaves_out_on_purpose(check):
    folder = check.directory / "deploy"
    (folder / "shop/templates").mkdir(parents=True)
    (folder / "overlay").mkdir()
    (folder / "plain.yaml").write_text(BUCKET)
    (folder / "shop/Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 0.1.0\n")
    (folder / "overlay/kustomization.yaml").write_text("resources: [bucket.yaml]\n")
    (folder / "overlay/bucket.yaml").write_text(documents(objects.bucket("four", "another-bucket")))
    (folder / "main.cue").write_text('apiVersion: "v1"\n')

    def names(*args: str) -> list[str]:
        result = check("", "--offline", *args, "-o", "json")
        assert result.returncode == OK, result
        return [each["name"] for each in json.loads(result.stdout)["declarations"]]

    without = ["--skip", "deploy/shop/", "--skip", f"{folder}/main.cue"]
    assert names("deploy", *without, "--skip", "./deploy/overlay") == ["free-bucket"]
    # A kustomization that is skipped makes no kustomization of its folder.
    assert names("deploy", *without, "--skip", "deploy/overlay/kustomization.yaml") == [
        "another-bucket", "free-bucket"]
    # As pre-commit names the files of a commit: what is skipped is no reason to fail.
    assert names("deploy/shop/Chart.yaml", *without) == []
    assert check("", "--offline", "deploy", "--skip", "deploy/shop").returncode == USAGE


def places(check, *args: str, text: str = "") -> tuple[list[str], list[list]]:
    """Where GitHub's annotations and code scanning show the errors of a check."""
    result = check(text, "--offline", *args, "-o", "github", "-o", "sarif=out.sarif")
    annotated = [line.removeprefix("::error ").partition("title=")[0]
                 for line in result.stdout.splitlines() if line.startswith("::error ")]
    [run] = json.loads((check.directory / "out.sarif").read_text())["runs"]
    shown = []
    for each in run["results"]:
        if each["level"] == "error":
            shown.append([(at["physicalLocation"]["artifactLocation"]["uri"],
                           at["physicalLocation"].get("region", {}).get("startLine"))
                          for at in each["locations"]])
    return annotated, shown


def test_lines_are_those_of_files_in_the_repository(check, tmp_path):
    twice = documents(objects.bucket("one", "free-bucket"), objects.bucket("two", "free-bucket"))
    line = max(number for number, text in enumerate(twice.splitlines(), 1) if "free-bucket" in text)
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "deploy/a b").mkdir(parents=True)
    (repository / "deploy/a b/x.yaml").write_text(twice)
    (tmp_path / "outside.yaml").write_text(twice)
    rendered = "".join(f"---\n# Source: shop/templates/{name}.yaml\n{text}" for name, text in zip(
        ("one", "two"), twice.split("---\n"), strict=True))

    def shown(folder: Path, *args: str, text: str = ""):
        return places(Check(folder), *args, text=text)

    # Wherever the check runs, and however the file is named.
    for folder, path in ((repository, "deploy/a b"), (repository / "deploy", "a b/x.yaml"),
                         (repository / "deploy/a b", "../a b")):
        annotated, sarif = shown(folder, path)
        assert [each.split(",col")[0] for each in annotated] == [f"file=deploy/a b/x.yaml,line={line}"], folder
        assert sarif == [[("deploy/a%20b/x.yaml", line)]], folder
    absolute, _ = shown(repository, str(repository / "deploy/a b/x.yaml"))
    assert absolute[0].startswith("file=deploy/a b/x.yaml,line="), absolute
    # Nothing where there is no such file.
    assert shown(repository, str(tmp_path / "outside.yaml")) == ([""], [[]])
    assert shown(repository, text=twice) == ([""], [[]])
    assert shown(repository, text=rendered) == ([""], [[]])
    # Of a template Helm names the file, below the chart's name; its lines are not those of the input.
    (repository / "charts/shop/templates").mkdir(parents=True)
    (repository / "charts/shop/templates/two.yaml").write_text("{{ .Values.name }}\n")
    template = (["file=charts/shop/templates/two.yaml,"], [[("charts/shop/templates/two.yaml", None)]])
    assert shown(repository, text=rendered) == ([""], [[]])
    assert shown(repository, "--path-prefix", "charts", text=rendered) == template
    assert shown(repository, "--path-prefix", "charts/shop/", text=rendered) == template
    assert shown(repository / "charts", text=rendered) == template
    assert shown(repository / "charts/shop", text=rendered) == template
    (tmp_path / "rendered.yaml").write_text(rendered)
    assert shown(repository, str(tmp_path / "rendered.yaml"), "--path-prefix", "charts") == template
    # Where the folder is a part of the repository that cannot be seen from here.
    part = tmp_path / "part"
    part.mkdir()
    (part / "x.yaml").write_text(twice)
    assert shown(part, "x.yaml", "--path-prefix", "deploy")[1] == [[("deploy/x.yaml", line)]]


def test_names_stay_what_was_written(check):
    text = """
apiVersion: s3.aws.m.upbound.io/v1beta1
kind: Bucket
metadata: {name: plain, annotations: {crossplane.io/external-name: %s}}
spec: {forProvider: {region: eu-west-1}}
"""
    for name in ("0123", "1.10", "0x1f", "1e3", "123"):
        report = json.loads(check(text % name, "--offline", "-o", "json").stdout)
        assert [d["name"] for d in report["declarations"]] == [name]
        assert "plain-scalar" in {f["rule"] for f in report["findings"]}
        quoted = json.loads(check(text % f'"{name}"', "--offline", "-o", "json").stdout)
        assert [d["name"] for d in quoted["declarations"]] == [name]
        assert "plain-scalar" not in {f["rule"] for f in quoted["findings"]}


def test_what_a_crd_takes_needs_no_quotes(check):
    text = """
apiVersion: elbv2.aws.upbound.io/v1beta1
kind: LBListener
metadata: {name: https}
spec:
  forProvider: {region: eu-west-1, port: %s, loadBalancerArnSelector: {matchLabels: {app: shop}}}
"""
    report = json.loads(check(text % 443, "--offline", "-o", "json").stdout)
    assert "plain-scalar" not in {f["rule"] for f in report["findings"]}, report
    rule = """
apiVersion: ec2.aws.upbound.io/v1beta1
kind: NetworkACLRule
metadata: {name: in}
spec: {forProvider: {region: eu-west-1, networkAclId: acl-0123456789abcdef0, ruleNumber: 100, egress: %s}}
"""
    for egress in ("true", "null"):
        report = json.loads(check(rule % egress, "--offline", "-o", "json").stdout)
        assert "plain-scalar" not in {f["rule"] for f in report["findings"]}, report
    report = json.loads(check(text % "0443", "--offline", "-o", "json").stdout)
    assert "plain-scalar" in {f["rule"] for f in report["findings"]}, "kubectl reads 291"


VALUES_RULE = {
    "mappings": [{
        "chartValues": True,
        "service": "appName",
        "declares": [{"type": "s3/Bucket", "parts": {"name": "objectStorage.*.name"}}],
    }]
}


def test_values(check):
    (check.directory / "truce.yaml").write_text(json.dumps(VALUES_RULE))
    (check.directory / "values.yaml").write_text(
        "appName: my-srv\nobjectStorage:\n  my-key: {name: shared-bucket}\n  other:\n    name: shared-bucket\n")
    flags = ["--values", "values.yaml", "--config", "truce.yaml", "--offline"]
    result = check("", *flags)
    assert result.returncode == NO
    assert result.stdout.startswith('values.yaml:5: error: S3 bucket "shared-bucket" is declared twice')
    without = check("", "--values", "values.yaml", "--offline")
    assert without.returncode == USAGE and "chartValues" in without.stderr
    (check.directory / "values.yaml").write_text("[]")
    assert check("", *flags).returncode == USAGE


def test_values_by_the_rule_of_the_registry(check, api):  # noqa: F811
    (check.directory / "values.yaml").write_text(
        "appName: my-srv\nobjectStorage:\n  a: {name: prod-one}\n  b:\n    name: free-bucket\n")
    flags, token = remote(api)
    command = ["--values", "values.yaml", "-n", "team-b", *flags]
    without = check("", *command, **token)
    assert without.returncode == USAGE and "no mapping rule says" in without.stderr
    named = check("", *command, "--mapping", "charts", **token)
    assert named.returncode == USAGE and "no DeclarationMapping 'charts'" in named.stderr
    offline = check("", "--values", "values.yaml", "--mapping", "charts", "--offline")
    assert offline.returncode == USAGE and "--config" in offline.stderr

    api.truce.write_config({**api.config, "mappings": api.config["mappings"] + VALUES_RULE["mappings"]})
    assert wait_for(lambda: check("", *command, **token).returncode != USAGE)
    refused = check("", *command, **token)
    assert refused.returncode == NO, refused.stderr
    assert refused.stdout.startswith('values.yaml:3: error: S3 bucket "prod-one" is owned by')
    report = json.loads(check("", *command, "-o", "json", **token).stdout)
    assert [each["name"] for each in report["declarations"]] == ["prod-one", "free-bucket"]
    assert check("", *command[:2], "-n", "team-a", *flags, **token).returncode == OK


def test_ten_thousand_documents(check):
    bucket = documents(objects.bucket("NAME", "EXTERNAL"))
    text = "---\n".join(bucket.replace("NAME", f"b{i}").replace("EXTERNAL", f"bucket-{i}")
                        for i in range(10_000))
    (check.directory / "many.yaml").write_text(text)
    # From a small process: what a child has used at most counts its parent's memory, too.
    measure = ("import json, resource, subprocess, sys; "
               "done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
               "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
               "print(json.dumps([done.returncode, done.stdout, used.ru_utime + used.ru_stime,"
               " used.ru_maxrss * 1024]))")
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", measure, str(BINARY), "check", "--offline", "many.yaml"],
        cwd=check.directory, capture_output=True, check=True, timeout=60)
    elapsed = time.monotonic() - begin
    code, output, seconds, memory = json.loads(done.stdout)
    assert (code, output.splitlines()[-1].split(":")[0]) == (
        OK, "10000 documents, 10000 declared resources")
    assert seconds < SECONDS_MAX and memory < BYTES_MAX
    assert elapsed < 3 * SECONDS_MAX  # on a busy machine; a quarter of a second on an idle one


def test_a_server_without_cluster_judges_checks_too(tmp_path):
    """Nothing keeps the object there; the verdict is the same."""
    check = {"apiVersion": "truce.dev/v1alpha1", "kind": "OwnershipCheck",
             "metadata": {"name": "mine", "namespace": "team-a"},
             "spec": {"declarations": [{"type": "s3/Bucket", "name": "free-bucket"}]}}
    with TruceProcess(tmp_path, {"mode": "enforce"}) as truce, truce.reviewer() as reviewer:
        for _ in range(2):
            status, answer = reviewer.post(json.dumps(creation(check)).encode(), "/validate-check")
            assert status == 200 and answer["response"]["allowed"], answer
