"""A database further away: `python -m bench.delay OWN_SOCKET DATABASE_SOCKET MILLISECONDS` forwards connections, each
direction half the round trip late, until it is killed."""

from __future__ import annotations

import asyncio
import sys
from asyncio import StreamReader, StreamWriter

PIECE = 1 << 16


async def _pass_on(source: StreamReader, sink: StreamWriter, seconds: float) -> None:
    """Pieces in their order, each as late as the others; the last one closes the sink."""
    loop = asyncio.get_running_loop()
    due: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            at, piece = await due.get()
            await asyncio.sleep(at - loop.time())
            if not piece:
                sink.close()
                return
            sink.write(piece)

    delivering = asyncio.create_task(deliver())
    try:
        while piece := await source.read(PIECE):
            due.put_nowait((loop.time() + seconds, piece))
    except OSError:
        pass  # one side is gone, and so is the connection
    due.put_nowait((loop.time() + seconds, b""))
    await delivering


async def _serve(own: str, database: str, seconds: float) -> None:
    async def connected(reader: StreamReader, writer: StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(database)
        await asyncio.gather(_pass_on(reader, far_writer, seconds / 2), _pass_on(far_reader, writer, seconds / 2))

    server = await asyncio.start_unix_server(connected, own)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], sys.argv[2], float(sys.argv[3]) / 1000))
