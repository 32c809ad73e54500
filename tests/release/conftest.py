"""What takes minutes: `make release-test`, after `make release`."""

from __future__ import annotations

import http.client
import subprocess
from pathlib import Path

import pytest

from support.truce_process import REPOSITORY


def run(*command: str | Path, **more) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def answers_well(port: int, path: str) -> bool:
    """Whether a server of this machine answers a GET with 200."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except OSError:
        return False


@pytest.fixture(scope="session")
def dist() -> Path:
    folder = REPOSITORY / "build/dist"
    assert (folder / "SHA256SUMS").is_file(), "build/dist is missing: make release"
    run("sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS", cwd=folder)
    return folder
