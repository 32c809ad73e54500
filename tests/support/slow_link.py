"""A way to a PostgreSQL server on which each byte takes a while."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from pathlib import Path

from support.postgres import PORT


class SlowLink:
    """Listens on a socket in a folder of its own; what comes leaves `delay` seconds later, in order and without end, in
    either direction: a round trip takes twice that, however much is sent at once."""

    def __init__(self, server: Path, delay: float):
        self.folder = Path(tempfile.mkdtemp(prefix="truce-slow-"))
        self.delay = delay
        self._server = server
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._listening.wait(10)

    def url(self, database: str) -> str:
        return f"postgres://truce@/{database}?host={self.folder}&port={PORT}"

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(asyncio.start_unix_server(self._meet, self._socket(self.folder)))
        self._listening.set()
        self._loop.run_forever()

    @staticmethod
    def _socket(folder: Path) -> str:
        return str(folder / f".s.PGSQL.{PORT}")

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(self._socket(self._server))
        await asyncio.gather(self._carry(reader, there_writer), self._carry(there_reader, writer))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                self._loop.call_later(self.delay, writer.write, data)
        self._loop.call_later(self.delay, writer.close)
