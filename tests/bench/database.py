"""What a registry in PostgreSQL costs beside one in SQLite, and beside what the database alone takes for the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import load, machine, reviews
from bench.stores import WORK
from support.postgres import PORT, Postgres, program
from support.processes import Child, wait_for
from support.truce_process import TruceProcess

DATABASE = "bench"
TAKEN = 200  # buckets whose creation by others is denied
CONNECTIONS = 16
SECONDS = 4
ROUNDS = 3
OWNERSHIPS = (1_000, 1_000_000)
TOGETHER = 3  # servers on one database
AWAY_MS = (1, 10, 100)  # round trips that are added
AWAY_CONNECTIONS = (CONNECTIONS, 4 * CONNECTIONS)
AT_ONCE = 100_000  # copies by one statement, which has a minute
START_SECONDS = 120.0

NAME = "n.name, n.spelling, r.public_id, n.sort, n.observed::integer, n.at"
OWNER = ("r.public_id, r.key, o.root, o.party, o.service, o.contact, o.arn, o.name, o.identity, o.shape, o.since, "
         "o.real::integer, o.record, o.record_reason, o.successor, o.state, o.leaf, o.contested::integer, "
         "o.managed_once::integer, o.left_slots, o.until")
ROW = ('r.public_id, d.uid, d.state, d.slot, d.namespace, d.root, d.intent, d.terminating::integer, d.managed::integer, '
       'd.identity, d.review, d.digest, d.base, d."user", d.at, d.created, d.account_fields')
OBJECT = ("b.uid, b.kind, b.namespace, b.name, b.parent, b.parent_uid, b.root, b.link, b.names, b.service, b.contact, "
          "b.composes::integer, b.own_party::integer, b.transfer_to, b.unproven_marks, b.stripped, b.at")
AUDIT = "l.at, l.action, l.key, l.id, l.root, l.slot, l.uid, l.cause, l.actor, l.review"
# The tables of one grant, beside each other.
GRANT = ("truce.owners o JOIN truce.resources r ON r.id = o.resource JOIN truce.names n ON n.resource = r.id "
         "JOIN truce.declarations d ON d.resource = r.id JOIN truce.objects b ON b.uid = d.uid "
         "JOIN truce.audit l ON l.id = r.public_id")


@dataclass(frozen=True)
class Served:
    """A running server, as `load` wants it."""

    process: TruceProcess

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        return self.process.admission_url


def serve(name: str, **config) -> Served:
    directory = WORK / f"database-{name}"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    process = TruceProcess(directory, {"storeDurability": "single", **config} if "store" in config else config)
    process.start(wait_until_ready=False)
    process.wait_until_ready(START_SECONDS)
    return Served(process)


class Database:
    """A server of the benchmark's own with one grant in it, which pgbench repeats."""

    def __init__(self):
        self._postgres = Postgres()
        self._postgres.make_database(DATABASE)
        self.url = self._postgres.url(DATABASE)

    def fresh(self) -> None:
        """An empty registry."""
        self._postgres.sql(DATABASE, "DROP SCHEMA IF EXISTS truce CASCADE")

    def settle(self) -> None:
        self._postgres.sql(DATABASE, "VACUUM ANALYZE")

    def ownerships(self) -> int:
        return int(self._postgres.sql(DATABASE, "SELECT count(*) FROM truce.owners"))

    def fill(self, count: int) -> None:
        """Copies of the one grant that is there, until there are so many."""
        for table in ("resources", "names", "owners", "declarations"):
            columns = self._postgres.sql(
                DATABASE, f"SELECT string_agg(quote_ident(attname), ',' ORDER BY attnum) FROM pg_attribute WHERE "
                          f"attrelid = 'truce.{table}'::regclass AND attnum > 0 AND attgenerated = ''").split(",")
            values = ["2000000000 + i" if column in ("resource", "id") else
                      f"t.{column} || '-copy-' || i" if column in ("key", "name", "uid", "public_id") else
                      f"t.{column}" for column in columns]
            first = f"SELECT * FROM truce.{table} LIMIT 1"
            for begin in range(1, count, AT_ONCE):
                self._postgres.sql(
                    DATABASE, f"SET session_replication_role = replica; INSERT INTO truce.{table} ({','.join(columns)}) "
                              f"OVERRIDING SYSTEM VALUE SELECT {','.join(values)} FROM ({first}) AS t, "
                              f"generate_series({begin}, {min(begin + AT_ONCE, count) - 1}) AS i")
        self.settle()

    @contextmanager
    def away(self, milliseconds: int) -> Iterator[str]:
        """Its URL behind a round trip that takes so much longer."""
        with tempfile.TemporaryDirectory(prefix="truce-away-") as folder:
            socket = f".s.PGSQL.{PORT}"
            child = Child("delay", [sys.executable, "-m", "bench.delay", f"{folder}/{socket}",
                                    str(self._postgres.folder / socket), str(milliseconds)], Path(folder) / "log",
                          {"PYTHONPATH": str(Path(__file__).parent.parent)})
            try:
                child.wait_until((Path(folder) / socket).exists, START_SECONDS, "listening")
                yield f"postgres://truce@/{DATABASE}?host={folder}&port={PORT}"
            finally:
                child.kill()

    def bare(self, script: str, connections: int, url: str | None = None) -> tuple[float, float]:
        """Runs one of the scripts by pgbench: transactions a second, median in milliseconds."""
        folder = WORK / "pgbench"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "script.sql").write_text(script)
        ended = subprocess.run(
            [program("pgbench"), "-n", "-M", "extended", "-f", "script.sql", "-c", str(connections), "-j", "1", "-T",
             str(SECONDS), "-l", "--log-prefix", "log", url or self.url],
            cwd=folder, capture_output=True, text=True, timeout=SECONDS + 60)
        if ended.returncode != 0:
            raise RuntimeError(f"pgbench failed: {ended.stderr}")
        rate = next(float(line.split()[2]) for line in ended.stdout.splitlines() if line.startswith("tps"))
        times = [int(line.split()[2]) for log in folder.glob("log.*") for line in log.read_text().splitlines()]
        return rate, median(times) / 1000

    def take(self) -> str:
        """What a denial asks, of the grant that is there."""
        return "\\startpipeline\nBEGIN;\n" + self._take("") + "ROLLBACK;\n\\endpipeline\n"

    def grant(self) -> str:
        """What a grant asks and writes: two round trips."""
        put = self._put()
        return ("\\set n random(1, 1000000000000)\n\\startpipeline\nBEGIN;\n" + self._take(":n") +
                "\\endpipeline\n\\startpipeline\n" + put + "COMMIT;\n\\endpipeline\n")

    def _one(self, columns: str) -> list[str | None]:
        found = json.loads(self._postgres.sql(DATABASE, f"SELECT json_build_array({columns}) FROM {GRANT} LIMIT 1"))
        return [None if value is None else str(value) for value in found]

    def _take(self, number: str) -> str:
        resource, uid, _, slot = self._one(ROW)[:4]
        found = (self._one(NAME)[0], resource, uid, slot)
        names, resources, uids, slots = (_array([value], number) for value in found)
        rest = ", ".join(["'{}'"] * 6)
        return (f"SELECT * FROM truce.take('begin', 5000, {names}, {resources}, {uids}, {slots}, {rest}, NULL, "
                "NULL);\n")

    def _put(self) -> str:
        owner, row, name, thing, line = (_array(self._one(columns), ":n")
                                         for columns in (OWNER, ROW, NAME, OBJECT, AUDIT))
        return (f"SELECT truce.put('{{}}', '{{}}', '{{}}', '{{}}', {owner}, {row}, {name}, '{{}}', {thing}, '{{}}', "
                f"'{{}}', '{{}}', {line});\n")

    def stop(self) -> None:
        self._postgres.remove()


# What of a grant differs from every other one: its key, uid, ids and slots.
def _array(values: list[str | None], number: str) -> str:
    words = []
    for at, value in enumerate(values):
        word = "NULL" if value is None else _literal(value)
        is_own = value is not None and len(value) > 12 and not value.isdigit() and at not in (9,)
        words.append(f"{word} || :n::text" if is_own and number else word)
    return "ARRAY[" + ", ".join(words) + "]::text[]"


def _literal(value: str) -> str:
    """A text without colons, behind which pgbench would look for a variable."""
    return "E'" + value.replace("\\", "\\\\").replace("'", "''").replace(":", "\\072") + "'"


def _bodies(name: str, lines: list[str]) -> Path:
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"database-{name}.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def _denials(served: Served, world: str) -> Path:
    """Seeds buckets; bodies of their creation by others, which are denied."""
    template = reviews.fresh_creates()
    denied = []
    with served.process.reviewer() as reviewer:
        for number in range(TAKEN):
            bucket = f"{world}-{number:08}"
            body = template.replace("@NAME@", bucket)
            own = json.loads(body.replace("@OBJECT@", f"a-{bucket}").replace("@REVIEW@", f"review-a-{bucket}"))
            thing = own["request"]["object"]["metadata"]
            own["request"]["name"] = thing["name"] = f"of-{bucket}"
            thing["annotations"]["crossplane.io/external-name"] = bucket
            denied.append(body.replace("@OBJECT@", f"b-{bucket}").replace("@REVIEW@", f"review-b-{bucket}"))
            for asked, allowed in ((json.dumps(own), True), (denied[-1], False)):
                status, answer = reviewer.post(asked.encode())
                if status != 200 or answer["response"]["allowed"] != allowed:
                    raise RuntimeError(f"not {'allowed' if allowed else 'denied'}: {status} {answer}")
    return _bodies(f"denied-{world}", denied)


def _run(served: Served, what: load.Load, connections: int) -> load.Run:
    return load.measure(served, what, connections, SECONDS, repeat_max=1)


def _fresh() -> load.Load:
    return load.Load("fresh", _bodies("fresh", [reviews.fresh_creates()]))


def beside(database: Database) -> dict:
    """Denials and creations, beside SQLite and the database alone, in turn. Rates a second, times in milliseconds."""
    database.fresh()
    fresh = _fresh()
    served = {"sqlite": serve("sqlite"), "postgres": serve("postgres", store=database.url)}
    try:
        denied = {name: load.Load("rotate", _denials(one, "taken")) for name, one in served.items()}
        database.settle()
        runs: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for name, one in served.items():
                runs.setdefault(f"denied_p50_{name}", []).append(_run(one, denied[name], 1).p50_ms)
            runs.setdefault("take_p50", []).append(database.bare(database.take(), 1)[1])
            for name, one in served.items():
                run = _run(one, fresh, CONNECTIONS)
                runs.setdefault(f"created_rate_{name}", []).append(run.rate)
                runs.setdefault(f"created_p99_{name}", []).append(run.p99_ms)
            runs.setdefault("grant_rate", []).append(database.bare(database.grant(), CONNECTIONS)[0])
        return {name: median(values) for name, values in runs.items()}
    finally:
        _stop(served.values())


def away(database: Database, milliseconds: int) -> dict:
    """Medians at one connection, in milliseconds, and creations a second by many, where the database is further away;
    and what it alone takes there."""
    database.fresh()
    fresh = _fresh()
    with database.away(milliseconds) as url:
        served = serve(f"away-{milliseconds}", store=url)
        try:
            denied = load.Load("rotate", _denials(served, f"away-{milliseconds}"))
            found = {"take_p50": database.bare(database.take(), 1, url)[1],
                     "denied_p50": _run(served, denied, 1).p50_ms,
                     "grant_p50": database.bare(database.grant(), 1, url)[1],
                     "created_p50": _run(served, fresh, 1).p50_ms}
            for connections in AWAY_CONNECTIONS:
                run = _run(served, fresh, connections)
                found |= {f"created_rate_{connections}": run.rate, f"created_p99_{connections}": run.p99_ms}
            return found
        finally:
            served.process.stop()


def under_a_quota(database: Database) -> dict:
    """Creations a second that one quota counts, and without any, in turn, each from an empty registry on."""
    runs: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, quotas in (("none", []), ("quota", [{"type": "s3/Bucket", "max": 10_000_000}])):
            database.fresh()
            served = serve(name, store=database.url, quotas=quotas)
            try:
                run = _run(served, _fresh(), CONNECTIONS)
                runs.setdefault(f"created_rate_{name}", []).append(run.rate)
                runs.setdefault(f"created_p99_{name}", []).append(run.p99_ms)
            finally:
                served.process.stop()
    return {name: median(values) for name, values in runs.items()}


def together(database: Database) -> dict:
    """Creations a second through one of several servers, and through all at once by as many connections, in turn."""
    database.fresh()
    fresh = _fresh()
    served = [serve(f"together-{number}", store=database.url) for number in range(TOGETHER)]
    runs: dict[str, list[float]] = {}
    try:
        with ThreadPoolExecutor(TOGETHER) as crew:
            for _ in range(ROUNDS):
                each = CONNECTIONS // TOGETHER
                runs.setdefault("created_rate_one", []).append(_run(served[0], fresh, each * TOGETHER).rate)
                rates = [run.rate for run in crew.map(lambda one: _run(one, fresh, each), served)]
                runs.setdefault("created_rate_all", []).append(sum(rates))
        return {name: median(values) for name, values in runs.items()}
    finally:
        _stop(served)


def resident(database: Database, count: int) -> int:
    """Bytes of a server's memory on so many ownerships, once it has looked at some of them."""
    database.fresh()
    served = serve("memory", store=database.url)
    with served.process.reviewer() as reviewer:
        reviewer.post(reviews.fresh_creates().replace("@NAME@", "one").encode())
    served.process.stop()
    database.fill(count)
    served = serve("memory", store=database.url)
    try:
        wait_for(lambda: served.process.command("list", "--limit", "1").returncode == 0, START_SECONDS,
                 "the list of owners")
        return machine.resident_bytes(served.pid)
    finally:
        served.process.stop()


def _stop(served: Iterable[Served]) -> None:
    for one in served:
        one.process.stop()
