"""This binary beside another one, as that of before a change, and nginx, all in the same rounds:

  cd tests && ../build/venv/bin/python -m bench.against BINARY [--rounds 5] [--connections 16] [--seconds 2]

Varied bodies, 10,000 ownerships. Prints the median of the rounds for each scenario: rate and processor time in
units of nginx, p50 and p99, then this binary's figures in units of the other's. One connection tells what one request
takes, one at a time. With --both this binary has both processors, the other one of them; with --pause each connection
waits so many milliseconds between two requests: the same binary twice, half busy, tells what a second processor costs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from bench import campaign, machine, varied
from bench.load import Run
from bench.servers import Nginx, Truce
from bench.stores import Templates
from support import truce_process


def _ratio(runs: list[Run], others: list[Run], name: str) -> float:
    return statistics.median(getattr(a, name) / getattr(b, name) for a, b in zip(runs, others))


def _median(runs: list[Run], name: str) -> float:
    return statistics.median(getattr(run, name) for run in runs)


def _tell(found: dict[tuple[str, str], list[Run]]) -> None:
    print(f"{'':<18} rate x nginx   CPU x nginx   CPU us   p50 ms   p99 ms   disturbed")
    for (scenario, name), runs in found.items():
        reference = found[scenario, "nginx"]
        print(
            f"{scenario:<10} {name:<7} {_ratio(runs, reference, 'rate'):>12.3f}"
            f" {_ratio(runs, reference, 'cpu_us'):>13.2f} {_median(runs, 'cpu_us'):>8.1f}"
            f" {_median(runs, 'p50_ms'):>8.3f} {_median(runs, 'p99_ms'):>8.2f}"
            f" {sum(run.disturbed for run in runs):>7}"
        )
    for scenario in campaign.SCENARIOS:
        now, before = found[scenario, "this"], found[scenario, "other"]
        print(
            f"{scenario}: this / other: "
            + ", ".join(
                f"{name} {_ratio(now, before, name):.3f}"
                for name in ("rate", "cpu_us", "p50_ms", "p99_ms")
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--both", action="store_true")
    parser.add_argument("--pause", type=int, default=0)
    arguments = parser.parse_args()
    machine.require_two_cpus()
    awake = machine.keep_awake()
    templates = Templates()
    binaries = {"this": truce_process.BINARY, "other": arguments.binary.resolve()}
    servers: dict = {}
    try:
        for name, binary in binaries.items():
            truce_process.BINARY = binary
            places = {0, 1} if arguments.both and name == "this" else {machine.SERVER_CPU}
            servers[name] = Truce(templates, campaign.COMPARED_SIZE, name=name, places=places)
            servers[name].seed(varied.owners())
        servers["nginx"] = Nginx(servers["this"].certificates)
        loads = {name: campaign.load_of(name, (str(arguments.pause),)) for name in campaign.SCENARIOS}
        plan = [(scenario, name) for scenario in loads for name in servers]
        found: dict[tuple[str, str], list[Run]] = {step: [] for step in plan}
        for number in range(arguments.rounds):
            for scenario, name in plan if number % 2 == 0 else reversed(plan):
                shape = (arguments.connections, arguments.seconds)
                run = campaign.run(scenario, servers[name], loads[scenario], shape)
                found[scenario, name].append(run)
        _tell(found)
    finally:
        for server in servers.values():
            server.stop()
        if awake is not None:
            awake.close()


if __name__ == "__main__":
    sys.exit(main())
