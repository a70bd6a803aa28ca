"""A wire that can be cut: relays TCP to the gateway until a test says otherwise."""
import asyncio

from . import event_log


class CuttableWire:
    def __init__(self, target_port: int):
        self._target_port = target_port
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_cut = False

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        event_log.stands_in(self.port, self._target_port)
        return self

    async def __aexit__(self, *_):
        self._server.close()
        self.cut()

    def cut(self):
        """Breaks every connection, and new ones as they come."""
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self):
        self._is_cut = False

    async def _relay(self, near_reader: asyncio.StreamReader, near: asyncio.StreamWriter):
        if self._is_cut:
            near.transport.abort()
            return
        far_reader, far = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._writers |= {near, far}
        await asyncio.gather(self._pump(near_reader, far), self._pump(far_reader, near))
        self._writers -= {near, far}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass  # the cut, or an end that went away: both end the relay
        writer.close()
