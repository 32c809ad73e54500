"""A disk that fails to sync the registry of one child, while the tests say so."""

from __future__ import annotations

from pathlib import Path

from support.preload import preload


class FailingSync:
    """Give `env` to a child. External synchronization."""

    def __init__(self, directory: Path):
        self._switch = directory / "sync-fails"
        self.env = preload(__file__, directory) | {"FAILING_SYNC": str(self._switch)}

    def begin(self) -> None:
        self._switch.touch()

    def end(self) -> None:
        self._switch.unlink()
