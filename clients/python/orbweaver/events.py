"""What happens in calls, as the gateway tells it, with nothing missed and nothing twice."""
import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from .connection import Connection, delays
from .errors import Refused, Unreachable, refusal

Form: TypeAlias = Literal["websocket", "sse"]

_PASSING = (429, 502, 503, 504)
"""Refusals after which a stream asks again."""
_SILENCE = 45.0
"""Seconds without a sign of life, which the gateway gives every 15, after which a connection is dead."""
_LARGEST = 16 * 1024 * 1024
"""Bytes of an event. The calls in progress in a `stream.gap` may be many."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event (docs/call-events.md, The `/v1` form)."""

    id: str
    """The cursor: who has this event goes on behind it."""
    type: str
    """Such as `call.ended`. `stream.gap`: events are missing, and `rest` has `reason` and `calls`."""
    time: int
    """Milliseconds since 1970."""
    call: str | None
    """`Snapshot.call` of the call; `None` for what is no event of a call."""
    sequence: int | None
    """The place in its call, from 1; numbers may be missing."""
    leg: int | None
    """`None`: it concerns the whole call."""
    data: Mapping[str, Any] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)
    """All members, as they came."""

    @classmethod
    def parsed(cls, event: Mapping[str, Any]) -> Self:
        return cls(
            event["id"], event["type"], event.get("time", 0), event.get("call"), event.get("sequence"),
            event.get("leg"), event.get("data", {}), event,
        )  # fmt: skip


class EventStream:
    """Events as they happen, for `async for`. A connection that breaks is opened again, behind the last event.

    It ends only with an exception: `Refused` if the gateway does not serve it (any more).
    """

    def __init__(
        self, connection: Connection, since: str | None, types: Iterable[str], calls: Iterable[str], form: Form
    ):
        self.cursor = since
        """Of the last event that was handed out, or of the place where the stream began. Whoever keeps it goes on
        there with `since`."""
        self.connected = asyncio.Event()
        """Set as soon as the stream has a place: nothing that happens from now on is missed."""
        self._connection = connection
        self._filters = {"types": ",".join(types), "calls": ",".join(calls)}
        self._form = form

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncIterator[Event]:
        waits = delays()
        while True:
            try:
                async with aclosing(self._frames() if self._form == "websocket" else self._lines()) as arriving:
                    async for event in arriving:
                        if event.type != "stream.started":
                            waits = delays()
                            yield event
            except Refused as refused:
                if refused.status not in _PASSING:
                    raise
            except (Unreachable, OSError, TimeoutError, httpx.TransportError, ConnectionClosed, InvalidHandshake):
                pass
            await asyncio.sleep(next(waits))

    def _query(self) -> dict[str, str]:
        return {name: value for name, value in {"since": self.cursor, **self._filters}.items() if value}

    async def _frames(self) -> AsyncGenerator[Event, None]:
        """Over a WebSocket, whose first event, `stream.started`, says where the stream begins."""
        url = httpx.URL(f"ws{self._connection.base.removeprefix('http')}/v1/events", params=self._query())
        try:
            async with connect(
                str(url), additional_headers=self._connection.headers, max_size=_LARGEST, close_timeout=1
            ) as socket:
                async for frame in socket:
                    event = Event.parsed(json.loads(frame))
                    self._moved(event.id)
                    yield event
        except InvalidStatus as refused:
            raise refusal(refused.response.status_code, bytes(refused.response.body or b"")) from refused

    async def _lines(self) -> AsyncGenerator[Event, None]:
        """As server-sent events."""
        if self.cursor is None:
            # The gateway tells a place only with an event, or after some seconds.
            self._moved((await self._connection.get("/v1/events", wait=0))["next"])
        timeout = httpx.Timeout(10.0, read=_SILENCE)
        headers = {"Accept": "text/event-stream"}
        async with self._connection.http.stream(
            "GET", "/v1/events", params=self._query(), headers=headers, timeout=timeout
        ) as response:
            if response.is_error:
                raise refusal(response.status_code, await response.aread())
            self._moved(self.cursor)
            data: list[str] = []
            place: str | None = None
            async for line in _split(response.aiter_bytes()):
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if name == "data":
                    data.append(value)
                elif name == "id":
                    place = value
                elif not line:
                    self._moved(place)
                    if data:
                        yield Event.parsed(json.loads("\n".join(data)))
                    data, place = [], None

    def _moved(self, place: str | None) -> None:
        self.cursor = place or self.cursor
        self.connected.set()


async def _split(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Lines. `httpx` would also split at separators that stand within JSON texts."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode()
