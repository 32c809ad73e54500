#!/usr/bin/env python3
"""Writes the registry of the release in the last row of releases.tsv as text, with the program TRUCE_BINARY (default
build/release/truce), which must be of that version. RELEASING.md says when.

  cd tests && ../build/venv/bin/python -m upgrade.dump
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from support.truce_process import BINARY, TruceProcess
from upgrade.registry import TOUR, dump, fill, releases


def main() -> int:
    last = releases()[-1]
    if last.dump.exists():
        print(f"{last.dump.name} is there already: what a release wrote is never written anew", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        truce = TruceProcess(Path(folder), config=yaml.safe_load(TOUR.read_text()))
        truce.cluster_id = "upgrade"
        with truce:
            version = subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.split()[-1]
            if version != last.version:
                print(f"the program is {version}, not {last.version}", file=sys.stderr)
                return 1
            fill(truce)
        last.dump.write_text(dump(truce.data / "truce.db"), encoding="utf-8")
    print(f"wrote {last.dump}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
