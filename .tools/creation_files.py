#!/usr/bin/env python3
"""Lists the product's files that a granted creation runs through in a warm server.

  creation_files.py     needs build/coverage/truce: cmake --preset coverage && cmake --build build/coverage --target truce

Two servers answer 1 and 101 creations on one connection; a line that ran at least 100 times more in the
second belongs to a creation. Timers and the start cancel out.
"""

import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections import Counter
from http.client import HTTPSConnection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
MORE = 100
sys.path.insert(0, str(ROOT / "tests"))
os.environ["TRUCE_BINARY"] = str(BUILD / "truce")

from bench.reviews import fresh_creates  # noqa: E402
from support.truce_process import TruceProcess, require_binary  # noqa: E402


def create(truce: TruceProcess, count: int) -> None:
    template = fresh_creates()
    host, _, port = truce.admission_address.rpartition(":")
    connection = HTTPSConnection(host, int(port), context=ssl._create_unverified_context(), timeout=60)
    for number in range(count):
        body = template.replace("@NAME@", f"measured-{number}")
        body = body.replace("@OBJECT@", f"object-{number}").replace("@REVIEW@", f"review-{number}")
        connection.request("POST", "/validate", body, {"Content-Type": "application/json"})
        reply = json.loads(connection.getresponse().read())
        if not reply["response"]["allowed"]:
            raise RuntimeError(f"refused: {reply}")
    connection.close()


def counts_of(creations: int) -> Counter:
    """How often each line of each source of the product ran."""
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    directory = Path(tempfile.mkdtemp(prefix="truce-creation-"))
    truce = TruceProcess(directory, config={})
    truce.start()
    create(truce, creations)
    truce.stop()
    found = Counter()
    for data in BUILD.rglob("*.gcda"):
        # One at a time: the reports of two batches of one name would lie in one file.
        report = subprocess.run(["gcov", "--json-format", "--stdout", data], check=True, capture_output=True,
                                text=True).stdout
        for file in json.loads(report)["files"]:
            # The compiler leaves out the folder of the checkout (.tools/hardening.cmake).
            names = [(folder / file["file"]).resolve() for folder in (ROOT, BUILD)]
            name = next((name for name in names if name.is_file()), Path("/"))
            if not name.is_relative_to(ROOT) or name.is_relative_to(ROOT / "build"):
                continue
            for line in file["lines"]:
                found[str(name.relative_to(ROOT)), line["line_number"]] += line["count"]
    shutil.rmtree(directory)
    return found


def main() -> int:
    require_binary()
    few, many = counts_of(1), counts_of(1 + MORE)
    lines = Counter(name for (name, number), count in many.items() if count - few[name, number] >= MORE)
    for name, count in sorted(lines.items()):
        print(f"{count:5} lines  {name}")
    sources = [name for name in lines if name.endswith(".cc")]
    print(f"{len(lines)} files, {len(sources)} of them sources (.cc)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
