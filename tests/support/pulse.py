"""Small reviews at a steady rate: `python -m support.pulse ADDRESS CA_FILE SOURCE RATE SECONDS WAY`,
from the address SOURCE, all on one connection (WAY `kept`) or each on its own (`new`). Prints how
long the answers took, as one line of JSON. What is due while an answer is waited for counts from
when it was due."""

from __future__ import annotations

import http.client
import json
import ssl
import sys
import time

from support.large_reviews import small_review
from support.pace import pause_until


class Pulse:
    def __init__(self, address: str, ca_file: str, source: str, way: str):
        self._address = address
        self._context = ssl.create_default_context(cafile=ca_file)
        self._source = source
        self._keeps = way == "kept"
        self._connection: http.client.HTTPSConnection | None = None
        self.milliseconds: list[float] = []
        self.failed = 0

    def run(self, rate: float, seconds: float) -> None:
        begin = time.monotonic()
        for number in range(int(rate * seconds)):
            due = begin + number / rate
            pause_until(due)
            if self._ask(number):
                self.milliseconds.append((time.monotonic() - due) * 1000)
            else:
                self.failed += 1

    def _ask(self, number: int) -> bool:
        if self._connection is None:
            host, _, port = self._address.rpartition(":")
            self._connection = http.client.HTTPSConnection(
                host, int(port), timeout=10, context=self._context, source_address=(self._source, 0))
        try:
            self._connection.request("POST", "/validate?timeout=5s", json.dumps(small_review(number)),
                                     {"Content-Type": "application/json"})
            response = self._connection.getresponse()
            response.read()
            answered = response.status == 200
        except (OSError, http.client.HTTPException):
            answered = False
        if not answered or not self._keeps:
            self._connection.close()
            self._connection = None
        return answered

    def figures(self) -> dict:
        times = sorted(self.milliseconds)
        return {
            "answered": len(times),
            "failed": self.failed,
            "p50_ms": times[len(times) // 2],
            "p99_ms": times[len(times) * 99 // 100],
            "under_100_ms": sum(each < 100 for each in times) / (len(times) + self.failed),
        }


def main() -> None:
    address, ca_file, source, rate, seconds, way = sys.argv[1:]
    pulse = Pulse(address, ca_file, source, way)
    pulse.run(float(rate), float(seconds))
    print(json.dumps(pulse.figures()))


if __name__ == "__main__":
    main()
