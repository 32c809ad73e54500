"""A PostgreSQL server of the test's own, from the distribution's package, on a socket of its own."""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from support.processes import Child, wait_for

START_SECONDS = 60
PORT = 5432  # of the socket's name
VERSIONS = range(18, 13, -1)


def program(name: str) -> str:
    for version in VERSIONS:
        path = Path(f"/usr/lib/postgresql/{version}/bin/{name}")
        if path.exists():
            return str(path)
    raise RuntimeError(f"no {name} of PostgreSQL: install the package postgresql (.tools/setup.sh test does)")


def url_of(pair: list["Postgres"]) -> str:
    """Of the database `truce` of whichever is the primary."""
    return f"postgres://truce@/truce?host={','.join(str(server.folder) for server in pair)}&port={PORT}"


def _as_servant(words: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root: then as the user that its package made."""
    if os.geteuid() != 0:
        return words
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig", "QUIT", *words]


class Postgres:
    """User truce, who may do everything, needs no password; every other one does. External synchronization;
    start it from the main thread.

    `small_megabytes`: it has a tablespace `small` on a disk of that size, which only it sees."""

    def __init__(self, small_megabytes: int = 0):
        self._small_megabytes = small_megabytes
        self._make_folder()
        subprocess.run(_as_servant([program("initdb"), "-D", str(self.folder / "data"), "-U", "truce", "-A", "trust",
                                    "-E", "UTF8", "--locale=C.UTF-8", "-N"]),
                       cwd="/", check=True, capture_output=True)
        (self.folder / "data/pg_hba.conf").write_text(
            "local all truce trust\nlocal replication truce trust\nlocal all all scram-sha-256\n")
        self.start()
        if small_megabytes:
            self.sql("postgres", f"CREATE TABLESPACE small LOCATION '{self.folder}/small'")

    def _make_folder(self) -> None:
        # Not pytest's folder: a socket's path has 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="truce-pg-"))
        self.log = self.folder / "server.log"
        self._child: Child | None = None
        if os.geteuid() == 0:
            servant = pwd.getpwnam("postgres")
            os.chown(self.folder, servant.pw_uid, servant.pw_gid)
            self.folder.chmod(0o711)

    @classmethod
    def standby_of(cls, primary: "Postgres") -> "Postgres":
        """A copy that follows it, on a socket of its own."""
        standby = cls.__new__(cls)
        standby._small_megabytes = 0
        standby._make_folder()
        standby.follow(primary)
        return standby

    def follow(self, primary: "Postgres") -> None:
        """Begins anew, as a standby of that one, where it was."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        subprocess.run(_as_servant([program("pg_basebackup"), "-D", str(self.folder / "data"), "-R", "-c", "fast",
                                    "-d", f"host={primary.folder} port={PORT} user=truce"]),
                       cwd="/", check=True, capture_output=True)
        self.start()
        primary.wait_for_sql("postgres", "SELECT count(*) > 0 FROM pg_stat_replication WHERE state = 'streaming'",
                             START_SECONDS, "a standby that follows")

    @classmethod
    def with_standby(cls) -> list["Postgres"]:
        """A primary with an empty database `truce`, and its standby."""
        primary = cls()
        primary.make_database("truce")
        return [primary, cls.standby_of(primary)]

    def require_standby(self) -> None:
        """From now on nothing is acknowledged that a standby does not have."""
        self.set("synchronous_standby_names", "*")
        self.wait_for_sql("postgres", "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'",
                          START_SECONDS, "a synchronous standby")

    def promote(self) -> None:
        assert self.sql("postgres", "SELECT pg_promote()") == "t"

    def set(self, setting: str, value: str) -> None:
        """For the whole server, from now on."""
        self.sql("postgres", f"ALTER SYSTEM SET {setting} = '{value}'; SELECT pg_reload_conf()")
        self.wait_for_sql("postgres", f"SELECT current_setting('{setting}') = '{value}'", START_SECONDS, setting)

    def kill(self) -> None:
        """kill -9 of the server: its connections are cut, nothing is written any more."""
        assert self._child is not None
        self._child.signal(signal.SIGKILL)
        self._child.wait(START_SECONDS)
        self._child = None

    @property
    def running(self) -> bool:
        return self._child is not None

    def start(self) -> "Postgres":
        self._child = Child("postgres", self._with_small_disk(_as_servant([
            program("postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder), "-p", str(PORT), "-c",
            "listen_addresses=", "-c", "max_connections=150", "-c", "shared_buffers=32MB"])), self.log)
        self._child.wait_until(self._answers, START_SECONDS, "answering")
        return self

    def stop(self) -> None:
        """At once, whoever is connected; nothing acknowledged is lost."""
        if self._child is not None:
            self._child.signal(signal.SIGQUIT)
            self._child.wait(START_SECONDS)
            self._child = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _with_small_disk(self, words: list[str]) -> list[str]:
        """In a mount namespace of its own, which ends with it."""
        if not self._small_megabytes:
            return words
        disk = self.folder / "small"
        disk.mkdir(exist_ok=True)
        made = ["unshare", "--mount", "--propagation", "private"]
        owner = disk.parent.stat()
        if os.geteuid() != 0:
            made += ["--user", "--map-current-user", "--keep-caps"]
        mount = f'mount -t tmpfs -o size={self._small_megabytes}m,mode=700,uid={owner.st_uid},gid={owner.st_gid} tmpfs "$0"'
        return [*made, "sh", "-c", f'{mount} && exec "$@"', str(disk), *words]

    @property
    def _filler(self) -> Path:
        assert self._child is not None
        return Path(f"/proc/{self._child.pid}/root{self.folder}/small/filler")

    def fill_small_disk(self) -> None:
        """Takes all room that is left there."""
        with open(self._filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def free_small_disk(self) -> None:
        self._filler.unlink()

    def make_database(self, name: str, tablespace: str = "pg_default") -> str:
        """Its URL, as setting `store` takes it."""
        self.sql("postgres", f"CREATE DATABASE {name} TABLESPACE {tablespace}")
        return self.url(name)

    def url(self, database: str, user: str = "truce") -> str:
        return f"postgres://{user}@/{database}?host={self.folder}&port={PORT}"

    def sql(self, database: str, statements: str) -> str:
        """What it answers, unaligned, without headers."""
        done = subprocess.run([program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url(database)],
                              input=statements, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def dump(self, database: str) -> str:
        """Statements that make it anew, as pg_dump writes them."""
        done = subprocess.run([program("pg_dump"), self.url(database)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def wait_for_sql(self, database: str, question: str, seconds: float, what: str) -> None:
        """Until the answer is `t`."""
        wait_for(lambda: self.sql(database, question) == "t", seconds, what)

    def logs(self, lines: int = 40) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _answers(self) -> bool:
        return subprocess.run([program("pg_isready"), "-q", "-h", str(self.folder), "-p", str(PORT)]).returncode == 0
