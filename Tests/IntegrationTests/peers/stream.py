"""A program on the audio stream of a call (docs/bots.md, *Audio streams*): the few lines of WebSocket that it is.

Whatever it is told, and whatever it says with `say`, is held against `openapi/asyncapi.yaml`."""
import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

import jsonschema
import numpy
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.connection import Connection
from websockets.exceptions import ConnectionClosed

from .bot import DEMO_KEY
from .stream_contract import SocketContract, held


async def echo(socket: Connection, message: str | bytes):
    """Sends it back, unless the stream has ended: what came before the end is read although nothing can be sent."""
    with contextlib.suppress(ConnectionClosed):
        await socket.send(message)


class Stream:
    """In the gateway's own dialect, with samples of 16 bits; to be used as a context. It reads in the background."""

    def __init__(
        self, base: str, call: str, key: str = DEMO_KEY, echoes: bool = False, reads: bool = True,
        hear: Callable[[bytes], None] | None = None, **query,
    ):  # fmt: skip
        """`echoes`: sends back what it is sent. `reads`: otherwise its socket takes a few KB and then nothing. `hear`:
        is given the audio that comes. `query`: the parameters of the stream."""
        self.uri = f"{base.replace('http', 'ws', 1)}/v1/calls/{call}/stream?{urlencode(query)}"
        self.told: list[dict] = []
        """Messages about the stream, in their order."""
        self.frames: list[tuple[float, int]] = []
        """When audio came, and how many bytes."""
        self.pieces: list[tuple[int, bytearray]] = []
        """Audio without gaps: the media time at which a piece starts, in milliseconds, and its bytes."""
        self.fault: Exception | None = None
        """What it was told although the contract has it otherwise; nothing is read behind it."""
        self.code: int | None = None
        """With which code the socket was closed; `None` while it is open."""
        self._key, self._echoes, self._reads, self._hear = key, echoes, reads, hear
        self.socket: ClientConnection | None = None

    async def __aenter__(self) -> "Stream":
        own = {} if self._reads else {"sock": await self._small_socket(), "ping_interval": None}
        self.socket = await connect(
            self.uri, additional_headers={"Authorization": f"Bearer {self._key}"}, compression=None, max_size=None,
            proxy=None, **own,
        )  # fmt: skip
        if not self._reads:
            self.socket.transport.pause_reading()
        self._reader = asyncio.create_task(self._read()) if self._reads else None
        return self

    async def _small_socket(self) -> socket.socket:
        """Connected, with little room for what it is sent."""
        address = urlsplit(self.uri)
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
        small.setblocking(False)
        await asyncio.get_running_loop().sock_connect(small, (address.hostname, address.port))
        return small

    async def __aexit__(self, failure: type | None = None, *_):
        if self._reader:
            await self.socket.close()
            await self._reader
        else:
            self.socket.transport.abort()
        if self.fault and failure is None:
            raise self.fault

    async def _read(self):
        contract = SocketContract()
        try:
            async for message in self.socket:
                if isinstance(message, bytes):
                    contract.audio(message)
                    self.frames.append((time.monotonic(), len(message)))
                    self.pieces[-1][1].extend(message)
                    if self._hear:
                        self._hear(message)
                    if self._echoes:
                        await echo(self.socket, message)
                else:
                    self.told.append(told := contract.text(message))
                    if told["type"] == "media":
                        self.pieces.append((told["at"], bytearray()))
        except ConnectionClosed:
            pass
        except (AssertionError, jsonschema.ValidationError) as fault:
            self.fault = fault
        self.code = self.socket.close_code

    async def say(self, **message):
        """A frame of the contract. What a program should not say goes by `socket.send`."""
        text = json.dumps(message)
        held("bot", text)
        await self.socket.send(text)

    async def play(self, samples: numpy.ndarray, piece: int = 16_000):
        """Samples of 16 bits at the rate of the stream, in messages of so many samples, as fast as they go."""
        data = samples.astype("<i2").tobytes()
        for start in range(0, len(data), 2 * piece):
            await self.socket.send(data[start : start + 2 * piece])

    async def expect(self, type: str, timeout: float = 20, **members) -> dict:
        """The first message of this type with these members that was not expected before."""
        def fits(message: dict) -> bool:
            return message["type"] == type and all(message.get(name) == each for name, each in members.items())

        await self.until(lambda: any(map(fits, self.told)), f"{type} {members}", timeout)
        found = next(message for message in self.told if fits(message))
        self.told.remove(found)
        return found

    async def until(self, is_true: Callable[[], bool], what: str, timeout: float = 20):
        end = time.monotonic() + timeout
        while not is_true():
            if self.fault:
                raise self.fault
            assert time.monotonic() < end, f"not yet: {what}; told {self.told[-5:]}, closed with {self.code}"
            await asyncio.sleep(0.02)

    async def closed(self, timeout: float = 20) -> int:
        await self.until(lambda: self.code is not None, "closed", timeout)
        return self.code
