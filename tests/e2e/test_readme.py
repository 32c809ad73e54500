"""The README's way from finding an owner to importing a Terraform state, run as it stands there."""

import os
import re
import subprocess

import pytest

from support.cluster import PEERS, REPOSITORY
from support.objects import namespaced_bucket
from support.provider import make_real
from support.truce_process import BINARY

HEADING = "## Find, share, hand over, import\n"
SECONDS = 60


def commands() -> list[str]:
    """Every command of the section's shell blocks, in order; not the last one, which needs a Pod."""
    section = (REPOSITORY / "README.md").read_text().split(HEADING)[1].split("\n## ")[0]
    lines = [line for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
             for line in block.splitlines() if line.strip()]
    assert len(lines) >= 15
    assert "--as" in lines[-1]  # test_command_line.py
    return lines[:-1]


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
    assert shell("kubectl get ownershipgrants -A") == ""
