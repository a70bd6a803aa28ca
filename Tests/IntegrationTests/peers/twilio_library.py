"""A bot on `twilio-agent-connect`, Twilio's own library for voice agents (MIT), which reads and writes every message of
its Media Stream by itself. What is ours is the WebSocket, for which the library has a protocol, and the model that it
takes for OpenAI's Realtime API.

What passes in either direction is held against `openapi/asyncapi.yaml`."""
import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace

import jsonschema
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

os.environ["TAC_ANALYTICS_DISABLED"] = "true"  # or the library tells its makers of each call

from tac import TAC, TACConfig  # noqa: E402
from tac.channels.voice import VoiceChannel  # noqa: E402
from tac.channels.voice.media_streams.openai_realtime import (  # noqa: E402
    TWILIO_AUDIO_FORMAT_FOR_REALTIME,
    OpenAIRealtimeProviderConfig,
    provider,
)
from tac.channels.websocket_protocol import WebSocketDisconnectError  # noqa: E402

from .bot import DEMO_KEY, Bot  # noqa: E402
from .stream import Stream  # noqa: E402
from .stream_contract import held  # noqa: E402

SECOND = 8_000
"""Bytes of µ-law."""


class Model:
    """What answers the library in place of OpenAI: it says back what it hears, or what it is told to say."""

    def __init__(self):
        self.echoes = True
        self.asked: list[dict] = []
        """What the library has sent, but for audio."""
        self._events: asyncio.Queue[str | None] = asyncio.Queue()

    def say(self, audio: bytes, item: str):
        """µ-law, faster than anybody could speak; `item`: the name of the reply."""
        for start in range(0, len(audio), SECOND):
            self._speak(base64.b64encode(audio[start : start + SECOND]).decode(), item)

    def hear_speech(self):
        """It finds that the caller speaks, which interrupts what it says."""
        self._tell(type="input_audio_buffer.speech_started")

    def _speak(self, delta: str, item: str):
        self._tell(type="response.output_audio.delta", item_id=item, delta=delta)

    def _tell(self, **event: str):
        self._events.put_nowait(json.dumps(event))

    # What the library asks of its socket to OpenAI

    async def send(self, text: str):
        message = json.loads(text)
        if message["type"] != "input_audio_buffer.append":
            self.asked.append(message)
        elif self.echoes:
            self._speak(message["audio"], "echo")

    async def __aiter__(self) -> AsyncIterator[str]:
        while (event := await self._events.get()) is not None:
            yield event

    async def close(self):
        self._events.put_nowait(None)


class TwilioSocket:
    """`tac.channels.websocket_protocol.WebSocketProtocol`."""

    def __init__(self, socket: ClientConnection | ServerConnection):
        self._socket = socket
        self.heard: list[str] = []
        """The events of the messages that came."""
        self.said: list[str] = []
        """Those of the messages that the library has sent."""
        self.fault: Exception | None = None
        """The first message that the contract has otherwise."""

    async def accept(self):
        pass

    async def receive_json(self) -> dict:
        try:
            message = self._held("twilioGateway", await self._socket.recv())
        except ConnectionClosed as closed:
            raise WebSocketDisconnectError from closed
        self.heard.append(message["event"])
        return message

    async def send_text(self, data: str):
        self.said.append(self._held("twilioBot", data)["event"])
        try:
            await self._socket.send(data)
        except ConnectionClosed as closed:
            raise WebSocketDisconnectError from closed

    async def close(self):
        await self._socket.close()

    def _held(self, direction: str, text: str) -> dict:
        """The library may take an exception for an accident of the network: it is kept."""
        try:
            return held(direction, text)
        except (AssertionError, jsonschema.ValidationError) as fault:
            self.fault = self.fault or fault
            return json.loads(text)


class TwilioBot:
    """The library with its model, on the stream of a call."""

    def __init__(self, replace: Callable):
        """`replace`: pytest's `monkeypatch.setattr`, for the one address that the library has no setting for."""
        self.model = Model()
        self.socket: TwilioSocket | None = None
        self.conversation = None
        """What the library knows of the call, once it has ended."""
        self._is_over = asyncio.Event()
        replace(provider, "websockets", SimpleNamespace(connect=self._connect_model))
        secrets = {"auth_token": "none", "api_key": "SK" + 32 * "0", "api_secret": "none"}
        agent = TAC(
            TACConfig(account_sid="AC" + 32 * "0", phone_number="+15005550006", log_level="WARNING", **secrets)
        )
        agent.on_conversation_ended(self._ended)
        sides = {side: {"format": TWILIO_AUDIO_FORMAT_FOR_REALTIME} for side in ("input", "output")}
        wishes = OpenAIRealtimeProviderConfig(
            openai_api_key="none", default_session_config={"model": "none", "audio": sides}
        )
        self._channel = VoiceChannel(agent, config=wishes)

    @asynccontextmanager
    async def talks(self, bot: Bot, call: str, way: str) -> AsyncIterator["TwilioBot"]:
        """On the stream of a call. `way`: `in` if the bot connects to the gateway, `out` if the gateway does to it."""
        if way == "in":
            headers = {"Authorization": f"Bearer {DEMO_KEY}"}
            uri = Stream(bot.base, call, dialect="twilio").uri
            async with connect(uri, additional_headers=headers, proxy=None) as socket:
                talking = asyncio.create_task(self._talk(socket))
                yield self
            await talking
        else:
            async with serve(self._talk, "127.0.0.1", 0) as server:
                port = server.sockets[0].getsockname()[1]
                await bot.tell(call, "stream", url=f"ws://127.0.0.1:{port}/ws", dialect="twilio")
                yield self

    async def ended(self, timeout: float = 20):
        """Waits until the library has gone through the call to its end."""
        async with asyncio.timeout(timeout):
            await self._is_over.wait()
        if self.socket.fault:
            raise self.socket.fault

    async def _talk(self, socket: ClientConnection | ServerConnection):
        self.socket = TwilioSocket(socket)
        try:
            await self._channel.handle_websocket(self.socket)
        finally:
            self._is_over.set()

    async def _connect_model(self, url: str, **_: object) -> Model:
        assert url.startswith("wss://api.openai.com/"), url
        return self.model

    async def _ended(self, conversation):
        self.conversation = conversation
