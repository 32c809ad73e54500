"""A disk that fails to sync the registry of one child, while the tests say so."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


class FailingSync:
    """Give `env` to a child. External synchronization."""

    def __init__(self, directory: Path):
        library = directory / "failing_sync.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True
        )
        self._switch = directory / "sync-fails"
        self.env = {"LD_PRELOAD": str(library), "FAILING_SYNC": str(self._switch)}

    def begin(self) -> None:
        self._switch.touch()

    def end(self) -> None:
        self._switch.unlink()
