"""How long a start takes that finds a large write-ahead log: build/venv/bin/python
tests/bench/start_after_kill.py [DIRECTORY]. Not part of `make bench`: it has no bound to keep."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.truce_process import TruceProcess

MEBIBYTE = 1 << 20
ROWS = """REPLACE INTO settings
SELECT 'f' || ? || '-' || value, hex(randomblob(500)) FROM (
  WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 1000)
  SELECT value FROM n)"""


def leave_log(database: Path, mebibytes: int) -> int:
    """Another process fills the log and is killed; the log's size."""
    log = database.with_name(database.name + "-wal")
    child = os.fork()
    if child == 0:
        writer = sqlite3.connect(database, isolation_level=None)
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        number = 0
        while not log.exists() or log.stat().st_size < mebibytes * MEBIBYTE:
            writer.execute(ROWS, (number,))
            number += 1
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    os.sync()
    return log.stat().st_size


def start(directory: Path) -> float:
    begin = time.monotonic()
    with TruceProcess(directory):
        return time.monotonic() - begin


def main() -> None:
    for mebibytes in (64, 256):
        with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
            directory = Path(name)
            start(directory)
            size = leave_log(directory / "data/truce.db", mebibytes)
            after, next_one = start(directory), start(directory)
            print(f"log of {size / MEBIBYTE:.0f} MiB: {after:.2f} s, the next start {next_one:.2f} s",
                  flush=True)


if __name__ == "__main__":
    main()
