"""A webhook's receiver that answers as a test says and keeps what it got."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Receiver:
    """Listens on a port of 127.0.0.1, with TLS if given `certificate` (PEM with its key). Takes everything, but for
    the first messages of a path in `script`: hang, close, redirect, or "429 4", a status with its Retry-After. Ends with
    its `with`."""

    def __init__(self, certificate: Path | None = None):
        self.script: dict[str, list[str]] = {}
        self.bodies: dict[str, list[dict]] = defaultdict(list)  # taken, by path with query
        self.asked: list[tuple[str, float]] = []  # every path that was asked for, and when
        self._ended = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                outer._answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # The handshake belongs to the connection's own thread.
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self._server.server_address[1]
        self.url = f"{'https' if certificate else 'http'}://localhost:{self.port}"

    def __enter__(self) -> "Receiver":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path
        body = request.rfile.read(int(request.headers["Content-Length"]))
        self.asked.append((path, time.monotonic()))
        script = self.script.get(path) or ["take"]
        act = script.pop(0)
        if act == "hang":
            self._ended.wait()
        elif act == "close":
            request.close_connection = True
        elif act == "take":
            assert request.headers["Content-Type"] == "application/json; charset=utf-8"
            self.bodies[path].append(json.loads(body))
            self._reply(request, 200)
        elif act == "redirect":
            self._reply(request, 307, {"Location": f"{self.url}/elsewhere"})
        else:
            status, _, wait = act.partition(" ")
            self._reply(request, int(status), {"Retry-After": wait} if wait else {})

    @staticmethod
    def _reply(request: BaseHTTPRequestHandler, status: int, headers: dict[str, str] | None = None) -> None:
        request.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": "2"}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(b"ok")
