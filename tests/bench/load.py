"""One run of the load generator against one server, and what it cost."""

from __future__ import annotations

import json
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import machine

_SCRIPT = Path(__file__).parent / "load.lua"
WARM_UP_SECONDS = 1
FOREIGN_SHARE_MAX = 0.15  # Of a processor; above it a run is disturbed and is repeated.
REPEAT_MAX = 4


@dataclass(frozen=True)
class Run:
    """Figures of one run. Times are seconds of the server's processor unless named otherwise."""

    requests: int
    rate: float  # requests a second
    cpu_us: float  # the server's user and system time for one request, microseconds
    p50_ms: float
    p99_ms: float
    failed: int
    foreign: float  # processors busy with anything but server and load

    @property
    def disturbed(self) -> bool:
        return self.foreign > FOREIGN_SHARE_MAX


@dataclass(frozen=True)
class Load:
    """What to send: a file of bodies and the mode in which load.lua uses it."""

    mode: str  # "rotate", "fresh" or "paths"
    bodies: Path
    more: tuple[str, ...] = ()  # further arguments of the mode


def measure(server, load: Load, connections: int, seconds: int, repeat_max: int = REPEAT_MAX) -> Run:
    """Warms up, runs, and runs again while others disturb, as which a database counts, too. The least disturbed run counts.
    Raises RuntimeError when the load generator fails or a request does."""
    _wrk(server, load, connections, WARM_UP_SECONDS)
    best = None
    for _ in range(repeat_max):
        run = _run(server, load, connections, seconds)
        if best is None or run.foreign < best.foreign:
            best = run
        if not run.disturbed:
            break
    return best


def _run(server, load: Load, connections: int, seconds: int) -> Run:
    server_before = machine.process_seconds(server.pid)
    others_before = machine.busy_seconds() - _own_seconds()
    result = _wrk(server, load, connections, seconds)
    server_seconds = machine.process_seconds(server.pid) - server_before
    others = machine.busy_seconds() - _own_seconds() - others_before - server_seconds
    if result["failed"]:
        raise RuntimeError(f"{result['failed']} of {result['requests']} requests failed")
    return Run(
        requests=result["requests"],
        rate=result["requests"] / result["seconds"],
        cpu_us=server_seconds / result["requests"] * 1e6,
        p50_ms=result["p50_ms"],
        p99_ms=result["p99_ms"],
        failed=result["failed"],
        foreign=max(0.0, others / result["seconds"]),
    )


def _own_seconds() -> float:
    """Time of this process and of the load generators that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _wrk(server, load: Load, connections: int, seconds: int) -> dict:
    with machine.bound_to(machine.LOAD_CPU):
        ended = subprocess.run(
            [
                "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s",
                "-s", str(_SCRIPT), server.url, "--", load.mode, str(load.bodies),
                *load.more,
            ],
            capture_output=True,
            text=True,
            timeout=seconds + 60,
        )
    for line in ended.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line.removeprefix("RESULT "))
    raise RuntimeError(f"wrk failed: {ended.stdout}{ended.stderr}")
