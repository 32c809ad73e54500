"""Argo CD's sync engine (gitops-engine's agent) on a folder of manifests, as an application has it."""

from __future__ import annotations

import re
import subprocess
import urllib.request
from pathlib import Path

from support.cluster import PEERS
from support.processes import Child, free_port, wait_for


class Application:
    """One application: a git repository with what is to be in one namespace, and the engine that
    syncs it. External synchronization; start it from the main thread."""

    def __init__(self, name: str, namespace: str, directory: Path, kubeconfig: Path):
        self.repository = directory / name
        self.repository.mkdir(parents=True)
        self._log = directory / f"{name}.log"
        self._port = free_port()
        self._synced = 0  # Where the log of the present sync begins.
        self._git("init", "--quiet")
        self._commit("")
        # It lists the whole cluster first, which takes a while.
        self._child = Child("sync engine", [
            str(PEERS / "gitops-agent"), str(self.repository), "--kubeconfig", str(kubeconfig),
            "--default-namespace", namespace, "--port", str(self._port),
            "--resync-seconds", "100000",
        ], self._log)

    def sync(self, manifests: str) -> None:
        """Commits the manifests and begins a sync. The engine's agent looks at a Job when the sync
        begins and never again, so a Job keeps it waiting for ever, where Argo CD itself looks
        again."""
        self.result()
        self._commit(manifests)
        self._synced = len(self.log())
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/api/v1/sync", timeout=30):
            pass

    def result(self) -> dict[str, str]:
        """The message of each resource, once the sync has ended: what Argo CD shows in its table of
        results."""
        begin = wait_for(self._table, 90, "the end of the sync")
        result: dict[str, str] = {}
        for line in self.log()[begin:].splitlines()[1:]:
            row = re.match(r"(\S*/\S+/\S*/\S+)  +(.*)", line)
            if row:
                result[row[1]] = row[2].strip()
            elif result:  # A message of several lines.
                result[next(reversed(result))] += f"\n{line}"
        return result

    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def stop(self) -> None:
        self._child.kill()

    def _table(self) -> int:
        """Where the table of results begins, once it is there."""
        begin = self.log().find("\nRESOURCE", self._synced)
        return begin + 1 if begin >= 0 and self.log().endswith("\n") else 0

    def _commit(self, manifests: str) -> None:
        (self.repository / "manifests.yaml").write_text(manifests)
        self._git("add", "--all")
        self._git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet",
                  "--allow-empty", "--message", "change")

    def _git(self, *args: str) -> None:
        subprocess.run(["git", *args], cwd=self.repository, check=True, capture_output=True)
