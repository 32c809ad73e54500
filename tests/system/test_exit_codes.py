"""One table of exit codes, whichever command asks and whichever way it reaches the server."""

import http.server
import json
import socketserver
import threading
import time
import urllib.parse

import pytest

from support.truce_process import BINARY
from system.test_cli import ASK_NO_SERVER, NEEDS, NO, OK, UNREACHABLE, USAGE, commands_of

pytestmark = pytest.mark.slow(2.8)

# The table: what an answer of HTTP means to the shell.
MEANS = {400: USAGE, 401: NO, 403: NO, 404: NO, 405: USAGE, 408: UNREACHABLE, 409: NO, 412: NO,
         413: USAGE, 415: USAGE, 422: USAGE, 428: USAGE, 429: UNREACHABLE, 500: UNREACHABLE,
         502: UNREACHABLE, 503: UNREACHABLE, 504: UNREACHABLE}
ARGUMENTS = NEEDS | {
    "check": ["manifest.yaml", "--timeout", "1"],
    "explain": ["--policy", "-f", "manifest.yaml"],
    "backup": ["copy.db"],
}


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers every request with one status."""

    protocol_version = "HTTP/1.1"
    status = 500
    seen: list = []

    def answer(self):
        type(self).seen.append((self.path, self.headers.items()))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps({"status": self.status, "detail": "as the test says"}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def address_string(self):
        return "test"

    def log_message(self, *_):
        pass


class OnSocket(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@pytest.fixture
def places(cli):
    """The flags that reach the refusing server beside the command, and over the network."""
    cli.file("list.csv", "type,name\ns3/Bucket,b\n")
    cli.file("manifest.yaml", "apiVersion: s3.aws.upbound.io/v1beta1\nkind: Bucket\n"
             "metadata: {name: a-bucket}\n")
    (cli.directory / "data").mkdir()
    handler = type("Handler", (Refusing,), {"seen": []})
    local = OnSocket(str(cli.directory / "data" / "truce.sock"), handler)
    remote = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    for server in (local, remote):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    handler.flags = {"beside": ["--data-dir", "data"],
                     "network": ["--server", f"http://127.0.0.1:{remote.server_port}"]}
    yield handler
    for server in (local, remote):
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("status", MEANS)
def test_the_status_decides_and_not_the_command(cli, places, status):
    places.status = status
    wrong = []
    for command in sorted(set(commands_of(cli)) - ASK_NO_SERVER | {"explain", "backup"}):
        ways = [] if command == "backup" else ["beside"]  # that copies the directory itself
        if "--server" in cli(command, "--help").stdout:
            ways.append("network")
        for way in ways:
            result = cli(command, *ARGUMENTS.get(command, []), *places.flags[way])
            told = "as the test says" in result.stderr or f"({status})" in result.stderr
            if result.returncode != MEANS[status] or not told:
                wrong.append((command, way, result.returncode, result.stderr))
    assert not wrong


@pytest.mark.parametrize("status", sorted(MEANS) + [201])
def test_the_same_through_an_api_server(cli, places, status):
    """By a denial of a check; 201: nobody denied it, so the cluster does not ask Truce."""
    places.status = status
    server = places.flags["network"][1]
    kubeconfig = cli.file("kubeconfig", json.dumps({
        "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}]}))
    expected = MEANS.get(status, UNREACHABLE)
    result = cli("check", "manifest.yaml", "--timeout", "1", "--admission", "--kubeconfig", kubeconfig, "-n", "team-a")
    assert result.returncode == expected, result
    assert status != 201 or "does not ask Truce" in result.stderr, result


def test_as_and_the_namespace_are_those_of_kubectl(cli, places):
    places.status = 201
    kubeconfig = cli.file("kubeconfig", json.dumps({
        "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "namespace": "team-b"}}],
        "clusters": [{"name": "c", "cluster": {"server": places.flags["network"][1]}}]}))
    check = ["check", "manifest.yaml", "--timeout", "1", "--admission", "--kubeconfig", kubeconfig]

    def asked(*words: str, **variables: str) -> tuple[str, list[str]]:
        places.seen.clear()
        cli(*words, **variables)
        path, fields = places.seen[0]
        return path.split("/namespaces/")[1].split("/")[0], sorted(
            value for name, value in fields if name.startswith("Impersonate-"))

    assert asked(*check) == ("team-b", [])
    assert asked(*check, "-n", "team-a") == ("team-a", [])
    assert asked(*check, TRUCE_NAMESPACE="team-c") == ("team-c", [])
    assert asked(*check, "--as", "ann", "--as-group", "one", "--as-group", "two") == (
        "team-b", ["ann", "one", "two"])
    # Through the service proxy, too: whoever it is requests the token, and passes the proxy.
    assert asked("list", "--kubeconfig", kubeconfig, "--service-account", "team-d/reader", "--as", "ann") == (
        "team-d", ["ann"])
    # A list of one namespace is of the context's, unless another one or all are meant.
    token = ["--kubeconfig", kubeconfig, "--token-file", cli.file("token", "x")]
    for words, meant in ((["list"], "team-b"), (["denials"], "team-b"), (["list", "-n", "team-a"], "team-a"),
                         (["list", "-A"], None), (["audit"], None), (["services"], None)):
        places.seen.clear()
        cli(*words, *token)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(places.seen[0][0]).query)
        assert query.get("namespace", [None]) == [meant], (words, places.seen)
    for words, message in ((["--as", "ann", *places.flags["network"]], "leave out --server"),
                           (["--as-group", "one", "--kubeconfig", kubeconfig], "--as-group needs --as"),
                           (["--as", "a\nb", "--kubeconfig", kubeconfig], "control characters")):
        result = cli("list", *words, "--token-file", cli.file("token", "x"))
        assert result.returncode == USAGE and message in result.stderr, (words, result)


def test_the_table_is_in_the_help(cli):
    table = cli("--help").stdout.split("Exit codes:")[1]
    for word in ("401", "403", "404", "429", "5xx"):
        assert word in table


def test_check_without_any_server_says_so_at_once(cli):
    cli.file("manifest.yaml", "apiVersion: s3.aws.upbound.io/v1beta1\nkind: Bucket\n"
             "metadata: {name: a-bucket}\n")
    begin = time.monotonic()
    result = cli("check", "manifest.yaml")
    assert time.monotonic() - begin < 5
    assert result.returncode == UNREACHABLE
    [line] = result.stderr.splitlines()
    assert "no server" in line and "--server" in line and "--offline" in line
    lenient = cli("check", "manifest.yaml", "--on-unreachable", "warn")
    assert lenient.returncode == OK and "warning" in lenient.stderr


def test_check_tells_of_its_retries_where_somebody_reads(cli, places):
    places.status = 503
    command = ["check", "manifest.yaml", *places.flags["network"], "--timeout", "1"]
    silent = cli(*command)
    assert len(silent.stderr.splitlines()) == 1, "a log gets the outcome alone"
    told = cli(*command, "-v")
    first = told.stderr.splitlines()[0]
    assert "as the test says (503)" in first and "next attempt in" in first
    assert told.returncode == silent.returncode == UNREACHABLE
    terminal = on_terminal([str(BINARY), *command], cli.directory)
    assert "next attempt in" in terminal


def on_terminal(command: list[str], directory) -> str:
    """What the command writes to a terminal as its standard error."""
    import os
    import pty
    import subprocess
    master, slave = pty.openpty()
    process = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    written = b""
    try:
        while chunk := os.read(master, 4096):
            written += chunk
    except OSError:
        pass  # the other end closed
    os.close(master)
    process.wait(timeout=30)
    return written.decode()
