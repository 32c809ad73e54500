"""A proxy that speaks TLS to clients of a PostgreSQL server, in records as long as TLS has them."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from pathlib import Path

SSL_REQUEST = 80877103
RECORD = 1 << 14
MORE_SECONDS = 0.02  # an answer has ended when no more of it came for so long


class TlsFront:
    """Listens on a port of 127.0.0.1; `socket_path` is the server's. Ends with its `with`."""

    def __init__(self, socket_path: Path, certificate: Path, key: Path):
        self._target = str(socket_path)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> "TlsFront":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        # Wakes who accepts, which closing alone does not.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as server:
            while int.from_bytes(plain.recv(8, socket.MSG_WAITALL)[4:], "big") != SSL_REQUEST:
                plain.sendall(b"N")
            plain.sendall(b"S")
            server.connect(self._target)
            with self._context.wrap_socket(plain, server_side=True) as client:
                while _pass_on(client, server):
                    pass


def _pass_on(client: ssl.SSLSocket, server: socket.socket) -> bool:
    """What came from either; False: one of them has ended."""
    ready = [client] if client.pending() else select.select([client, server], [], [])[0]
    if client in ready:
        piece = client.recv(RECORD)
        server.sendall(piece)
        return bool(piece)
    answer = _whole_answer(server)
    # The last record is full: what does not fit goes first.
    first = len(answer) % RECORD
    for begin, end in [(0, first), *((at, at + RECORD) for at in range(first, len(answer), RECORD))]:
        if begin < end:
            client.sendall(answer[begin:end])
    return bool(answer)


def _whole_answer(server: socket.socket) -> bytes:
    answer = server.recv(1 << 20)
    while answer and select.select([server], [], [], MORE_SECONDS)[0] and (more := server.recv(1 << 20)):
        answer += more
    return answer
