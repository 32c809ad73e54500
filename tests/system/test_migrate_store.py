"""A registry that moves between SQLite and PostgreSQL: whole, refused where it would mix, and gone on with after kills."""

import sqlite3
import subprocess
from pathlib import Path

import pytest

from support.buckets import grant, refused
from support.processes import wait_for
from support.truce_process import BINARY, TruceProcess

OK, NO, USAGE, CANNOT_RUN = 0, 1, 2, 5
WAIT_SECONDS = 60
MANY = 9000  # resources of one list
AUDIT = "at, action, key, coalesce(id, ''), root, slot, uid, cause, actor, review FROM"


@pytest.fixture
def sqlite(tmp_path):
    """Servers on SQLite, each with a folder of its own; all are ended."""
    made = []

    def make(name: str) -> TruceProcess:
        (tmp_path / name / "data").mkdir(parents=True)
        made.append(TruceProcess(tmp_path / name, {"logFormat": "json"}, name))
        return made[-1]

    yield make
    for server in made:
        server.stop()


def migrate(cli, source, target):
    return cli("migrate-store", "--from", str(source), "--to", str(target))


def audit_of(data: Path) -> list[str]:
    with sqlite3.connect(f"file:{data}/truce.db?mode=ro", uri=True) as rows:
        return ["|".join(map(str, line)) for line in rows.execute(f"SELECT seq, {AUDIT} audit ORDER BY seq")]


def exported(server) -> str:
    done = server.command("export")
    assert done.returncode == OK, done.stderr
    return done.stdout


def test_it_moves_to_postgresql_and_back_with_ids_times_and_audit_log(cli, postgres, database, servers, sqlite):
    url = postgres.url(database)
    first = sqlite("first")
    first.start()
    for number in range(12):
        grant(first, f"name-{number}")
    for words in (["share", "s3/Bucket/name-0", "--with", "team-b", "--level", "attach"],
                  ["protect", "s3/Bucket/name-1"], ["transfer", "s3/Bucket/name-2", "--to", "team-b"],
                  ["release", "s3/Bucket", "name-3"]):
        done = first.command(*words, "--reason", "moved")
        assert done.returncode == OK, done.stderr
    before = exported(first)
    running = migrate(cli, first.data, url)
    assert running.returncode == NO and running.stderr.startswith("truce: --from: "), running
    assert first.stop() == 0
    moved = migrate(cli, first.data, url)
    assert moved.returncode == OK, moved.stderr
    assert "11 resources\n" in moved.stdout and "sha256 " in moved.stdout
    lines = audit_of(first.data)
    assert postgres.sql(database, f"SELECT number, {AUDIT} truce.audit ORDER BY number").splitlines() == lines
    assert migrate(cli, first.data, url).returncode == NO, "it is not empty any more"

    second = servers(store=url)
    second.start()
    assert exported(second) == before
    assert "name-0" in refused(second, "name-0")
    grant(second, "name-3")
    last = postgres.sql(database, "SELECT max(number) FROM truce.audit")
    assert int(last) == int(lines[-1].split("|")[0]) + 1
    between = exported(second)
    third = sqlite("third")
    running = migrate(cli, url, third.data)
    assert running.returncode == NO and "is active on the registry" in running.stderr, running
    assert second.stop() == 0
    moved = migrate(cli, url, third.data)
    assert moved.returncode == OK, moved.stderr
    assert audit_of(third.data)[:len(lines)] == lines
    third.start()
    assert exported(third) == between
    assert "name-3" in refused(third, "name-3")


def test_what_it_cannot_mean_is_a_usage_error(cli, postgres, database, sqlite):
    empty, other = sqlite("empty"), sqlite("other")
    for source, target, why in ((empty.data, other.data, "truce.db is missing"), (empty.data, empty.data, "same place"),
                                (postgres.url(database), other.data, "holds no registry"),
                                (empty.data / "no", other.data, "truce.db is missing")):
        result = migrate(cli, source, target)
        assert result.returncode == USAGE and why in result.stderr, result


def position(postgres, database: str) -> str:
    if postgres.sql(database, "SELECT to_regclass('truce.settings') IS NOT NULL") != "t":
        return ""
    return postgres.sql(database, "SELECT value FROM truce.settings WHERE name = 'store/migration'")


def test_killed_it_goes_on_where_it_was_and_no_server_starts_meanwhile(cli, postgres, database, servers, sqlite, tmp_path):
    url = postgres.url(database)
    source = sqlite("source")
    with source:
        grant(source, "name")
        rows = tmp_path / "many.csv"
        rows.write_text("type,name\n" + "".join(f"s3/Bucket,many-{number}\n" for number in range(MANY)))
        done = source.command("import", str(rows), "--source", "by-hand", "--apply")
        assert done.returncode == OK, done.stderr
        before = exported(source)
    seen = set()
    words = [str(BINARY), "migrate-store", "--from", str(source.data), "--to", url]
    for _ in range(6):
        begun = position(postgres, database)
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
            wait_for(lambda last=begun: position(postgres, database) != last or running.poll() is not None,
                     WAIT_SECONDS, "a page")
            running.kill()
        if not position(postgres, database):
            break
        seen.add(position(postgres, database))
    assert len(seen) >= 3, seen
    server = servers(store=url)
    if position(postgres, database):
        server.start(wait_until_ready=False)
        wait_for(lambda: not server.running, WAIT_SECONDS, "the end of a server on half of a registry")
        assert server.stop() == CANNOT_RUN and "has not ended" in server.log.read_text()
    done = migrate(cli, source.data, url)
    assert done.returncode == OK, done.stderr
    assert f"{MANY + 1} resources\n" in done.stdout
    assert postgres.sql(database, "SELECT number FROM truce.audit ORDER BY number").splitlines() == \
        [line.split("|")[0] for line in audit_of(source.data)]
    server.start()
    assert exported(server) == before
