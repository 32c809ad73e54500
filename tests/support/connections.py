"""Many connections that say nothing or little: `python -m support.connections ADDRESS SOURCE COUNT
RATE SECONDS [TEXT]` makes COUNT of them, RATE a second, from the address SOURCE, sends TEXT on each,
and keeps what the server has not closed until SECONDS have passed. Prints how many were made."""

from __future__ import annotations

import resource
import socket
import sys
import time

from support.pace import pause_until

KEPT_MAX = 4000  # open at once; the oldest are closed for new ones


def raise_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = KEPT_MAX + 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if hard > 0 else wanted, hard))


def flood(address: str, source: str, count: int, rate: float, seconds: float, text: bytes) -> int:
    """How many connections were made."""
    host, _, port = address.rpartition(":")
    kept: list[socket.socket] = []
    begin = time.monotonic()
    made = 0
    for number in range(count):
        pause_until(begin + number / rate)
        if time.monotonic() > begin + seconds:
            break
        end = socket.socket()
        end.settimeout(5)
        try:
            end.bind((source, 0))
            end.connect((host, int(port)))
            if text:
                end.sendall(text)
        except OSError:
            end.close()
            continue
        made += 1
        kept.append(end)
        if len(kept) > KEPT_MAX:
            kept.pop(0).close()
    pause_until(begin + seconds)
    for end in kept:
        end.close()
    return made


def main() -> None:
    address, source, count, rate, seconds, *text = sys.argv[1:]
    raise_limit()
    print(flood(address, source, int(count), float(rate), float(seconds), "".join(text).encode()))


if __name__ == "__main__":
    main()
