"""Child processes that never outlive the tests.

Each child leads a process group of its own, so stopping it stops all that it started, and dies with
the thread that started it (PR_SET_PDEATHSIG), so a killed test run leaves nothing behind either.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
TESTS = Path(__file__).resolve().parent.parent
STOP_SECONDS = 10.0

_libc = ctypes.CDLL(None, use_errno=True)


class StartError(RuntimeError):
    """A child did not come up; the message ends with the tail of its log."""


def _die_with(parent: int) -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # The parent ended between fork and prctl.
        os._exit(1)


class Child:
    """One running program, its output in a log file. External synchronization."""

    def __init__(self, name: str, argv: list[str], log: Path, env: dict[str, str] | None = None):
        # The kernel ends a child with the *thread* that forked it, not with the process.
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(f"{name} must be started from the main thread")
        self.name = name
        self.log = log
        parent = os.getpid()
        with open(log, "ab") as output:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if env is None else {**os.environ, **env},
                start_new_session=True,
                preexec_fn=lambda: _die_with(parent),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        return self._process.poll()

    def signal(self, number: int) -> None:
        """Sends a signal to the whole group. A group that has ended already is no error."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    def stop(self, timeout: float = STOP_SECONDS) -> int:
        """SIGTERM, then SIGKILL after `timeout` seconds. Idempotent. Returns the exit code."""
        if self._process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                pass
        return self.kill()

    def kill(self) -> int:
        """SIGKILL to all that is left of the group. Idempotent. Returns the exit code."""
        self.signal(signal.SIGKILL)
        return self._process.wait()

    def wait(self, timeout: float) -> int:
        return self._process.wait(timeout)

    def tail(self, lines: int = 40) -> str:
        return tail(self.log, lines)

    def wait_until(self, condition, timeout: float, what: str) -> None:
        """Waits for `condition()`; raises StartError when the child ends or time runs out."""
        deadline = time.monotonic() + timeout
        while not condition():
            if self.exit_code is not None:
                raise StartError(
                    f"{self.name} ended with {self.exit_code} before {what}; its log {self.log}:\n"
                    f"{self.tail()}"
                )
            if time.monotonic() > deadline:
                raise StartError(
                    f"{self.name}: not {what} within {timeout:.0f} s; its log {self.log}:\n"
                    f"{self.tail()}"
                )
            time.sleep(0.02)


def tail(path: Path, lines: int = 40) -> str:
    """The last lines of a file, or a remark when there is none."""
    try:
        text = path.read_text(errors="replace")
    except FileNotFoundError:
        return "(no log)"
    return "\n".join(text.splitlines()[-lines:])


def wait_for(condition, timeout: float, what: str):
    """Waits until `condition()` is true and returns its value; AssertionError after `timeout`."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:.0f} s: {what}")
        time.sleep(0.02)


_DRAWN_PORTS: set[int] = set()


def free_port() -> int:
    """A loopback port nobody listens on, another one each time. Below the ephemeral range, so no
    outgoing connection of another test can take it between this call and its use; drawn at random,
    so that parallel test runs seldom meet; the workers of one run never do. For programs that
    cannot take port 0."""
    draw = random.SystemRandom()
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    for _ in range(200):
        port = draw.randrange(20000 + worker % workers, 32000, workers)
        if port in _DRAWN_PORTS:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            _DRAWN_PORTS.add(port)
            return port
    raise StartError("no free loopback port between 20000 and 32000")


class Beside:
    """`python -m MODULE ARGS`, a module of the tests, while a test goes on."""

    def __init__(self, module: str, *args: object):
        parent = os.getpid()
        self._child = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, args)], cwd=TESTS, text=True,
            stdout=subprocess.PIPE, preexec_fn=lambda: _die_with(parent))

    def __enter__(self) -> "Beside":
        return self

    def __exit__(self, *_) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.communicate()

    @property
    def running(self) -> bool:
        return self._child.poll() is None

    def result(self) -> str:
        out, _ = self._child.communicate(timeout=120)
        assert self._child.returncode == 0
        return out.strip()
