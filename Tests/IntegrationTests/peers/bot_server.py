"""A bot that is a WebSocket server, which the gateway connects to (docs/bots.md, *The gateway connects out*).

Whatever it is told, and whatever it says with `say`, is held against `openapi/asyncapi.yaml`."""
import asyncio
import json
import socket
import ssl
import time

import jsonschema
import numpy
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from .stream import echo
from .stream_contract import SocketContract, held

SUBPROTOCOL = "orbweaver.stream.v1"


class BotSocket:
    """One connection of the gateway."""

    def __init__(self, socket: ServerConnection):
        self.socket = socket
        self.headers = socket.request.headers
        self.path = socket.request.path
        self.told: list[dict] = []
        """Messages about the stream, in their order."""
        self.count = 0
        """How many messages with audio have come."""
        self.fault: Exception | None = None
        """What it was told although the contract has it otherwise; nothing is read behind it."""
        self.code: int | None = None

    async def say(self, **message):
        """A frame of the contract. What a program should not say goes by `socket.send`."""
        text = json.dumps(message)
        held("bot", text)
        await self.socket.send(text)

    async def play(self, samples: numpy.ndarray, piece: int = 16_000):
        data = samples.astype("<i2").tobytes()
        for start in range(0, len(data), 2 * piece):
            await self.socket.send(data[start : start + 2 * piece])

    async def expect(self, type: str, timeout: float = 20) -> dict:
        """The first message of this type that was not expected before."""
        end = time.monotonic() + timeout
        while not (found := [message for message in self.told if message["type"] == type]):
            if self.fault:
                raise self.fault
            assert time.monotonic() < end, f"no {type}; told {self.told[-5:]}, closed with {self.code}"
            await asyncio.sleep(0.02)
        self.told.remove(found[0])
        return found[0]

    async def closed(self, timeout: float = 20) -> int:
        async with asyncio.timeout(timeout):
            while self.code is None:
                if self.fault:
                    raise self.fault
                await asyncio.sleep(0.02)
        return self.code


class BotServer:
    """To be used as a context. Its port stays the same while it is down."""

    def __init__(
        self, echoes: bool = False, tls: ssl.SSLContext | None = None, status: int | None = None,
        subprotocol: str | None = SUBPROTOCOL, reads: bool = True, closes: int | None = None,
    ):  # fmt: skip
        """`echoes`: sends back what it is sent. `status`: answers every opening handshake with it. `subprotocol`: the
        one that it insists on; `None`: it speaks another dialect, whose messages are taken as they come. `reads`:
        otherwise its sockets take a few KB and then nothing. `closes`: closes each socket at once with this code; 1006:
        without a word."""
        self.sockets: list[BotSocket] = []
        self.handshakes: list[float] = []
        """When the gateway has asked for a socket."""
        self.port = 0
        self._echoes, self._tls, self._status = echoes, tls, status
        self._reads, self._closes = reads, closes
        self._subprotocols = [subprotocol] if subprotocol else None
        self._server = None

    @property
    def url(self) -> str:
        return f"wss://localhost:{self.port}/talk?x=1" if self._tls else f"ws://127.0.0.1:{self.port}/talk?x=1"

    async def __aenter__(self) -> "BotServer":
        await self.up()
        return self

    async def __aexit__(self, failure: type | None = None, *_):
        await self.down()
        for each in self.sockets:
            if each.fault and failure is None:
                raise each.fault

    async def up(self):
        place = {"host": "127.0.0.1", "port": self.port}
        own = place if self._reads else {"sock": self._small_socket(), "ping_interval": None}
        self._server = await serve(
            self._serve, subprotocols=self._subprotocols, compression=None, max_size=None, ssl=self._tls,
            process_request=self._request, **own,
        )  # fmt: skip
        self.port = self._server.sockets[0].getsockname()[1]

    def _small_socket(self) -> socket.socket:
        """To listen on; what it accepts has little room for what it is sent."""
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
        small.bind(("127.0.0.1", self.port))
        return small

    async def down(self, code: int = 1001):
        if self._server is None:
            return
        server, self._server = self._server, None
        if not self._reads:  # nor would it read the answer to its close
            self.abort()
            await asyncio.gather(*(each.socket.wait_closed() for each in self.sockets))
        for each in self.sockets:
            if each.code is None:
                await each.socket.close(code)
        server.close()
        await server.wait_closed()

    def abort(self):
        """Loses all sockets without a word."""
        for each in self.sockets:
            each.socket.transport.abort()

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        self.handshakes.append(time.monotonic())
        return connection.respond(self._status, "no\n") if self._status else None

    async def _serve(self, connection: ServerConnection):
        own, contract = BotSocket(connection), SocketContract() if self._subprotocols else None
        self.sockets.append(own)
        if not self._reads:
            connection.transport.pause_reading()
            await connection.wait_closed()
        if self._closes == 1006:
            connection.transport.abort()
        elif self._closes:
            await connection.close(self._closes)
        try:
            async for message in connection:
                if isinstance(message, bytes):
                    if contract:
                        contract.audio(message)
                    own.count += 1
                    if self._echoes:
                        await echo(connection, message)
                else:
                    own.told.append(contract.text(message) if contract else json.loads(message))
        except ConnectionClosed:
            pass
        except (AssertionError, jsonschema.ValidationError) as fault:
            own.fault = fault
        own.code = connection.close_code

    async def socket(self, number: int = 1, timeout: float = 30) -> BotSocket:
        """The connection of that number, once it is there."""
        async with asyncio.timeout(timeout):
            while len(self.sockets) < number:
                await asyncio.sleep(0.02)
        return self.sockets[number - 1]
