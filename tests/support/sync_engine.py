"""Argo CD's sync of an application, by its own engine driven as its application controller drives it
(peers/argocd-sync)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from support.cluster import PEERS, REPOSITORY
from support.processes import Child, wait_for

HEALTH_CHECKS = REPOSITORY / "charts/truce/files/argocd/argocd-cm.yaml"
# Beyond any operation of a test, on a busy machine.
SYNC_SECONDS = 120


@dataclass(frozen=True)
class Outcome:
    """How an operation ended: what Argo CD shows at the head of the application, and in its table of
    results."""

    phase: str
    message: str
    resources: list[dict]

    def row(self, kind: str) -> dict:
        """The only row of that kind."""
        rows = [each for each in self.resources if f"/{kind}/" in each["resource"]]
        assert len(rows) == 1, self
        return rows[0]


class Sync:
    """One operation, running. External synchronization; begin it from the main thread."""

    def __init__(self, kubeconfig: Path, application: str, namespace: str, directory: Path):
        self._directory = directory
        self._arguments = [
            "--kubeconfig", str(kubeconfig), "--application", application,
            "--namespace", namespace, "--health", str(HEALTH_CHECKS),
            "--timeout", f"{SYNC_SECONDS}s",
        ]
        self._child: Child | None = None

    def begin(self, manifests: str) -> "Sync":
        self._directory.mkdir(parents=True)
        path = self._directory / "manifests.yaml"
        path.write_text(manifests)
        self._child = Child(
            "argocd-sync", [str(PEERS / "argocd-sync"), *self._arguments, str(path)], self._log())
        return self

    def end(self, meanwhile=lambda: None) -> Outcome:
        """Waits until the operation has ended; `meanwhile` is what the cluster's controllers do."""

        def ended() -> bool:
            meanwhile()
            return self._child.exit_code is not None

        wait_for(ended, SYNC_SECONDS + 30, "the end of the sync")
        assert self._child.exit_code in (0, 1), self._child.tail()
        found = json.loads(self._log().read_text().splitlines()[-1])
        return Outcome(found["phase"], found["message"], found["resources"] or [])

    def stop(self) -> None:
        if self._child is not None:
            self._child.kill()

    def _log(self) -> Path:
        return self._directory / "argocd-sync.log"
