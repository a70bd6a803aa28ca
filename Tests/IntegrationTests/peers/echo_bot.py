"""A bot that plays back what it hears, in each dialect, on a socket that either side has opened. It shares nothing with
the gateway's other peers but the WebSocket: it is what somebody writes who has read the documents of that dialect.

What is JSON is held against `openapi/asyncapi.yaml`, in both directions."""
import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from .bot import DEMO_KEY, Bot
from .stream import Stream, echo
from .stream_contract import SocketContract, held

SUBPROTOCOLS = {"orbweaver": ["orbweaver.stream.v1"], "twilio": None, "asterisk": ["media"], "asterisk-json": ["media"]}
"""What each dialect asks for, or takes."""
CONTRACTS = {"twilio": ("twilioGateway", "twilioBot"), "asterisk-json": ("asteriskGateway", "asteriskBot")}
"""Of the other dialects whose text frames are JSON: those of what a bot is told, and of what it says."""


class EchoBot:
    def __init__(self, dialect: str, echoes: bool = True, **terms: str | int | dict[str, str]):
        """`echoes`: otherwise it only notes what it hears. `terms`: those of the stream besides its dialect;
        `parameters` among them only if the gateway connects."""
        self.dialect, self._echoes, self._terms = dialect, echoes, terms
        self.words: list[str] = []
        """Messages without audio, in their order."""
        self.count = 0
        """How many messages with audio have come."""
        self._socket: ClientConnection | ServerConnection | None = None
        self._task: asyncio.Task | None = None
        self._is_over = asyncio.Event()
        self._fault: Exception | None = None

    @asynccontextmanager
    async def talks(self, bot: Bot, call: str, way: str) -> AsyncIterator["EchoBot"]:
        """On the stream of a call. `way`: `in` if the bot connects to the gateway, `out` if the gateway does to it."""
        protocols = SUBPROTOCOLS[self.dialect]
        if way == "in":
            uri = Stream(bot.base, call, dialect=self.dialect, **self._terms).uri
            headers = {"Authorization": f"Bearer {DEMO_KEY}"}
            async with connect(uri, additional_headers=headers, subprotocols=protocols, proxy=None) as socket:
                self._task = asyncio.create_task(self._talk(socket))
                yield self
        else:
            async with serve(self._talk, "127.0.0.1", 0, subprotocols=protocols) as server:
                port = server.sockets[0].getsockname()[1]
                await bot.tell(call, "stream", url=f"ws://127.0.0.1:{port}/", dialect=self.dialect, **self._terms)
                yield self
        if self._task:
            await self._task

    async def say(self, **message: str):
        """A text frame of the dialect, which has to be one of JSON."""
        text = json.dumps(message)
        held(CONTRACTS[self.dialect][1], text)
        await self._socket.send(text)

    async def told(self, is_wanted: Callable[[str], bool], timeout: float = 20):
        """Waits until one of its messages without audio is that."""
        async with asyncio.timeout(timeout):
            while not any(map(is_wanted, self.words)):
                if self._fault:
                    raise self._fault
                await asyncio.sleep(0.02)

    async def ended(self, timeout: float = 20) -> int:
        """The code with which the gateway closes the socket."""
        async with asyncio.timeout(timeout):
            await self._is_over.wait()
        if self._fault:
            raise self._fault
        assert self._socket.subprotocol == (SUBPROTOCOLS[self.dialect] or [None])[0]
        return self._socket.close_code

    async def _talk(self, socket: ClientConnection | ServerConnection):
        self._socket, contract = socket, SocketContract()
        try:
            async for message in socket:
                if self.dialect == "orbweaver":
                    contract.audio(message) if isinstance(message, bytes) else contract.text(message)
                elif self.dialect in CONTRACTS and isinstance(message, str):
                    held(CONTRACTS[self.dialect][0], message)
                if (audio := self._audio(message)) is None:
                    self.words.append(message)
                else:
                    self.count += 1
                    if self._echoes:
                        await echo(socket, audio)
        except ConnectionClosed:
            pass
        except Exception as fault:  # noqa: BLE001
            self._fault = fault
        finally:
            self._is_over.set()

    def _audio(self, message: str | bytes) -> str | bytes | None:
        """The message that plays back the audio of this one; `None`: it has none."""
        if isinstance(message, bytes):
            assert self.dialect != "twilio", "its audio is in text frames"
            return message
        if self.dialect != "twilio" or (told := json.loads(message))["event"] != "media":
            return None
        media = {"payload": told["media"]["payload"]}
        back = json.dumps({"event": "media", "streamSid": told["streamSid"], "media": media})
        held(CONTRACTS[self.dialect][1], back)
        return back
