"""The gateway, as an application sees it."""
import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import quote

from .call import SETTLING, Call, CallState, Parameter
from .connection import Connection, Credentials
from .events import Event, EventStream, Form
from .waiting import Waiting

_OF_CALLS = ("leg.*", "call.*", "playback.ended", "gather.ended", "transfer.*", "join.*")
"""The events that calls are waited for by."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """The answer to a long poll."""

    events: tuple[Event, ...]
    next: str
    """The cursor to ask with the next time."""


class Client:
    """Use it with `async with`.

        async with Client("http://127.0.0.1:8080", key) as client:
            async for call in client.incoming():
                await call.answer()

    `timeout`: seconds until a request counts as lost; `attempts`: how often one is sent until there is an answer.
    """

    def __init__(self, base: str, credentials: Credentials, *, timeout: float = 10.0, attempts: int = 5):
        if not base.startswith(("http://", "https://")):
            raise ValueError(f"not the address of a gateway, such as https://gateway.example.com: {base}")
        if attempts < 1:
            raise ValueError("a request needs an attempt")
        self.connection = Connection(base, credentials, timeout, attempts)
        self.waiting = Waiting(lambda: self.events(types=_OF_CALLS))

    async def __aenter__(self) -> Self:
        await self.connection.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.waiting.stop()
        await self.connection.__aexit__(kind, failure, trace)

    # Calls

    async def call(self, name: str) -> Call:
        """The call with this `id`. Raises `NotFound`."""
        return Call(self, await self.connection.get(f"/v1/calls/{quote(name, safe='')}"))

    async def calls(
        self, state: CallState | None = None, direction: Literal["incoming", "outgoing"] | None = None
    ) -> list[Call]:
        """All calls of the application, the oldest first."""
        found: list[Call] = []
        cursor: str | None = None
        while True:
            page = await self.connection.get(
                "/v1/calls", state=state, direction=direction, cursor=cursor, limit=1000
            )
            found += [Call(self, each) for each in page["items"]]
            if (cursor := page.get("next")) is None:
                return found

    async def start_call(
        self,
        to: str,
        *,
        from_address: str | None = None,
        display_name: str | None = None,
        ring_timeout: int | None = None,
        early_media: bool | None = None,
        parameters: Iterable[Parameter] = (),
        context: str | None = None,
        idempotency_key: str | None = None,
    ) -> Call:
        """Calls an address, and returns while it rings. `from_address` may be left out if the application has one;
        `ring_timeout` is in milliseconds; `idempotency_key`: an own one, so that a program that was restarted does not
        call twice."""
        fields: dict[str, Any] = {
            "to": to,
            "from": from_address,
            "displayName": display_name,
            "ringTimeout": ring_timeout,
            "earlyMedia": early_media,
            "parameters": [{"name": each.name, "value": each.value} for each in parameters] or None,
            "context": context,
        }
        wish = {name: value for name, value in fields.items() if value is not None}
        return Call(self, await self.connection.post("/v1/calls", wish, idempotency_key=idempotency_key))

    async def incoming(self) -> AsyncIterator[Call]:
        """The calls that ring for the application, and from then on each that comes, once. While one is dealt with in
        the loop, others ring: give each a task. Needs the scopes `calls:read` and `events`."""
        known: set[str] = set()
        async with self.waiting.listen(_brings_a_call) as listener:
            while True:
                for pause in (0.0, *SETTLING):
                    await asyncio.sleep(pause)
                    ringing = await self.calls("ringing", "incoming")
                    for call in ringing:
                        if call.id not in known:
                            yield call
                    # One that has rung before, and does not any more, never rings again.
                    known = {each.id for each in ringing}
                await listener.next()
                listener.forget()

    # Events

    def events(
        self,
        since: str | None = None,
        types: Iterable[str] = (),
        calls: Iterable[str] = (),
        form: Form = "websocket",
    ) -> EventStream:
        """The events that these credentials may see: from now on, or behind the cursor `since` (`oldest`: all that are
        kept). `types`, such as `call.ended` and `leg.*`, and `calls` choose among them."""
        return EventStream(self.connection, since, tuple(types), tuple(calls), form)

    async def poll(
        self, since: str | None = None, types: Iterable[str] = (), calls: Iterable[str] = (), wait: int = 25
    ) -> EventPage:
        """The events behind a cursor, as soon as there is one or after `wait` seconds. Raises `EventsGone` if they are
        not kept any more."""
        page = await self.connection.get(
            "/v1/events",
            timeout=wait + 15,
            since=since,
            types=",".join(types) or None,
            calls=",".join(calls) or None,
            wait=wait,
        )
        return EventPage(tuple(Event.parsed(each) for each in page["events"]), page["next"])


def _brings_a_call(event: Event) -> bool:
    return event.type == "leg.joined" and event.data.get("role") == "callee"
