"""Connections without a word: who has something to say is answered as before. The figures under
full load are those of bench/test_floods.py; here counts are bounded."""

from __future__ import annotations

import http.client
import json
import socket
import resource
import ssl
import time

import pytest

import support.truce_process

from support.large_reviews import small_review
from support.processes import Beside
from support.truce_process import BINARY


def probe(address: str, path: str) -> int:
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def ask_from(truce, source: str, number: int) -> int:
    """A review on a connection of its own from the address `source`: the status."""
    context = ssl.create_default_context(cafile=str(truce.ca_file))
    host, _, port = truce.admission_address.rpartition(":")
    connection = http.client.HTTPSConnection(host, int(port), timeout=10, context=context,
                                             source_address=(source, 0))
    try:
        connection.request("POST", "/validate?timeout=5s", json.dumps(small_review(number)),
                           {"Content-Type": "application/json"})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("listener", ["probes", "metrics"])
def test_connections_of_one_byte_keep_no_probe_waiting(truce, listener):
    truce.start()
    address = json.loads((truce.data / "addresses.json").read_text())[listener]
    host, _, port = address.rpartition(":")
    silent = []
    for _ in range(72):
        silent.append(socket.create_connection((host, int(port))))
        silent[-1].sendall(b"G")
    statuses = [probe(address, path) for path in ("/livez", "/readyz") for _ in range(25)]
    assert statuses == [200] * 50
    for each in silent:
        each.close()


def test_probes_have_a_listener_of_their_own(truce):
    truce.start()
    address = json.loads((truce.data / "addresses.json").read_text())["probes"]
    assert probe(address, "/livez") == probe(address, "/readyz") == 200
    assert probe(address, "/metrics") == 404
    assert truce.metrics_get("/livez")[0] == truce.metrics_get("/readyz")[0] == 200


@pytest.mark.parametrize("text", ["", "\x16"], ids=["silent", "slow"])
def test_a_flood_of_connections_from_one_address_fails_no_other(truce, text):
    truce.start()
    with truce.reviewer() as kept:
        assert kept.review(small_review(0))[0] == 200
        with Beside("support.connections", truce.admission_address, "127.0.0.2", 3000, 1600, 3,
                    text) as flood:
            # At least some of the calls meet a full share.
            deadline = time.monotonic() + 20
            while truce.metric('truce_http_connections{listener="admission"}') < 500:
                assert flood.running and time.monotonic() < deadline
            numbers = 0
            while flood.running:
                numbers += 1
                assert kept.review(small_review(numbers))[0] == 200
                assert ask_from(truce, "127.0.0.3", numbers) == 200
            assert int(flood.result()) >= 1000
        assert numbers >= 10
    assert truce.metric('truce_http_rejections_total{listener="admission",reason="connections"}') > 0


@pytest.mark.parametrize("hard", [256, 1024])
def test_few_open_files_are_shared_out(truce, monkeypatch, tmp_path, hard):
    """The soft limit is raised to the hard one, and a flood at every listener leaves files for the
    registry, probes that answer, and room for whoever has something to say."""
    limited = tmp_path / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -Sn 128; ulimit -Hn {hard}; exec {BINARY} "$@"\n')
    limited.chmod(0o755)
    monkeypatch.setattr(support.truce_process, "BINARY", limited)
    truce.start()
    assert resource.prlimit(truce.pid, resource.RLIMIT_NOFILE) == (hard, hard)
    assert f'"connections":{hard // 2}' in truce.log.read_text()
    addresses = json.loads((truce.data / "addresses.json").read_text())
    silent = []
    for listener, count in (("admission", hard), ("api", 70), ("metrics", 70), ("probes", 70)):
        host, _, port = addresses[listener].rpartition(":")
        for number in range(count):
            source = (f"127.0.0.{4 + number % 4}", 0)
            silent.append(socket.create_connection((host, int(port)), 5, source))
    for number in range(1, 20):
        assert ask_from(truce, "127.0.0.3", number) == 200
        assert probe(addresses["probes"], "/readyz") == 200
    assert truce.metric('truce_http_connections{listener="admission"}') <= hard // 2
    for each in silent:
        each.close()
