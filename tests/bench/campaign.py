"""All runs of the benchmark, in an order that treats every server alike."""

from __future__ import annotations

import os
import statistics
from dataclasses import asdict, dataclass

from bench import machine, varied
from bench.load import Load, Run, measure
from bench.servers import Nginx, Tally, Truce
from bench.stores import WORK, Templates

# A quick look while developing: few short runs, no million.
QUICK = os.environ.get("TRUCE_BENCH_QUICK") == "1"

COMPARED_SIZE = 10_000
SIZES = (COMPARED_SIZE, 50_000 if QUICK else 1_000_000)
# Ownerships and connections: rounds. They differ by a tenth to a quarter, since a host is shared.
ROUNDS = {
    (SIZES[0], 16): 1 if QUICK else 9,
    (SIZES[0], 64): 1 if QUICK else 3,
    (SIZES[1], 16): 1 if QUICK else 9,
}
SECONDS = 2 if QUICK else 3

SCENARIOS = {"denied": varied.denied, "unchanged": varied.unchanged, "create": varied.creates}


@dataclass(frozen=True)
class Summary:
    """Medians of several runs."""

    rate: float
    cpu_us: float
    p50_ms: float
    p99_ms: float
    foreign: float
    disturbed: int  # runs that stayed disturbed in spite of repetitions

    @staticmethod
    def of(runs: list[Run]) -> "Summary":
        def median(name: str) -> float:
            return statistics.median(getattr(run, name) for run in runs)

        return Summary(
            *(median(name) for name in ("rate", "cpu_us", "p50_ms", "p99_ms", "foreign")),
            disturbed=sum(run.disturbed for run in runs),
        )


def _check_answers(scenario: str, run: Run, done: Tally) -> None:
    """Raises AssertionError unless the server did what the scenario means. The server has also seen
    the warm-up, repeated runs, and what was under way when the load ended."""
    assert done.unknown == 0, (scenario, done)
    if scenario == "denied":
        assert done.denied >= run.requests and done.allowed == 0 and done.owners == 0, done
    elif scenario == "unchanged":
        assert done.allowed >= run.requests and done.denied == 0 and done.commits == 0, done
    else:
        # Every name was new, and every grant is an ownership.
        assert done.owners == done.allowed >= run.requests and done.denied == 0, done


class Campaign:
    """Servers and loads. External synchronization; `stop` when done."""

    def __init__(self) -> None:
        machine.require_two_cpus()
        self._awake = machine.keep_awake()
        self.processors_poll = self._awake is not None
        WORK.mkdir(parents=True, exist_ok=True)
        self._servers: list = []
        templates = Templates()
        self.truces = {size: self._keep(Truce(templates, size)) for size in SIZES}
        self.nginx = self._keep(Nginx(self.truces[COMPARED_SIZE].certificates))
        for truce in self.truces.values():
            truce.seed(varied.owners())
        self._loads = {name: load_of(name) for name in SCENARIOS}

    def _keep(self, server):
        self._servers.append(server)
        return server

    def stop(self) -> None:
        for server in self._servers:
            server.stop()
        if self._awake is not None:
            self._awake.close()

    def body_bytes(self) -> dict[str, int]:
        """The mean length of a request's body, by scenario."""
        return {
            name: load.bodies.stat().st_size // varied.COUNT for name, load in self._loads.items()
        }

    def compare(self, size: int, connections: int) -> dict[str, list[Run]]:
        """Runs by name: every scenario on a registry of this size, and nginx with the bodies of
        creations and of updates."""
        truce, loads = self.truces[size], self._loads
        plan = [
            ("nginx-create", self.nginx, loads["denied"]),
            ("denied", truce, loads["denied"]),
            ("create", truce, loads["create"]),
            ("unchanged", truce, loads["unchanged"]),
            ("nginx-update", self.nginx, loads["unchanged"]),
        ]
        found: dict[str, list[Run]] = {name: [] for name, _, _ in plan}
        for number in range(ROUNDS[size, connections]):
            for name, server, load in plan if number % 2 == 0 else reversed(plan):
                found[name].append(run(name, server, load, (connections, SECONDS)))
        return found


def load_of(scenario: str, more: tuple[str, ...] = ()) -> Load:
    """The scenario's bodies in a file. `more`: as that of Load."""
    file = WORK / f"{scenario}.txt"
    file.write_text("".join(body + "\n" for body in SCENARIOS[scenario]()))
    return Load("fresh", file, more)


def run(name: str, server, load: Load, shape: tuple[int, int]) -> Run:
    """One run of a scenario, whose answers are checked. `shape`: connections and seconds."""
    connections, seconds = shape
    if not isinstance(server, Truce):
        return measure(server, load, connections, seconds)
    before = server.tally()
    done = measure(server, load, connections, seconds)
    if name == "create":
        server.settle()
    _check_answers(name, done, server.tally().since(before))
    print(f"  {server.ownerships:>9,} {name:<10} {connections:>3} {asdict(done)}", flush=True)
    return done
