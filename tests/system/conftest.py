"""Runs the built program as its users do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.truce_process import BINARY, REPOSITORY, TruceProcess, require_binary


class Cli:
    """The program, with an environment that holds no TRUCE_ variables but those given."""

    def __init__(self, directory: Path):
        self.directory = directory

    def __call__(self, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TRUCE_")}
        return subprocess.run(
            [str(BINARY), *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.directory,
            env=environment | variables,
        )

    def file(self, name: str, text: str | bytes) -> str:
        """Writes a file into the working directory and returns its name."""
        data = text.encode() if isinstance(text, str) else text
        (self.directory / name).write_bytes(data)
        return name


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    require_binary()
    return Cli(tmp_path)


@pytest.fixture
def truce(tmp_path: Path):
    """A server that is not started yet; stopped at the end."""
    process = TruceProcess(tmp_path, config={"logFormat": "json"})
    yield process
    process.stop()


@pytest.fixture
def scripted_api():
    """The kubeconfig of a scripted API server with one kind."""
    with subprocess.Popen([str(REPOSITORY / "build/release/truce_scripted_api"), "--objects", "0"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Path(json.loads(process.stdout.readline())["kubeconfig"])
        process.stdin.close()
        process.wait(30)


@pytest.fixture
def servers(tmp_path):
    """Makes servers of one cluster, each with a folder of its own; all are ended."""
    made = []

    def make(kubeconfig: Path | None = None, **config) -> TruceProcess:
        directory = tmp_path / f"server-{len(made)}"
        directory.mkdir()
        made.append(TruceProcess(directory, kubeconfig=kubeconfig,
                                 config={"logFormat": "json", "storeDurability": "single", **config}))
        made[-1].cluster_id = made[0].cluster_id
        return made[-1]

    yield make
    for server in made:
        server.stop()
