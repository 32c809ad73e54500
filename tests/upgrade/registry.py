"""Registries of earlier releases, as text: what each knows, how it is written down, how it is opened again."""

from __future__ import annotations

import csv
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from support.truce_process import REPOSITORY, TruceProcess
from system.tour import REVIEWS, Server

FOLDER = Path(__file__).resolve().parent
TOUR = REPOSITORY / "tests/system/tour.yaml"
BUCKET, FREED = "prod-artifacts", "payments-prod-bucket"
IDENTITY = ("application_id", "user_version")  # which iterdump leaves out


@dataclass(frozen=True)
class Release:
    version: str
    commit: str

    @property
    def dump(self) -> Path:
        return FOLDER / f"{self.version}.sql"


def releases() -> list[Release]:
    """The rows of releases.tsv, the oldest first."""
    with (FOLDER / "releases.tsv").open(encoding="utf-8") as lines:
        rows = csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t")
        return [Release(*row) for row in rows]


def fill(truce: TruceProcess) -> None:
    """Gives a running server, whose configuration is TOUR, one of everything that a registry keeps."""
    server = Server(truce.data)
    for name in ("service-a", "service-b", "service-c-renamed"):
        server.review(json.loads((REVIEWS / f"{name}.json").read_text()))
    for command in (
        ("confirm", "ObjectStorage.platform.example.org", "team-a/artifacts"),
        ("protect", BUCKET, "--reason", "customer data"),
        ("share", BUCKET, "--with", "team-d", "--level", "observe", "--for", "90d", "--reason", "ticket 1"),
        ("override", "--namespace", "team-z", "--for", "1h", "--reason", "ticket 2"),
        ("release", "s3/Bucket", FREED, "--reason", "ticket 3"),
    ):
        done = truce.command(*command)
        assert done.returncode == 0, f"{command}: {done.stderr}"


def findings(truce: TruceProcess) -> list[str]:
    """What of it a running server does not know, or takes for something else."""
    wrong = []

    def expect(what: str, is_true: bool) -> None:
        if not is_true:
            wrong.append(what)

    owner = truce.command("who-owns", f"s3/Bucket/{BUCKET}").stdout
    expect(f"owner of {BUCKET}: {owner}", "ObjectStorage team-a/artifacts" in owner and "held" in owner)
    expect(f"{FREED} is free", truce.command("who-owns", FREED).returncode == 1)
    described = truce.command("describe", BUCKET, "-o", "json").stdout
    expect("protection", '"customer data"' in described)
    expect("share", "namespace team-d" in truce.command("share", BUCKET).stdout)
    actions = {each["action"] for each in json.loads(truce.command("audit", "-o", "json").stdout)["items"]}
    expect(f"history: {sorted(actions)}", {"granted", "released"} <= actions)
    expect("who was refused", '"duplicate-ownership"' in truce.command("denials", "-o", "json").stdout)
    refused = Server(truce.data).review(json.loads((REVIEWS / "service-b.json").read_text()))
    expect("a duplicate is refused", not refused["allowed"] and "team-a/artifacts" in refused["status"]["message"])
    return wrong


def dump(database: Path) -> str:
    """The whole of a registry as SQL, in the order of its tables."""
    connection = sqlite3.connect(database)
    try:
        lines = list(connection.iterdump())
        identity = [f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};" for name in IDENTITY]
    finally:
        connection.close()
    return "\n".join(identity + lines) + "\n"


def load(text: str, data: Path) -> None:
    """A data folder with this registry."""
    data.mkdir(mode=0o700, parents=True)
    connection = sqlite3.connect(data / "truce.db")
    try:
        connection.executescript(text)
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
    finally:
        connection.close()
