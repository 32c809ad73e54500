"""Callers who do not prove who they are: counted by cause, and told once a minute."""

import json

from support.api_client import ApiClient
from support.processes import wait_for
from support.truce_process import TruceProcess

TOTAL = "truce_refused_callers_total"


def test_they_are_counted_by_cause_and_told_once(tmp_path):
    with TruceProcess(tmp_path, {"logFormat": "json"}) as truce:
        addresses = json.loads((truce.data / "addresses.json").read_text())
        for _ in range(5):
            assert ApiClient(addresses["api"], truce.ca_file, "wrong-token-0001").get("/api/v1/resources").status == 401
        assert ApiClient(addresses["api"], truce.ca_file).get("/api/v1/resources").status == 401
        assert truce.metric(f'{TOTAL}{{cause="token"}}') == 5, "who shows nothing tries nothing"
        assert truce.metric(f'{TOTAL}{{cause="path"}}') == 0

        def told() -> list[dict]:
            lines = [json.loads(line) for line in truce.log.read_text().splitlines() if line[:1] == "{"]
            return [line for line in lines if line["event"] == "callers refused"]

        [line] = wait_for(told, 10, "a line in the log")
        assert line["path"] == 0 and 0 < line["token"] <= 5


def test_when_the_last_copy_was_given_outlives_a_restart(tmp_path):
    with TruceProcess(tmp_path) as truce:
        assert truce.metric("truce_backup_timestamp_seconds") == 0
        copied = truce.command("backup", str(tmp_path / "copy.db"))
        assert copied.returncode == 0, copied
        given = truce.metric("truce_backup_timestamp_seconds")
        assert given > 0
        truce.stop()
        truce.start()
        assert truce.metric("truce_backup_timestamp_seconds") == given
