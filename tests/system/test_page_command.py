"""`truce page`: a browser on this machine asks through the API server's proxy, as the commands do."""

import http.client
import http.server
import json
import os
import re
import subprocess
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from support.processes import wait_for
from support.truce_process import BINARY, require_binary

OK, USAGE, UNREACHABLE = 0, 2, 3
TOKENS = "/api/v1/namespaces/team-a/serviceaccounts/reader/token"
PROXY = "/api/v1/namespaces/truce-system/services/https:truce-api:api/proxy"
LIFE_SECONDS = 3  # of a token: so it is renewed twice within the test
PATIENCE = 30


class FakeApiServer(http.server.BaseHTTPRequestHandler):
    """Gives tokens that soon end, and answers as Truce behind the proxy to who shows one that holds."""

    protocol_version = "HTTP/1.1"
    ends: dict[str, float] = {}

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == TOKENS and asked["spec"]["audiences"] == ["truce"]
        token = f"token-{len(self.ends)}"
        end = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(seconds=LIFE_SECONDS)
        self.ends[token] = end.timestamp()
        self.say(201, "application/json", json.dumps({"status": {
            "token": token, "expirationTimestamp": end.strftime("%Y-%m-%dT%H:%M:%SZ")}}))

    def do_GET(self):
        assert self.path.startswith(PROXY + "/"), self.path
        token = self.headers.get("X-Truce-Authorization", "").removeprefix("Bearer ")
        if self.ends.get(token, 0) < time.time():
            self.say(401, "application/problem+json", json.dumps({"detail": f"{token} is over"}))
        elif self.path.startswith(PROXY + "/api/"):
            self.say(200, "application/json", json.dumps(
                {"token": token, "path": self.path.removeprefix(PROXY), "fields": dict(self.headers)}))
        else:  # as the API server writes links of documents anew
            self.say(200, "text/html; charset=utf-8", f'<script src="{PROXY}/page/app.js"></script>')

    def say(self, status: int, media_type: str, body: str):
        self.send_response(status)
        for name, value in (("Content-Type", media_type), ("Content-Length", str(len(body.encode()))),
                            ("ETag", '"one"')):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def api_server(tmp_path):
    """Its kubeconfig."""
    require_binary()
    handler = type("Handler", (FakeApiServer,), {"ends": {}})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "u", "user": {"token": "mine"}}]}))
    yield file
    server.shutdown()
    server.server_close()


class Page:
    """A running `truce page`, and what its browser was told."""

    def __init__(self, directory: Path, kubeconfig: Path, *more: str):
        self.opened = directory / "opened"
        browser = directory / "browser"
        browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{self.opened}.new"\nmv "{self.opened}.new" "{self.opened}"\n')
        browser.chmod(0o755)
        self.process = subprocess.Popen(
            [str(BINARY), "page", *more, "--kubeconfig", str(kubeconfig), "--service-account", "team-a/reader"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=directory,
            env={"PATH": os.environ["PATH"], "BROWSER": str(browser)})
        self.line = self.process.stdout.readline()
        found = re.search(r"http://127[.]0[.]0[.]1:([0-9]+)(/[^ \n]*)", self.line)
        assert found, self.line + self.process.stderr.read()
        self.port, self.path = int(found[1]), found[2]
        self.cookie = ""

    def get(self, path: str, **headers: str) -> tuple[int, dict, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", path, headers=({"Cookie": self.cookie} if self.cookie else {}) | headers)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def enter(self) -> str:
        """Goes in by the key; where that led."""
        status, headers, _ = self.get(self.path)
        assert status == 303, status
        assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        self.cookie = headers["Set-Cookie"].split(";")[0]
        return headers["Location"]

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture
def page(tmp_path, api_server):
    running = Page(tmp_path, api_server)
    yield running
    assert running.end() == OK
    running.process.stdout.close()
    running.process.stderr.close()


def test_the_browser_is_let_in_once(page):
    assert page.line.startswith("The browser shows ")
    wait_for(page.opened.exists, PATIENCE, "the browser opened")
    assert page.opened.read_text() == f"http://127.0.0.1:{page.port}{page.path}"
    assert page.get("/")[0] == 403 and page.get("/api/v1/resources")[0] == 403
    assert page.enter() == "/"
    status, headers, document = page.get("/")
    assert (status, document) == (200, '<script src="/page/app.js"></script>')
    assert {name.lower(): value for name, value in headers.items()}["etag"] == '"one"'
    cookie, page.cookie = page.cookie, ""
    assert page.get(page.path)[0] == 403, "the key holds once"
    assert page.get("/", Cookie=cookie, Host=f"evil.example.org:{page.port}")[0] == 421


def test_the_token_is_renewed_before_it_ends(page):
    page.enter()
    seen = set()

    def renewed_twice() -> bool:
        status, _, body = page.get("/api/v1/resources?name=a%2Fb%26c%20d&limit=1")
        assert status == 200, body
        answer = json.loads(body)
        asked = urlsplit(answer["path"])
        assert (asked.path, parse_qs(asked.query)) == (
            "/api/v1/resources", {"name": ["a/b&c d"], "limit": ["1"]})
        assert "Cookie" not in answer["fields"]
        seen.add(answer["token"])
        return len(seen) == 3

    wait_for(renewed_twice, PATIENCE, "a third token")


def test_links_of_denials_and_bad_ones(tmp_path, api_server, cli):
    running = Page(tmp_path, api_server, "https://truce.example.org/r/k3j5x7q2m4n6p", "--no-browser")
    try:
        assert running.line.startswith("Open ") and not running.opened.exists()
        assert running.enter() == "/r/k3j5x7q2m4n6p"
        taken = cli("page", "--port", str(running.port), "--no-browser", "--kubeconfig", str(api_server),
                    "--service-account", "team-a/reader")
        assert taken.returncode == 5 and "in use" in taken.stderr
    finally:
        assert running.end() == OK
        running.process.stdout.close()
        running.process.stderr.close()
    for bad in ("resources", "//elsewhere/x", "/a b", "/<script>"):
        refused = cli("page", bad)
        assert refused.returncode == USAGE and "no address of the page" in refused.stderr, bad
    nobody = cli("page", "--server", "https://127.0.0.1:1")
    assert nobody.returncode == UNREACHABLE and len(nobody.stderr.splitlines()) == 1
    assert "check the address and --ca-file" in nobody.stderr, "what every command advises"
