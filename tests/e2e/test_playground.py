"""`make playground`, as a newcomer uses it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.cluster import PEERS, REPOSITORY
from support.processes import wait_for

EXAMPLES = REPOSITORY / "tests/e2e/playground"


@pytest.mark.rotating(12)
def test_the_playground_shows_a_name_refused_held_and_released_and_leaves_nothing(tmp_path):
    output = tmp_path / "output.txt"
    with open(output, "w") as file:
        playground = subprocess.Popen(
            [sys.executable, str(REPOSITORY / "tests/e2e/playground.py")],
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=REPOSITORY,
        )
    try:
        shown = wait_for(
            lambda: playground.poll() is not None
            or re.search(r"^ *export KUBECONFIG=(\S+)", output.read_text(), re.MULTILINE),
            90,
            "the KUBECONFIG line",
        )
        assert playground.poll() is None, output.read_text()
        directory = Path(shown[1]).parents[1]
        results = [kubectl(shown[1], "apply", name) for name in ("service-a", "service-b", "bucket-b")]
        assert [done.returncode == 0 for done in results] == [True, False, False], results
        for done in results[1:]:
            assert "prod-artifacts" in done.stderr and "team-a/artifacts" in done.stderr
        exports = "\n".join(re.findall(r"^ *(export .*)$", output.read_text(), re.MULTILINE))

        def listing() -> str:
            return shell(f"{exports}\ntruce list")

        wait_for(lambda: "held" in listing(), 20, "held")
        assert "service-a" in listing()
        assert kubectl(shown[1], "delete", "service-a").returncode == 0
        wait_for(lambda: "prod-artifacts" not in listing(), 20, "released")
        assert kubectl(shown[1], "apply", "service-b").returncode == 0
        assert "service-b" in listing()
        wait_for(lambda: states_told(output)[:3] == ["reserved", "held", "released"], 20, "told")
        children = children_of(playground.pid)
        assert len(children) == 3, children
    finally:
        playground.send_signal(signal.SIGINT)
        code = playground.wait(60)
    assert code == 0, output.read_text()
    assert not directory.exists()
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []


def states_told(output: Path) -> list[str]:
    return re.findall(r"s3/Bucket prod-artifacts: (\w+)", output.read_text())


def shell(script: str) -> str:
    return subprocess.run(
        ["bash", "-ec", script], cwd=REPOSITORY, capture_output=True, text=True, timeout=60
    ).stdout


def kubectl(kubeconfig: str, verb: str, name: str):
    return subprocess.run(
        [PEERS / "kubectl", verb, "-f", EXAMPLES / f"{name}.yaml"],
        env={**os.environ, "KUBECONFIG": kubeconfig},
        capture_output=True,
        text=True,
        timeout=60,
    )


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]
