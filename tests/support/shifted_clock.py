"""The wall clock of one child, moved ahead by the tests while it runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


class ShiftedClock:
    """Give `env` to a child; advance() moves its clock at once. External synchronization."""

    def __init__(self, directory: Path):
        library = directory / "shifted_clock.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True
        )
        self._file = directory / "clock-shift"
        self._seconds = 0
        self.advance(0)
        self.env = {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(self._file)}

    def advance(self, seconds: int) -> None:
        self._seconds += seconds
        fresh = self._file.with_suffix(".new")
        fresh.write_text(str(self._seconds * 1000))
        fresh.replace(self._file)
