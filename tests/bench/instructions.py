"""Instructions of a review, which a busy machine does not change:

  cd tests && ../build/venv/bin/python -m bench.instructions BINARY [BINARY ...]

Each binary serves an empty registry under callgrind; the bodies are those of varied.py, through TLS, one at a time.
Prints a line for each kind of review: instructions of each binary and their ratio to the first. With --keep FOLDER
the profiles stay there, for callgrind_annotate.
"""

from __future__ import annotations

import argparse
import itertools
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import varied
from support import truce_process

WARM_UP = 60
REQUESTS = 600
START_SECONDS = 180.0


def _cost_of_requests(profile: Path) -> int:
    """Without the server's looks at its own certificates: they come by the clock, which callgrind makes fifty times
    as fast."""
    listed = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", str(profile)], check=True, capture_output=True, text=True
    ).stdout
    costs = [
        (int(line.split()[0].replace(",", "")), line) for line in listed.splitlines() if "%)" in line
    ]
    total = next(cost for cost, line in costs if "PROGRAM TOTALS" in line)
    looks = (cost for cost, line in costs if "CertificateStore::Impl::Poll()" in line)
    return total - next(looks, 0)


class Counted:
    """A server under callgrind. External synchronization; use as a context."""

    def __init__(self, binary: Path, directory: Path):
        self._profiles = directory / "profiles"
        self._profiles.mkdir()
        wrapper = directory / "counted"
        wrapper.write_text(
            "#!/bin/sh\nexec valgrind --tool=callgrind --separate-threads=no --instr-atstart=no "
            f"--callgrind-out-file={self._profiles}/out {binary} \"$@\"\n"
        )
        wrapper.chmod(0o755)
        truce_process.BINARY = wrapper
        self._server = truce_process.TruceProcess(directory, None, name="counted")

    def __enter__(self) -> "Counted":
        self._server.start(wait_until_ready=False)
        self._server.wait_until_ready(START_SECONDS)
        return self

    def __exit__(self, *_) -> None:
        self._server.stop()

    def seed(self) -> None:
        self._send(varied.owners(), varied.COUNT, allowed=True)

    def count(self, bodies: list[str], allowed: bool, keep: Path | None) -> float:
        """Instructions of one review."""
        self._send(bodies, WARM_UP, allowed)
        self._control("--instr=on")
        self._send(bodies, REQUESTS, allowed)
        self._control("--instr=off")
        for old in self._profiles.iterdir():
            old.unlink()
        self._control("--dump")
        (profile,) = self._profiles.glob("out.*")
        if keep is not None:
            shutil.copy(profile, keep)
        return _cost_of_requests(profile) / REQUESTS

    def _send(self, bodies: list[str], count: int, allowed: bool) -> None:
        with self._server.reviewer() as reviewer:
            for body in itertools.islice(itertools.cycle(bodies), count):
                for mark in ("@OBJECTNAME@", "@NAME@"):
                    body = body.replace(mark, f"reports-{secrets.token_hex(10)}")
                for mark in ("@OBJECT@", "@REVIEW@"):
                    number = secrets.token_hex(6)
                    body = body.replace(mark, f"{number[:8]}-0000-4000-9000-{number}")
                status, answer = reviewer.post(body.encode())
                if status != 200 or answer["response"]["allowed"] != allowed:
                    raise RuntimeError(f"{status} {answer}")

    def _control(self, command: str) -> None:
        subprocess.run(
            ["callgrind_control", command, str(self._server.pid)], check=True, capture_output=True
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path, nargs="+")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    kinds = {
        "denied": (varied.denied(), False),
        "unchanged": (varied.unchanged(), True),
        "create": (varied.creates(), True),
    }
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number, binary in enumerate(arguments.binary):
        with tempfile.TemporaryDirectory() as directory:
            with Counted(binary.resolve(), Path(directory)) as server:
                server.seed()
                for kind, (bodies, allowed) in kinds.items():
                    keep = arguments.keep and arguments.keep / f"{kind}.{number}"
                    found[kind].append(server.count(bodies, allowed, keep))
    for kind, counts in found.items():
        cells = "  ".join(f"{count:>9,.0f} ({count / counts[0]:.3f})" for count in counts)
        print(f"{kind:<10} {cells}")


if __name__ == "__main__":
    sys.exit(main())
