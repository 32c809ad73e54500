"""What people put into their pipelines: the steps of action.yml, the hooks of pre-commit."""

import functools
import hashlib
import http.server
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import pytest
import yaml

from support import objects
from support.truce_process import BINARY, require_binary

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
ARCHIVE = f"truce-9.8.7-linux-{ARCHITECTURE}"
TWICE = "---\n".join(yaml.safe_dump(objects.bucket(name, "shared-bucket")) for name in ("one", "two"))
HOOKS = ("truce-check", "truce-check-registry")


def value_of(expression: str, known: dict) -> str:
    """An expression of a workflow: names, `a || b`, `a == ''`."""
    if " == ''" in expression:
        return "true" if not value_of(expression.removesuffix(" == ''"), known) else ""
    for name in expression.split(" || "):
        if known.get(name.strip()):
            return known[name.strip()]
    assert all(name.strip() in known for name in expression.split(" || ")), expression
    return ""


class Action:
    """Runs the steps of action.yml as GitHub's runner does."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.definition = yaml.safe_load((ROOT / "action.yml").read_text())
        self.summary = folder / "summary.md"
        self.log = ""

    def __call__(self, **inputs: str) -> int:
        assert set(inputs) <= set(self.definition["inputs"]), inputs
        known = {f"inputs.{name}": str(inputs.get(name, given.get("default", "")))
                 for name, given in self.definition["inputs"].items()}
        known |= {"github.action_ref": "v9.8.7", "github.server_url": "https://github.example.org",
                  "github.action_repository": "acme/truce", "steps.fetch.outputs.binary": ""}
        self.log = ""
        for step in self.definition["runs"]["steps"]:
            if "if" in step and not value_of(step["if"], known):
                continue
            assert step["shell"] == "bash" and "${{" not in step["run"]
            code = self.run(step, known)
            if code:
                return code
        return 0

    def run(self, step: dict, known: dict) -> int:
        output = self.folder / "output"
        output.write_text("")
        variables = {name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: value_of(found[1], known), text)
                     for name, text in step["env"].items()}
        variables |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary),
                      "RUNNER_TEMP": str(self.folder), "PATH": os.environ["PATH"]}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                              capture_output=True, text=True, timeout=60, cwd=self.folder, env=variables)
        self.log += done.stdout + done.stderr
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            known[f"steps.{step['id']}.outputs.{name}"] = value
        self.outputs = {name: value_of(given["value"].strip("${ }"), known | {
            f"steps.check.outputs.{form}": known.get(f"steps.check.outputs.{form}", "")
            for form in self.definition["outputs"]}) for name, given in self.definition["outputs"].items()}
        return done.returncode


@pytest.fixture
def action(tmp_path: Path) -> Action:
    require_binary()
    return Action(tmp_path)


@pytest.fixture
def release(tmp_path: Path):
    """A folder with a release's files, and the address that serves it."""
    folder = tmp_path / "release"
    folder.mkdir()
    with tarfile.open(folder / f"{ARCHIVE}.tar.gz", "w:gz") as archive:
        archive.add(BINARY, f"{ARCHIVE}/truce")
    digest = hashlib.sha256((folder / f"{ARCHIVE}.tar.gz").read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  {ARCHIVE}.tar.gz\n")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}", digest
    server.shutdown()
    server.server_close()


def test_the_action_annotates_what_is_named_twice(action, tmp_path):
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy/a b.yaml").write_text(TWICE)
    assert action(binary=str(BINARY), files="deploy\n", offline="true") == 1, action.log
    (annotation,) = [line for line in action.log.splitlines() if line.startswith("::error ")]
    assert annotation.startswith("::error file=deploy/a b.yaml,line="), annotation
    assert "title=truce check (duplicate-ownership)::" in annotation and "declared twice" in annotation
    assert "| error | deploy/a b.yaml:" in action.summary.read_text()
    assert Path(action.outputs["markdown"]).read_text() == action.summary.read_text()
    assert json.loads(Path(action.outputs["json"]).read_text())["verdict"] == "refused"
    (rule,) = json.loads(Path(action.outputs["sarif"]).read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert rule["id"] == "duplicate-ownership" and "truce share" in rule["help"]["text"]


def test_the_action_passes_what_is_right_and_names_what_is_missing(action, tmp_path):
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(objects.bucket("one", "free-bucket")))
    assert action(binary=str(BINARY), files="one.yaml", offline="true") == 0, action.log
    assert "nothing wrong by themselves" in action.summary.read_text() or "0 errors" in action.summary.read_text()
    (tmp_path / "deploy/shop").mkdir(parents=True)
    (tmp_path / "deploy/shop/Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 0.1.0\n")
    assert action(binary=str(BINARY), files="deploy", offline="true") == 2
    assert "helm template deploy/shop | truce check" in action.log, action.log
    assert action(binary=str(BINARY), files="deploy\none.yaml", skip="deploy/shop\n", offline="true") == 0, action.log
    assert action(binary=str(BINARY), offline="true") == 2
    assert "set the input files or values" in action.log
    # What an input holds is never a command.
    assert action(binary=str(BINARY), files="$(touch bad); `touch bad`", offline="true") == 2
    assert not (tmp_path / "bad").exists()


def test_the_action_takes_plans_and_templates(action, tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps({"format_version": "1.2", "resource_changes": [
        {"address": "aws_sqs_queue.jobs", "mode": "managed", "type": "aws_sqs_queue", "name": "jobs",
         "change": {"actions": ["create"], "after": {"name": "prod-jobs"}}}]}))
    (tmp_path / "stack.yaml").write_text(
        "Resources: {Jobs: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub '${Stage}-${Name}'}}}\n"
        "Parameters: {Stage: {Type: String}, Name: {Type: String}}\n")
    given = {"files": "plan.json\nstack.yaml", "account": "123456789012", "region": "eu-west-1",
             "source": "terraform:jobs", "offline": "true", "binary": str(BINARY)}
    assert action(**given, parameters="Stage=dev\nName=jobs\n") == 0, action.log
    assert action(**given, parameters="Stage=prod\nName=jobs\n") == 1, action.log
    (annotation,) = [line for line in action.log.splitlines() if line.startswith("::error ")]
    assert annotation.startswith("::error file=stack.yaml,line=1,") and "first by aws_sqs_queue.jobs" in annotation


def test_the_action_reports_bad_input(action, tmp_path):
    """The manual's step comments on the pull request with this file, whatever was wrong."""
    (tmp_path / "bad.yaml").write_text("a: [\n")
    for inputs in ({"files": "bad.yaml", "offline": "true"}, {"files": "bad.yaml", "config": "no.yaml"}):
        assert action(binary=str(BINARY), **inputs) == 2, action.log
        report = Path(action.outputs["markdown"]).read_text()
        assert "not all of it could be checked" in report, report
        assert ("bad.yaml:2" if "offline" in inputs else "no.yaml") in report, report
    assert json.loads(Path(action.outputs["json"]).read_text())["verdict"] == "unread"
    # What never came so far has no report: then nothing is commented.
    assert action(binary=str(BINARY)) == 2 and action.outputs["markdown"] == ""
    step = (ROOT / "docs/check.md").read_text().split("run: gh pr comment")[0].splitlines()[-2]
    assert step == "- if: always() && steps.truce.outputs.markdown != ''", step


def test_the_action_fetches_the_release_of_its_tag(action, release, tmp_path):
    folder, address, digest = release
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(objects.bucket("one", "free-bucket")))
    asked = {"files": "one.yaml", "offline": "true", "download": address}
    assert action(**asked) == 0, action.log
    assert action(**asked, sha256=digest) == 0, action.log
    assert action(**asked, sha256="0" * 64) == 2
    assert "is not what was published" in action.log
    assert action(**asked, version="main") == 2
    assert "'main' is no release" in action.log
    (folder / f"{ARCHIVE}.tar.gz").write_bytes(b"something else")
    assert action(**asked) == 2
    (folder / f"{ARCHIVE}.tar.gz").unlink()
    assert action(**asked) == 2
    assert "cannot be fetched" in action.log


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], cwd=folder,
                   check=True, capture_output=True, timeout=60)


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """A repository that holds the hooks as this one does, at one commit."""
    folder = tmp_path / "hooks"
    folder.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "--message", "hooks")
    return folder


@pytest.mark.rotating(58)
def test_pre_commit_runs_the_hooks(hooks, tmp_path):
    require_binary()
    work = tmp_path / "service"
    (work / "chart/templates").mkdir(parents=True)
    (work / "chart/templates/bucket.yaml").write_text("name: {{ .Values.name }}\n")
    (work / "chart/values.yaml").write_text("name: a\n")
    (work / "one.yaml").write_text(yaml.safe_dump(objects.bucket("one", "free-bucket")))
    git(work, "init", "--quiet")
    git(work, "add", "-A")
    variables = os.environ | {"PATH": f"{BINARY.parent}:{os.environ['PATH']}",
                              "PRE_COMMIT_HOME": str(tmp_path / "cache")}

    def tried(hook: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "pre_commit", "try-repo", str(hooks), hook, "--all-files"],
                              cwd=work, env=variables, capture_output=True, text=True, timeout=120)

    done = tried(HOOKS[0])
    assert done.returncode == 0 and "Passed" in done.stdout, done.stdout + done.stderr
    (work / "two.yaml").write_text(yaml.safe_dump(objects.bucket("two", "free-bucket")))
    git(work, "add", "-A")
    done = tried(HOOKS[0])
    assert done.returncode == 1 and "declared twice in the input" in done.stdout, done.stdout + done.stderr
    variables["TRUCE_SERVER"] = "https://127.0.0.1:1"
    variables["TRUCE_TOKEN"] = "none"
    done = tried(HOOKS[1])
    assert done.returncode == 1 and "duplicate-ownership" in done.stdout, done.stdout + done.stderr


def test_every_hook_is_run_above():
    assert tuple(hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())) == HOOKS
