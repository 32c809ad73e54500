"""A name server that tells nothing of the hosts under `silent.test`."""

from __future__ import annotations

from pathlib import Path

from support.preload import preload


class SilentResolver:
    """Give `env` to a child. External synchronization."""

    def __init__(self, directory: Path):
        switch = directory / "resolver-is-silent"
        switch.touch()
        self.env = preload(__file__, directory) | {"SILENT_RESOLVER": str(switch)}
