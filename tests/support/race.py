"""Sends requests at the same instant and says what became of each."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from support.kube_client import Client, Reply

ROUND_SECONDS = 60.0

Request = Callable[[Client], Reply]


class Racers:
    """A fixed crew of threads, one keep-alive connection each. External synchronization."""

    def __init__(self, clients: Sequence[Client]):
        self._clients = clients
        self._start = threading.Barrier(len(clients) + 1)
        self._end = threading.Barrier(len(clients) + 1)
        self._requests: Sequence[Request] = []
        self._outcomes: list[Reply | Exception] = []
        self._threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in range(len(clients))
        ]
        for client in clients:
            client.connect()
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "Racers":
        return self

    def __exit__(self, *_) -> None:
        self._requests = []
        self._start.abort()
        for thread in self._threads:
            thread.join(ROUND_SECONDS)

    def run(self, requests: Sequence[Request]) -> list[Reply]:
        """One request per client, all let go at once; the replies in the same order."""
        assert len(requests) == len(self._clients)
        self._requests = requests
        self._outcomes = [AssertionError("no answer")] * len(requests)
        self._start.wait(ROUND_SECONDS)
        self._end.wait(ROUND_SECONDS)
        for outcome in self._outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        return list(self._outcomes)

    def _run(self, number: int) -> None:
        while True:
            try:
                self._start.wait()
            except threading.BrokenBarrierError:
                return
            try:
                outcome: Reply | Exception = self._requests[number](self._clients[number])
            except Exception as error:  # Told to the main thread, which raises it.
                outcome = error
            self._outcomes[number] = outcome
            self._end.wait(ROUND_SECONDS)


class Tally:
    """How many requests were admitted in each round."""

    def __init__(self, name: str):
        self._name = name
        self._rounds: Counter[int] = Counter()

    def add(self, replies: Sequence[Reply]) -> None:
        self._rounds[sum(reply.ok for reply in replies)] += 1

    @property
    def admitted_once(self) -> int:
        return self._rounds[1]

    def __str__(self) -> str:
        none = self._rounds[0]
        more = sum(count for admitted, count in self._rounds.items() if admitted > 1)
        return (
            f"{self._name}: {self._rounds.total()} rounds; exactly one admitted in "
            f"{self._rounds[1]}, none in {none}, two or more in {more}"
        )
