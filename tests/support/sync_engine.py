"""Argo CD's sync engine (gitops-engine's agent) on a folder of manifests, as an application has it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.cluster import PEERS
from support.processes import Child, free_port


class Application:
    """One application: a git repository with what is to be in one namespace, and the engine that
    syncs it. External synchronization."""

    def __init__(self, name: str, namespace: str, directory: Path, kubeconfig: Path):
        self.repository = directory / name
        self.repository.mkdir(parents=True)
        self._log = directory / f"{name}.log"
        self._command = [
            str(PEERS / "gitops-agent"), str(self.repository), "--kubeconfig", str(kubeconfig),
            "--default-namespace", namespace, "--port", str(free_port()),
            "--resync-seconds", "100000",
        ]
        self._child: Child | None = None
        self._git("init", "--quiet")

    def sync(self, manifests: str) -> None:
        """Commits the manifests and begins a sync. Once: the engine's agent looks at the hooks of a
        sync when it begins and never again, so a Job keeps it waiting; Argo CD itself looks again."""
        (self.repository / "manifests.yaml").write_text(manifests)
        self._git("add", "--all")
        self._git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet",
                  "--message", "change")
        self._child = Child("sync engine", self._command, self._log)

    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def stop(self) -> None:
        if self._child is not None:
            self._child.kill()

    def _git(self, *args: str) -> None:
        subprocess.run(["git", *args], cwd=self.repository, check=True, capture_output=True)
