"""Requests to the REST API as fast as this machine sends them: `python -m support.flood ADDRESS
CA_FILE TOKEN SECONDS CONNECTIONS` prints what was answered as one line of JSON."""

from __future__ import annotations

import json
import socket
import ssl
import sys
import threading
import time
from collections import Counter

NOT_NOW = (429, 503)


def requests_of(token: str) -> list[bytes]:
    """What callers ask, and what nobody should."""

    def one(method: str, target: str, fields: str = "", body: str = "", show: str = token) -> bytes:
        head = f"{method} {target} HTTP/1.1\r\nHost: truce\r\nAuthorization: Bearer {show}\r\n{fields}"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n{body}".encode()

    return [
        one("GET", "/api/v1/resources:lookup?type=s3/Bucket&name=prod-one"),
        one("GET", "/api/v1/resources:lookup?type=s3/Bucket&name=nobody-has-it"),
        one("GET", "/api/v1/resources?limit=100"),
        one("GET", "/api/v1/resources", show="wrong-token-0000000001"),
        one("GET", "/api/v1/resources?limit=0"),
        one("GET", "/api/v1/audit?limit=100"),
        one("GET", "/api/v1/services/%2e%2e"),
        one("POST", "/api/v1/checks", body='{"items":[' + "[" * 200 + "]}"),
        one("POST", "/api/v1/imports", body='{"source":"x","resources":[]}'),
    ]


class Flood:
    """What CONNECTIONS threads were answered. `lost`: connections that ended without an answer."""

    def __init__(self, address: str, ca_file: str, token: str):
        host, _, port = address.rpartition(":")
        self._at = (host, int(port))
        self._context = ssl.create_default_context(cafile=ca_file)
        self._requests = requests_of(token)
        self._lock = threading.Lock()
        self.statuses: Counter[int] = Counter()
        self.silent_refusals = 0  # 429 or 503 without Retry-After
        self.lost = 0

    def run(self, seconds: float, connections: int) -> None:
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self._drive, args=(end, i)) for i in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _drive(self, end: float, turn: int) -> None:
        statuses: Counter[int] = Counter()
        silent = lost = 0
        while time.monotonic() < end:
            try:
                with socket.create_connection(self._at, timeout=30) as plain, self._context.wrap_socket(
                        plain, server_hostname="localhost") as stream:
                    while time.monotonic() < end:
                        turn += 1
                        stream.sendall(self._requests[turn % len(self._requests)])
                        head = self._answer(stream)
                        status = int(head.split(b" ", 2)[1])
                        statuses[status] += 1
                        silent += status in NOT_NOW and b"\r\nretry-after:" not in head
                        if b"\r\nconnection: close" in head:
                            break
            except (OSError, EOFError):
                lost += 1
        with self._lock:
            self.statuses += statuses
            self.silent_refusals += silent
            self.lost += lost

    @staticmethod
    def _answer(stream: ssl.SSLSocket) -> bytes:
        """The head of one answer, in lower case; its body is read and dropped."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = stream.recv(65536)
            if not more:
                raise EOFError
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        head = head.lower()
        _, _, rest = head.partition(b"\r\ncontent-length:")
        missing = int(rest.split(b"\r\n", 1)[0] or b"0") - len(body)
        while missing > 0:
            more = stream.recv(min(missing, 65536))
            if not more:
                raise EOFError
            missing -= len(more)
        return head


def main() -> None:
    address, ca_file, token, seconds, connections = sys.argv[1:]
    flood = Flood(address, ca_file, token)
    flood.run(float(seconds), int(connections))
    print(json.dumps({"statuses": flood.statuses, "silent_refusals": flood.silent_refusals,
                      "lost": flood.lost}))


if __name__ == "__main__":
    main()
