"""All runs of the benchmark, in an order that treats every server alike."""

from __future__ import annotations

import os
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import machine, reviews, varied
from bench.load import Load, Run, measure
from bench.servers import Nginx, Tally, Truce
from bench.stores import WORK, Templates

# A quick look while developing: few short runs, no million.
QUICK = os.environ.get("TRUCE_BENCH_QUICK") == "1"

SIZES = (1_000, 10_000, 50_000) if QUICK else (1_000, 10_000, 1_000_000)
COMPARED_SIZE = 10_000
CONNECTIONS = (16, 64)
# Rounds differ by a tenth to a quarter, since a host is shared: what is judged has more of them.
COMPARED_ROUNDS = {16: 1, 64: 1} if QUICK else {16: 9, 64: 3}
COMPARED_SECONDS = 2 if QUICK else 3
SIZED_ROUNDS = 3 if QUICK else 5
SIZED_SECONDS = 1 if QUICK else 2
COMPOSED_OBJECTS = 1000
BODIES = ("varied", "recorded")

SCENARIOS = ("denied", "unchanged", "create")


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
        composed = reviews.Composed(COMPOSED_OBJECTS)
        for truce in self.truces.values():
            truce.seed(composed.creates())
        self.truces[COMPARED_SIZE].seed(varied.owners())
        self._varied = {
            name: Load("fresh", self._file(f"varied-{name}", bodies))
            for name, bodies in (
                ("denied", varied.denied()),
                ("unchanged", varied.unchanged()),
                ("create", varied.creates()),
            )
        }
        self._fresh = Load("fresh", self._file("fresh", [reviews.fresh_creates()]))
        self._updates = Load("rotate", self._file("updates", composed.updates()))
        self._taken = {
            size: Load(
                "rotate", self._file(f"taken-{size}", reviews.creates_of_taken(truce.samples))
            )
            for size, truce in self.truces.items()
        }

    def _keep(self, server):
        self._servers.append(server)
        return server

    def stop(self) -> None:
        for server in self._servers:
            server.stop()
        if self._awake is not None:
            self._awake.close()

    @staticmethod
    def _file(name: str, bodies: list[str]) -> Path:
        path = WORK / f"{name}.txt"
        path.write_text("".join(body + "\n" for body in bodies))
        return path

    def body_bytes(self) -> dict[str, int]:
        """The mean length of a request's body, by kind of bodies and scenario."""
        return {
            f"{bodies} {name}": load.bodies.stat().st_size // len(load.bodies.read_text().splitlines())
            for bodies in BODIES
            for name, load in self._loads(bodies).items()
        }

    def _loads(self, bodies: str) -> dict[str, Load]:
        if bodies == "varied":
            return self._varied
        taken = self._taken[COMPARED_SIZE]
        return {"denied": taken, "unchanged": self._updates, "create": self._fresh}

    def compare(self, bodies: str) -> dict[int, dict[str, list[Run]]]:
        """Runs by number of connections and name: every scenario, and nginx with the bodies of
        creations and of updates. `bodies`: one of BODIES."""
        truce, loads = self.truces[COMPARED_SIZE], self._loads(bodies)
        plan = [
            ("nginx-create", self.nginx, loads["denied"]),
            ("denied", truce, loads["denied"]),
            ("create", truce, loads["create"]),
            ("unchanged", truce, loads["unchanged"]),
            ("nginx-update", self.nginx, loads["unchanged"]),
        ]
        found: dict = {count: {name: [] for name, _, _ in plan} for count in CONNECTIONS}
        for number in range(max(COMPARED_ROUNDS.values())):
            for count in [count for count in CONNECTIONS if number < COMPARED_ROUNDS[count]]:
                for name, server, load in plan if number % 2 == 0 else reversed(plan):
                    done = run(name, server, load, (count, COMPARED_SECONDS))
                    found[count][name].append(done)
        return found

    def scale(self) -> dict[str, dict[int, list[Run]]]:
        """Runs by scenario and number of ownerships at the start, at the first number of
        connections. Durable creates come last: they make the small registries larger."""
        found: dict = {name: {size: [] for size in SIZES} for name in SCENARIOS}
        for name in SCENARIOS:
            for number in range(SIZED_ROUNDS):
                for size in SIZES if number % 2 == 0 else reversed(SIZES):
                    load = {"denied": self._taken[size], "unchanged": self._updates}.get(
                        name, self._fresh
                    )
                    shape = (CONNECTIONS[0], SIZED_SECONDS)
                    found[name][size].append(run(name, self.truces[size], load, shape))
        return found


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
