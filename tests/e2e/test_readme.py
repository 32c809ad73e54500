"""The commands of the manual about a real cluster, run as they stand there."""

import os
import re
import subprocess

import pytest

from support.cluster import PEERS, REPOSITORY
from support.objects import namespaced_bucket
from support.processes import Child, free_port, wait_for
from support.provider import make_real
from support.truce_process import BINARY

HEADING = "## Find, share, hand over, import\n"
SECONDS = 60


def commands() -> list[str]:
    """Every command of the page's shell blocks before "The page", in order."""
    section = (REPOSITORY / "docs/developers.md").read_text().split(HEADING)[1].split("\n## The page")[0]
    lines = [line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
             for line in block.splitlines() if line.strip()]
    assert len(lines) >= 15
    return lines


@pytest.fixture
def shell(follow, cluster, tmp_path):
    truce = follow()
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "truce").symlink_to(BINARY)
    (programs / "kubectl").symlink_to(PEERS / "kubectl")
    env = {name: value for name, value in os.environ.items() if not name.startswith("TRUCE_")}
    env |= {"PATH": f"{programs}:{env['PATH']}", "KUBECONFIG": str(cluster.kubeconfig("admin")),
            "TRUCE_DATA_DIR": str(truce.data)}

    def run(command: str) -> str:
        done = subprocess.run(["bash", "-ec", command], capture_output=True, text=True, env=env,
                              cwd=REPOSITORY, timeout=SECONDS, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    return run


def test_the_readme_is_followed(shell, user):
    said = []
    for command in commands():
        said.append((command, shell(command)))
        if "walk/team-a" in command:
            made = namespaced_bucket("artifacts", "team-a", "prod-artifacts")
            make_real(user("provider"), made)

    def of(start: str) -> list[str]:
        return [text for command, text in said if command.startswith(start)]

    first, last = of("truce who-owns prod-artifacts")
    assert "team-a/artifacts" in first and "team-b/artifacts" in last
    assert "team-b" in of("truce share")[0]
    assert "prod-artifacts" in of("truce list --shared")[0]
    assert "[todo]" in of("truce transfer prod-artifacts --to")[0]
    plan, applied = of("truce import")
    assert "2 new" in plan and "imported" in applied
    assert "network" in of("truce who-owns flow-logs")[0]
    assert "flow-logs" in of("truce release s3/Bucket flow-logs")[0]
    assert "nobody owns" in shell("truce who-owns flow-logs 2>&1 || [ $? = 1 ]")
    assert shell("kubectl get ownershipgrants -A") == ""


def outside_blocks() -> list[str]:
    """The section for a server outside the cluster: what starts it, what registers it."""
    section = (REPOSITORY / "docs/outside-the-cluster.md").read_text().split("## Point a real cluster at it\n")[1]
    blocks = re.findall(r"```\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    assert len(blocks) == 2
    return blocks


def test_a_real_cluster_is_pointed_at_it(own_cluster, tmp_path):
    """As it stands but for the port and the data directory, which are those of this test, and the
    name of the machine, which is the loopback's."""
    data, port = tmp_path / "data", free_port()
    serve, register = (
        block.replace("/var/lib/truce", str(data)).replace(":8443", f":{port}")
        for block in outside_blocks()
    )
    work = tmp_path / "work"
    work.mkdir()
    (work / "build").symlink_to(REPOSITORY / "build")
    (tmp_path / "home/.kube").mkdir(parents=True)
    (tmp_path / "home/.kube/config").symlink_to(own_cluster.kubeconfig("admin"))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to(PEERS / "kubectl")
    (programs / "hostname").write_text("#!/bin/sh\necho localhost\n")
    (programs / "hostname").chmod(0o755)
    env = {"HOME": str(tmp_path / "home"), "PATH": f"{programs}:{os.environ['PATH']}",
           "TRUCE_METRICS_ADDRESS": "127.0.0.1:0", "TRUCE_PROBES_ADDRESS": "127.0.0.1:0",
           "TRUCE_API_ADDRESS": "127.0.0.1:0"}

    def run(command: str) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", "-ec", command], capture_output=True, text=True,
                              env=os.environ | env, cwd=work, timeout=SECONDS, check=False)

    def example(verb: str, name: str) -> str:
        done = run(f"kubectl {verb} -f {REPOSITORY}/tests/e2e/playground/{name}.yaml")
        assert done.returncode == 0, done.stderr
        return done.stderr

    server = Child("truce", ["bash", "-ec", f"cd {work}\n{serve}"], tmp_path / "truce.log", env)
    try:
        server.wait_until(lambda: " ready" in server.log.read_text(), SECONDS, "ready")
        registered = run(register)
        assert registered.returncode == 0, registered.stderr
        example("apply", "service-a")
        wait_for(lambda: "Warning" in example("create --dry-run=server", "service-b"), SECONDS,
                 "a webhook that warns")
        warning = example("apply", "service-b")
        assert "prod-artifacts" in warning and "team-a/artifacts" in warning
    finally:
        server.kill()
