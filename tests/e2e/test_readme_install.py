"""The manual's "Install", "Roll out on a live cluster in four steps" and "Add the
check to a service", run as they stand there by the real Helm on a real API server. The server is
started as its Pod would be."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
import yaml

from support.cluster import OWN_CRDS, PEERS, REPOSITORY
from support.helm import CHARTS, SERVER_CHART
from support.objects import bucket
from support.processes import wait_for
from support.release import (  # noqa: F401
    COPY,
    OWNER,
    eventually_refused,
    release,
)
from support.truce_process import BINARY
from support.verdicts import assert_refused, assert_unknown

SECONDS = 60
# What no kubelet does here: the server's container has its volume elsewhere.
EXEC = """
asked="$*"
if [[ "$asked" == *" exec deployment/truce -- truce "* ]]; then
  exec {binary} ${{asked##* -- truce }} --data-dir {data}
fi
exec {kubectl} "$@"
"""
# The stand-in for kube-proxy has changed the Service, which Helm 4 takes for a conflict.
UPGRADE = """
if [[ "$1" == upgrade && "$*" != *--install* ]]; then set -- "$@" {force}; fi
exec {helm} "$@"
"""


def blocks(path, heading: str) -> list[str]:
    """The code blocks of a section, each as it stands."""
    section = f"\n{path.read_text()}".split(f"\n{heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```\w*\n(.*?)^```", section, re.M | re.S)


class Shell:
    """A shell in the repository, with truce's image, kubectl and helm as a user has them."""

    def __init__(self, release, directory):  # noqa: F811
        self._programs = directory / "bin"
        self._programs.mkdir()
        helm = release.helm.version
        self._write("kubectl", EXEC.format(
            binary=shlex.quote(str(BINARY)), kubectl=PEERS / "kubectl",
            data=shlex.quote(str(release.pod.volume("data")))))
        self._write("helm", UPGRADE.format(
            helm=PEERS / f"helm{helm}", force="--force-conflicts" if helm == 4 else ""))
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("TRUCE_")
        } | {"PATH": f"{self._programs}:{os.environ['PATH']}", "HOME": str(directory),
             "KUBECONFIG": str(release.cluster.kubeconfig())}

    def run(self, command: str, folder=REPOSITORY) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-euc", command], cwd=folder, env=self._environment,
                              capture_output=True, text=True, timeout=SECONDS, check=False)

    def expect(self, command: str, folder=REPOSITORY) -> str:
        done = self.run(command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def ask(self, block: str) -> str:
        """What the commands answered; 1 is a no, not a failure."""
        answers = [self.run(command) for command in block.strip().splitlines()]
        assert all(done.returncode in (0, 1) and done.stdout for done in answers), answers
        return "".join(done.stdout for done in answers)

    def _write(self, name: str, script: str) -> None:
        path = self._programs / name
        path.write_text(f"#!/usr/bin/env bash{script}")
        path.chmod(0o755)


@pytest.fixture
def shell(release, cluster, tmp_path):  # noqa: F811
    # As before anybody installed Truce.
    done = cluster.kubectl("delete", "-f", str(OWN_CRDS), "--ignore-not-found", "--wait")
    assert done.returncode == 0, done.stderr
    yield Shell(release, tmp_path)
    cluster.apply_crds()


def make_service(directory, name: str, bucket_name: str):
    """A service's chart of the page's blocks, beside the library."""
    shutil.copytree(CHARTS, directory / "charts", dirs_exist_ok=True)
    dependency, line, values, _ = blocks(
        REPOSITORY / "docs/presync.md", "## Add the check to a service")
    chart = directory / "charts" / name
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n{dependency}")
    (chart / "templates/presync.yaml").write_text(line)
    example = CHARTS / "truce-check/examples/my-service/templates/buckets.yaml"
    shutil.copy(example, chart / "templates")
    storage = {"artifacts": {"name": bucket_name, "region": "eu-west-1"}}
    (chart / "values.yaml").write_text(
        values + yaml.safe_dump({"appName": name, "objectStorage": storage}))
    return chart


def add_the_check(shell: Shell, release, directory) -> None:  # noqa: F811
    text = (REPOSITORY / "docs/presync.md").read_text()
    (command,) = re.findall(r"^Helm: `(helm upgrade --install my-service .*?)`", text, re.M)
    existing = lambda: shell.expect("kubectl get buckets.s3.aws.upbound.io -o name")  # noqa: E731
    for name, bucket_name, taken in (("my-service", "my-service-artifacts", False),
                                     ("other", "my-service-artifacts", True),
                                     ("other", "other-artifacts", False)):
        chart = make_service(directory / f"{name}-{taken}", name, bucket_name)
        shell.expect("helm dependency build", chart)
        done = shell.run(command.replace("my-service", name), chart)
        assert (done.returncode != 0) == taken, done.stdout + done.stderr
        assert (f"{name}-artifacts" in existing()) != taken
        if taken:
            assert 'admission webhook "checks.truce.dev" denied the request' in done.stderr
            assert 'S3 bucket "my-service-artifacts" is owned by service "my-service"' in done.stderr
    shell.expect("helm uninstall my-service other")


@pytest.mark.slow(15)
def test_the_readmes_steps(release, shell, user, tmp_path):  # noqa: F811
    """Under Helm 4; test_chart_install.py has the roll-out under both."""
    other, double = user("team-b"), bucket("double", "prod-artifacts")
    made = user("team-a").create(OWNER).expect(201).body["metadata"]["creationTimestamp"]

    def is_younger() -> bool:
        reply = other.create(double, dry_run=True).expect(201)
        return reply.body["metadata"]["creationTimestamp"] > made

    wait_for(is_younger, SECONDS, "another second: the older one is the owner")
    other.create(double).expect(201)

    (install,) = [line for block in blocks(REPOSITORY / "README.md", "## Install")
                  for line in block.splitlines(keepends=True) if line.startswith("helm ")]
    assert install in (REPOSITORY / "docs/install.md").read_text()
    assert install in (SERVER_CHART / "README.md").read_text()
    assert 'Mode is "audit"' in shell.expect(install)
    # The ports of this machine instead of those of a Pod's own network.
    release.values = {key: release.values[key] for key in ("listen", "service")} | {
        "watchCluster": True, "config": {"drainGrace": "1s"}}
    release.upgrade_reusing()
    release.start()
    known = 'truce_ownerships{state="held"}'
    wait_for(lambda: release.server.metric(known) == 1, SECONDS, "the cluster read")

    audit, warn, enforce, fail = blocks(
        REPOSITORY / "docs/roll-out.md", "# Roll out on a live cluster in four steps")
    said = shell.ask(audit)
    assert "Bucket double" in said and "kinds" in said, said
    assert not other.create(COPY, dry_run=True).expect(201).warnings

    def step(block: str) -> str:
        upgrade, _, rest = block.partition("\n")
        shell.expect(upgrade)
        release.follow()
        return shell.ask(rest)

    assert "would" in step(warn)
    wait_for(lambda: other.create(COPY, dry_run=True).expect(201).warnings, SECONDS, "a warning")
    step(enforce)
    eventually_refused(other, COPY)
    assert_refused(other.create(COPY), "prod-artifacts", "service-a")
    add_the_check(shell, release, tmp_path)

    step(fail)
    release.pod.stop()
    reply = wait_for(
        lambda: next((r for r in [other.create(COPY, dry_run=True)] if not r.ok), None),
        SECONDS, "failurePolicy Fail in effect",
    )
    assert_unknown(reply)
