"""Findings and denials reach a webhook: each once, over faults of the receiver and over restarts."""

import json
from pathlib import Path

import pytest

from support.buckets import grant, refused
from support.connect_proxy import ConnectProxy
from support.processes import wait_for
from support.receiver import Receiver
from support.truce_process import TruceProcess
from system.test_client_certificates import Authority

SOON = 30
FAIL_OVER = 60  # a lease of 15 s, the exchange of denials each 10 s, on a busy machine


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def notifying(tmp_path):
    """Makes servers that send to a URL, each with a folder of its own; all are ended."""
    made = []

    def make(url: str, kubeconfig: Path | None = None, **config) -> TruceProcess:
        folder = tmp_path / f"server-{len(made)}"
        folder.mkdir()
        config = {"logFormat": "json", "notifyUrlFile": url_file(folder, url), **config}
        made.append(TruceProcess(folder, config, kubeconfig=kubeconfig))
        return made[-1]

    yield make
    for server in made:
        server.stop()


def told(receiver: Receiver, path: str) -> list[str]:
    """The lines of all messages of Slack's form, without titles."""
    return [line for body in receiver.bodies[path] for line in body["text"].splitlines()[1:]]


def url_file(folder: Path, url: str) -> str:
    file = folder / "webhook-url"
    file.write_text(url + "\n")
    return str(file)


def sent(server) -> float:
    return server.metric('truce_notifications_total{outcome="sent"}')


def failed(server) -> float:
    return server.metric('truce_notifications_total{outcome="failed"}')


def test_a_refused_duplicate_arrives_once_over_a_kill(receiver, notifying):
    path = "/services/T0/B0/secret?version=1"
    server = notifying(receiver.url + path, publicURL="https://truce.example.org")
    server.start()
    grant(server, "prod-artifacts")
    refused(server, "prod-artifacts")
    wait_for(lambda: sent(server) == 1, SOON, "the message is taken and noted")
    [line] = told(receiver, path)
    [denial] = server.operator_get("/api/v1/denials")[1]["items"]
    assert line.startswith("• denied: Bucket prod-artifacts-other – ") and denial["cause"] in line
    assert line.endswith(f" https://truce.example.org/denials/{denial['id']}")
    server.kill()
    server.start()
    refused(server, "prod-artifacts")
    grant(server, "prod-files")
    refused(server, "prod-files")
    wait_for(lambda: sent(server) == 1, SOON, "the next message")
    lines = told(receiver, path)
    assert len(lines) == 2 and "prod-files" in lines[1], lines
    assert "secret" not in server.log.read_text()


# What is lost the first time comes with the next.
FAULTS = ["hang", "close", "redirect", "500", "404", "429 4"]


def test_what_a_receiver_does_not_take_comes_again(receiver, notifying):
    made = {}
    for number, fault in enumerate(FAULTS):
        receiver.script[f"/{number}"] = [fault]
        made[number] = notifying(f"{receiver.url}/{number}")
        made[number].start()
        grant(made[number], "taken")
        refused(made[number], "taken")
    for number, fault in enumerate(FAULTS):
        server, path = made[number], f"/{number}"
        wait_for(lambda: sent(server) == 1, SOON, f"a message after: {fault}")
        first, second = (at for asked, at in receiver.asked if asked == path)
        assert failed(server) == 1 and second - first >= (4 if "429" in fault else 1), fault
        assert len(told(receiver, path)) == 1, fault
        log = server.log.read_text()
        assert log.count("notifications are not taken") == log.count("notifications are taken again") == 1, fault
    assert "/elsewhere" not in dict(receiver.asked)


def test_a_wrong_certificate_gets_nothing(notifying, tmp_path):
    trusted, stranger = Authority(tmp_path, "trusted"), Authority(tmp_path, "stranger")
    pairs = [authority.give(host, is_server=True)
             for authority, host in ((trusted, "localhost"), (trusted, "elsewhere"), (stranger, "localhost"))]
    with Receiver(pairs[0]) as good, Receiver(pairs[1]) as misnamed, Receiver(pairs[2]) as foreign:
        made = []
        for receiver in (good, misnamed, foreign):
            server = notifying(receiver.url + "/a", notifyForm="json")
            server.env = {"SSL_CERT_FILE": str(trusted.file)}
            server.start()
            grant(server, "taken")
            refused(server, "taken")
            made.append(server)
        wait_for(lambda: sent(made[0]) == 1, SOON, "the message")
        [body] = good.bodies["/a"]
        [item] = body["items"]
        listed = made[0].operator_get("/api/v1/denials")[1]["items"][0]
        listed.pop("then")
        assert body["cluster"] == "local" and item == {"kind": "denial", **listed}
        for server, receiver in ((made[1], misnamed), (made[2], foreign)):
            wait_for(lambda: failed(server) >= 1, SOON, "a refused certificate")
            assert not receiver.asked
            doctor = server.command("doctor").stdout
            assert "[warn] notifications: the last message was not taken: localhost:" in doctor, doctor


def test_messages_go_through_a_proxy(notifying, tmp_path):
    authority = Authority(tmp_path, "trusted")
    pair = authority.give("hooks.example.org", is_server=True)
    with Receiver(pair) as receiver, ConnectProxy(receiver.port, "ops:p@ss") as proxy:
        for password, taken in (("p%40ss", True), ("stale", False)):
            server = notifying("https://hooks.example.org/a", notifyForm="json")
            server.env = {"SSL_CERT_FILE": str(authority.file), "NO_PROXY": "localhost,.example.com",
                          "HTTPS_PROXY": f"http://ops:{password}@{proxy.address}"}
            server.start()
            grant(server, "taken")
            refused(server, "taken")
            if taken:
                wait_for(lambda: sent(server) == 1, SOON, "the message")
                assert len(receiver.bodies["/a"]) == 1 and proxy.asked == ["hooks.example.org:443"]
            else:
                wait_for(lambda: failed(server) >= 1, SOON, "a refused password")
                doctor = server.command("doctor").stdout
                assert f"proxy {proxy.address} refused a connection to hooks.example.org:443: status 407" in doctor
            assert password not in server.log.read_text()
        assert len(receiver.asked) == 1


def test_another_url_is_taken_over_and_a_bad_one_is_not(receiver, notifying):
    server = notifying(receiver.url + "/first")
    receiver.script["/first"] = ["500"] * 100
    server.start()
    grant(server, "taken")
    refused(server, "taken")
    wait_for(lambda: failed(server) >= 1, SOON, "the first receiver refuses")
    url_file(server.directory, "xoxb-secret")
    changed = 'truce_refused_changes{part="credentials"}'
    wait_for(lambda: server.metric(changed) == 1, SOON, "the bad file is told of")
    log = server.log.read_text()
    assert "does not hold the URL of a webhook" in log and "xoxb" not in log
    url_file(server.directory, receiver.url + "/second")
    wait_for(lambda: sent(server) == 1, SOON, "the message at the second receiver")
    assert server.metric(changed) == 0
    assert len(told(receiver, "/second")) == 1 and not receiver.bodies["/first"]


@pytest.mark.parametrize("content, problem", [
    (None, "No such file"),
    ("", "does not hold the URL of a webhook"),
    ("hooks.example.org/a", "does not hold the URL of a webhook"),
    ("https://user:pass@hooks.example.org/a", "does not hold the URL of a webhook"),
    ("https://hooks.example.org/a b", "does not hold the URL of a webhook"),
    ("ftp://hooks.example.org/a", "does not hold the URL of a webhook"),
    ("http://hooks.example.org/a", "holds a URL of http://"),
])
def test_a_bad_url_ends_the_start(cli, content, problem):
    if content is not None:
        cli.file("url", content)
    done = cli("serve", "--no-cluster", "--data-dir", "data", "--notify-url-file", "url", "--api-address", "127.0.0.1:0",
               "--admission-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0",
               "--probes-address", "127.0.0.1:0")
    assert done.returncode == 2, done.stderr
    assert problem in done.stderr and "notifyUrlFile" in done.stderr and "user:pass" not in done.stderr


def test_a_finding_arrives_in_a_card(receiver, notifying, scripted_api):
    """Nobody registered the webhook at this API server."""
    server = notifying(receiver.url + "/teams", kubeconfig=scripted_api, notifyForm="teams")
    server.start()
    wait_for(lambda: sent(server) >= 1, SOON, "the message")
    [body] = receiver.bodies["/teams"]
    [attachment] = body["attachments"]
    assert body["type"] == "message" and attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    title, first, *_ = attachment["content"]["body"]
    assert title["inlines"][0]["text"].startswith(f"Truce {server.cluster_id}: ")
    found = {item["id"]: item for item in server.operator_get("/api/v1/findings")[1]["items"]}
    finding = found[first["inlines"][-1]["text"].removeprefix("truce findings ")]
    assert finding["severity"] in first["inlines"][0]["text"] and finding["cause"] in first["inlines"][1]["text"]
    server.stop()
    server.start()
    wait_for(lambda: server.operator_get("/api/v1/findings")[1].get("items"), SOON, "it finds as before")
    assert json.dumps(receiver.bodies["/teams"]).count(finding["id"]) == 1


@pytest.mark.slow(60)
def test_of_two_servers_the_leader_tells_and_the_next_one_goes_on(receiver, postgres, database, servers, tmp_path):
    file = url_file(tmp_path, receiver.url + "/a")
    pair = [servers(store=postgres.url(database), notifyUrlFile=file) for _ in range(2)]
    for server in pair:
        server.start()
    grant(pair[0], "taken")
    refused(pair[0], "taken")
    refused(pair[1], "taken")
    wait_for(lambda: sent(pair[0]) + sent(pair[1]) == 1, FAIL_OVER, "the leader tells")
    leader, other = pair if sent(pair[0]) else reversed(pair)
    grant(other, "files")
    refused(other, "files")
    wait_for(lambda: postgres.sql(database, "SELECT count(*) FROM truce.denials") == "2", FAIL_OVER, "the denial is kept")
    leader.kill()
    wait_for(lambda: len(told(receiver, "/a")) == 2, FAIL_OVER, "the next leader tells")
    first, second = told(receiver, "/a")
    assert "taken" in first and "files" in second
