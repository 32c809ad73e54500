"""What `kubectl port-forward` and a Service do, without a kubelet: the bytes of a local port to another address and
back."""

from __future__ import annotations

import socket
import socketserver
import threading


class _Both(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        far = self.server.connect()
        if far is None:
            return
        with far:
            back = threading.Thread(target=pass_on, args=(far, self.request), daemon=True)
            back.start()
            pass_on(self.request, far)
            back.join()


def pass_on(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side is gone, and so is the connection


class Forwarder(socketserver.ThreadingTCPServer):
    """Forwards `port` of loopback until stop(), each connection to the next of its targets that takes it. Internally
    synchronized."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, *targets: str):
        super().__init__(("127.0.0.1", 0), _Both)
        self._lock = threading.Lock()
        self._targets = list(targets)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def add(self, target: str) -> None:
        with self._lock:
            self._targets.append(target)

    def remove(self, target: str) -> None:
        """For new connections; those that it has go on."""
        with self._lock:
            self._targets.remove(target)

    def connect(self) -> socket.socket | None:
        """None when no target takes it."""
        with self._lock:
            self._targets.append(self._targets.pop(0))
            targets = list(self._targets)
        for target in targets:
            host, _, port = target.rpartition(":")
            try:
                return socket.create_connection((host, int(port)))
            except OSError:
                continue
        return None

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
