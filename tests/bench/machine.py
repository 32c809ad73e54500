"""What the kernel says about time spent and memory used, and where processes may run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

SERVER_CPU = 0
LOAD_CPU = 1
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def require_two_cpus() -> None:
    """Raises RuntimeError when server and load cannot have a processor each."""
    if not {SERVER_CPU, LOAD_CPU} <= os.sched_getaffinity(0):
        raise RuntimeError("the benchmark needs processors 0 and 1: one each for server and load")


@contextmanager
def bound_to(*cpus: int) -> Iterator[None]:
    """What this thread starts meanwhile runs on these processors, all its life."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(cpus))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def keep_awake() -> BinaryIO | None:
    """While this is open, idle processors poll instead of halting: to wake the load's processor costs
    the sender an interrupt, through a hypervisor up to 20 us, and only a server that lets the load
    idle would pay it. None: the machine does not offer it (pm_qos_interface, cpu_dma_latency)."""
    try:
        device = open("/dev/cpu_dma_latency", "wb", buffering=0)
    except OSError:
        return None
    device.write((0).to_bytes(4, sys.byteorder))
    return device


def process_seconds(pid: int) -> float:
    """User and system time of the process so far (proc(5): fields 14 and 15 of stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


def busy_seconds() -> float:
    """Time of all processors that was not idle, stolen time included."""
    user, nice, system, _, _, irq, softirq, steal = (
        int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_SECOND


def resident_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} has no resident memory")


def description() -> dict:
    """The machine, for whoever reads the figures later."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    system = os.uname()
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "kernel": system.release,
        "load_average_at_start": os.getloadavg()[0],
    }
