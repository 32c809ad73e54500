"""What `kubectl port-forward` does, without a kubelet: the bytes of a local port to another address and back."""

from __future__ import annotations

import socket
import socketserver
import threading


class _Both(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with socket.create_connection(self.server.target) as far:
            back = threading.Thread(target=_pass_on, args=(far, self.request), daemon=True)
            back.start()
            _pass_on(self.request, far)
            back.join()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side is gone, and so is the connection


class Forwarder(socketserver.ThreadingTCPServer):
    """Forwards `port` of loopback until stop()."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, target: str):
        super().__init__(("127.0.0.1", 0), _Both)
        host, _, port = target.rpartition(":")
        self.target = (host, int(port))
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
