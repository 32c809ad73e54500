"""Creations of the same names through several servers at once."""

from __future__ import annotations

import itertools
import threading
import time

from support.objects import bucket_review
from support.processes import wait_for
from support.truce_process import TruceProcess

CLIENTS = 2  # of each server
GROWTH_SECONDS = 45


def declaration(name: str, by: int) -> dict:
    asked = bucket_review(f"{name}-{by}")
    asked["request"]["object"]["metadata"]["annotations"] = {"crossplane.io/external-name": name}
    asked["request"]["userInfo"]["username"] = f"user-{by}-{name[-3:-1]}"
    return asked


class NameLoad:
    """Runs until it is ended; who is asked must have been started once."""

    def __init__(self, servers: list[TruceProcess]):
        self.allowed: list[list[str]] = []  # by server
        self.unknown: list[int] = []
        self.longest_silence = 0.0  # seconds in which no server knew an answer
        self._answered = time.monotonic()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []
        for server in servers:
            self.add(server)

    def add(self, server: TruceProcess) -> int:
        """Its place in the lists."""
        place = len(self.allowed)
        self.allowed.append([])
        self.unknown.append(0)
        for client in range(CLIENTS):
            thread = threading.Thread(target=self._run, args=(server, place, place * CLIENTS + client))
            self._threads.append(thread)
            thread.start()
        return place

    def grow(self, place: int) -> None:
        """Until that one has allowed some more."""
        before = len(self.allowed[place])
        wait_for(lambda: len(self.allowed[place]) >= before + 10, GROWTH_SECONDS, "grants under load")

    def end(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(GROWTH_SECONDS)

    def _note_answer(self) -> None:
        with self._lock:
            now = time.monotonic()
            self.longest_silence = max(self.longest_silence, now - self._answered)
            self._answered = now

    def _run(self, server: TruceProcess, place: int, client: int) -> None:
        reviewer = server.reviewer()
        for number in itertools.count():
            if self._ending.is_set():
                return
            # All clients meet at some names; where one is far ahead it has them alone.
            name = f"load-{number % 2 and client}-{number}"
            try:
                status, response = reviewer.review(declaration(name, client))
            except OSError:
                status, response = 0, {}
            if status == 200:
                self._note_answer()
                if response["allowed"]:
                    self.allowed[place].append(name)
            else:
                self.unknown[place] += 1
                reviewer.close()
                reviewer = server.reviewer()
                self._ending.wait(0.01)
