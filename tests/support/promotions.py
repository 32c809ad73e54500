"""How long PostgreSQL takes to promote a standby whose primary was just killed: `python -m support.promotions ROUNDS
[RETRY_INTERVAL]`, asked 0 to 70 ms after the kill. What takes longer than a second is told with the standby's log."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

from support.postgres import Postgres, program

LATEST_SECONDS = 0.07
LONG_SECONDS = 1.0


def promote_after(primary: Postgres, standby: Postgres, seconds: float) -> float:
    """Seconds until it is promoted."""
    # Connected before, so that it is asked in the very moment.
    with subprocess.Popen([program("psql"), "-X", "-q", "-A", "-t", standby.url("postgres")], text=True, bufsize=1,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asker:
        assert asker.stdin is not None and asker.stdout is not None
        asker.stdin.write("SELECT 1;\n")
        asker.stdout.readline()
        primary.kill()
        time.sleep(seconds)
        asked = time.monotonic()
        asker.stdin.write("SELECT pg_promote();\n")
        assert asker.stdout.readline() == "t\n"
        return time.monotonic() - asked


def main(rounds: int, interval: str | None) -> None:
    primary, standby = Postgres.with_standby()
    took = []
    for number in range(rounds):
        if interval is not None:
            standby.set("wal_retrieve_retry_interval", interval)
        took.append(promote_after(primary, standby, LATEST_SECONDS * number / rounds))
        if took[-1] > LONG_SECONDS:
            print(f"round {number}: {took[-1]:.2f} s", standby.logs(8), sep="\n", flush=True)
        primary, standby = standby, primary
        standby.follow(primary)
    many = sum(seconds > LONG_SECONDS for seconds in took)
    print(f"{rounds} promotions: median {median(took):.2f} s, longest {max(took):.2f} s, {many} longer than {LONG_SECONDS} s")
    for server in (primary, standby):
        server.remove()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
