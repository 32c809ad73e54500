"""Registries that releases wrote, opened by the program of today. `make release-test` also runs the last release
itself, before and after (tests/release/test_upgrade.py)."""

import re
import sqlite3

import pytest
import yaml

from support.truce_process import REPOSITORY, TruceProcess
from upgrade.registry import TOUR, Release, dump, findings, load, releases


def minor(version: str) -> list[str]:
    return version.split(".")[:2]


def test_releases_are_listed_once_each_with_their_registry():
    listed = releases()
    assert listed and len({each.version for each in listed}) == len(listed)
    for each in listed:
        assert re.fullmatch(r"\d+\.\d+\.\d+", each.version) and re.fullmatch(r"[0-9a-f]{40}", each.commit)
    assert {file.name for file in listed[0].dump.parent.glob("*.sql")} == {each.dump.name for each in listed}


@pytest.mark.parametrize("release", releases(), ids=lambda release: release.version)
def test_a_registry_of_an_earlier_release_opens_whole(release: Release, tmp_path):
    text = release.dump.read_text(encoding="utf-8")
    truce = TruceProcess(tmp_path, config=yaml.safe_load(TOUR.read_text()))
    truce.cluster_id = "upgrade"
    load(text, truce.data)
    with truce:
        assert findings(truce) == []
    assert truce.start().running  # and again
    assert findings(truce) == []
    assert truce.stop() == 0
    with sqlite3.connect(truce.data / "truce.db") as database:
        for table in ("declarations", "objects"):
            clusters = {uid.partition("/")[0] for (uid,) in database.execute(f"SELECT uid FROM {table}")}
            assert clusters == {"local"}, table  # "cluster/uid", of the slot beside it
    now = int(re.search(r"user_version = (\d+)", dump(truce.data / "truce.db"))[1])
    before = int(re.search(r"user_version = (\d+)", text)[1])
    version = re.search(r"^\s+VERSION (\d+\.\d+\.\d+)$", (REPOSITORY / "CMakeLists.txt").read_text(), re.M)[1]
    if minor(version) == minor(release.version):
        # Else nobody could go back to a release of the same minor version.
        assert now == before, "a migration needs a new minor version: CMakeLists.txt, charts, CHANGELOG.md"


def test_a_dump_is_the_registry_it_was_made_of(tmp_path):
    text = releases()[-1].dump.read_text(encoding="utf-8")
    load(text, tmp_path / "data")
    assert dump(tmp_path / "data/truce.db") == text
    assert sqlite3.connect(tmp_path / "data/truce.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)
