"""The wall clock of one child, moved ahead by the tests while it runs."""

from __future__ import annotations

from pathlib import Path

from support.preload import preload


class ShiftedClock:
    """Give `env` to a child; advance() moves its clock at once. External synchronization."""

    def __init__(self, directory: Path):
        self._file = directory / "clock-shift"
        self._seconds = 0
        self.advance(0)
        self.env = preload(__file__, directory) | {"SHIFTED_CLOCK": str(self._file)}

    def advance(self, seconds: int) -> None:
        self._seconds += seconds
        fresh = self._file.with_suffix(".new")
        fresh.write_text(str(self._seconds * 1000))
        fresh.replace(self._file)
