"""Creations that go on while a release is upgraded: what became of each, and when."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from support.kube_client import Client, Reply


@dataclass(frozen=True)
class Outcome:
    began: float
    ended: float
    reply: Reply


class Load:
    """One thread sends `request(client, number)`, one after the other, until it is stopped."""

    def __init__(self, client: Client, request: Callable[[Client, int], Reply]):
        self.outcomes: list[Outcome] = []
        self._client, self._request = client, request
        self._stopped = threading.Event()
        self._fault: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Load":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stopped.set()
        self._thread.join(60)
        if self._fault is not None:
            raise self._fault

    def _run(self) -> None:
        number = 0
        while not self._stopped.is_set():
            began = time.monotonic()
            try:
                reply = self._request(self._client, number)
            except Exception as fault:  # told by the main thread
                self._fault = fault
                return
            self.outcomes.append(Outcome(began, time.monotonic(), reply))
            number += 1
