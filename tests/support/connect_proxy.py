"""An HTTP proxy that opens ways by CONNECT, all of them to one place."""

from __future__ import annotations

import base64
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support.forwarder import pass_on


class ConnectProxy:
    """Listens on a port of 127.0.0.1. Whatever a caller wants to reach, it reaches `port` of this machine; with
    `password` ("user:password") only if it shows that. Ends with its `with`."""

    def __init__(self, port: int, password: str | None = None):
        self.asked: list[str] = []  # what callers wanted to reach: "host:port"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_CONNECT(self):
                outer.asked.append(self.path)
                shown = self.headers.get("Proxy-Authorization", "").removeprefix("Basic ")
                if password and base64.b64decode(shown).decode() != password:
                    self.send_error(407)
                    return
                with socket.create_connection(("127.0.0.1", port)) as far:
                    self.send_response(200)
                    self.end_headers()
                    back = threading.Thread(target=pass_on, args=(far, self.connection), daemon=True)
                    back.start()
                    pass_on(self.connection, far)
                    back.join()
                self.close_connection = True

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "ConnectProxy":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()
