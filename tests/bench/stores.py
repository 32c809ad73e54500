"""Registries of a given size, made once for each version of the schema and copied for each run."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from support.truce_process import BINARY, REPOSITORY

FILL_STORE = BINARY.parent / "fill_store"
WORK = REPOSITORY / "build" / "bench"
FILL_SECONDS_MAX = 600


@dataclass(frozen=True)
class Sample:
    """An object in the registry, and the bucket that it owns."""

    object: str
    uid: str
    bucket: str


class Templates:
    """Filled data directories under build/bench/stores. External synchronization."""

    def __init__(self) -> None:
        if not FILL_STORE.exists():
            raise RuntimeError(f"{FILL_STORE} does not exist: build it first (make bench)")
        # What decides how a registry looks on disk; other changes are not worth filling it anew.
        sources = [Path(__file__).with_name("fill_store.cc")]
        sources += sorted((REPOSITORY / "schema" / "sqlite").glob("*.sql"))
        sources += [REPOSITORY / "schema" / "aws-types.tsv"]
        version = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
        self._folder = WORK / "stores" / version.hexdigest()[:12]
        (WORK / "stores").mkdir(parents=True, exist_ok=True)
        for old in (WORK / "stores").glob("*"):
            if old != self._folder:
                shutil.rmtree(old)

    def copy(self, ownerships: int, directory: Path) -> list[Sample]:
        """Puts a registry of this size into `directory`, which must not exist. It is on the disk
        when this returns."""
        template = self._template(ownerships)
        subprocess.run(
            ["cp", "-r", "--reflink=auto", str(template), str(directory)], check=True
        )
        # Else the kernel writes it during a run, whose commits wait up to 0.2 s for that.
        os.sync()
        lines = (directory / "samples.txt").read_text().splitlines()
        return [Sample(*line.split()) for line in lines]

    def _template(self, ownerships: int) -> Path:
        template = self._folder / str(ownerships)
        if template.exists():
            return template
        unfinished = template.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        print(f"filling a registry with {ownerships:,} ownerships ...", flush=True)
        began = time.monotonic()
        with open(unfinished / "samples.txt", "wb") as samples:
            subprocess.run(
                [str(FILL_STORE), str(unfinished), str(ownerships)],
                stdout=samples,
                check=True,
                timeout=FILL_SECONDS_MAX,
            )
        unfinished.rename(template)
        print(f"  done in {time.monotonic() - began:.0f} s", flush=True)
        return template
