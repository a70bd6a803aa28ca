"""A call of the application, and what can be done with it."""
import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias
from uuid import uuid4

from .errors import CallEnded
from .events import Event
from .sounds import Sound

if TYPE_CHECKING:
    from .client import Client

CallState: TypeAlias = Literal["ringing", "progressing", "talking", "held", "ended"]

SETTLING = (0.05, 0.2, 0.5)
"""Seconds after an event at which the call is looked at again, until it shows what the event tells."""
_LOOKING = 5.0
"""Seconds without an event after which a call is looked at anyway: it may have moved into another call."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What the applications of two sides tell each other."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Member:
    """Another leg of the call."""

    address: str
    name: str
    role: str
    state: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a call is over."""

    cause: str
    """A word of docs/call-states.md, or `left` if the call goes on without the application."""
    status_code: int | None
    """A SIP response code."""


@dataclass(frozen=True, slots=True)
class Played:
    """How a list of sounds ended."""

    outcome: str
    """`completed`, `stopped`, `replaced` or `failed`. What the end of the call cuts off raises `CallEnded`."""
    heard: int
    """How much of it others could hear, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The keys that were gathered."""

    keys: str
    outcome: str
    """`terminator`, `maximum`, `valid`, `timeout` or `stopped`. What the call's end cuts off raises `CallEnded`."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A call as the gateway showed it (`Call` in openapi/v1.yaml)."""

    id: str
    """Of the application's leg, which stays the same."""
    call: str
    """The call that the leg is part of, as in events."""
    application: str
    direction: Literal["incoming", "outgoing"]
    state: CallState
    version: int
    from_address: str
    from_name: str
    to_address: str
    started_at: int
    """Milliseconds since 1970."""
    answered_at: int | None
    decide_by: int | None
    """Until when the application may decide about the call; `None`: that is decided."""
    ending: Ending | None
    parameters: tuple[Parameter, ...]
    context: str | None
    """The application's own text, from the start of the call."""
    muted: bool
    is_playing: bool
    keys: str | None
    """Those that are gathered so far; `None` if none are gathered."""
    allowed: tuple[str, ...]
    """The commands that the state allows."""
    members: tuple[Member, ...]
    rest: Mapping[str, Any]
    """All members, as they came."""

    @classmethod
    def parsed(cls, shown: Mapping[str, Any]) -> Self:
        ending = shown.get("ending")
        gathering = shown.get("gathering")
        return cls(
            id=shown["id"],
            call=shown["call"],
            application=shown["application"],
            direction=shown["direction"],
            state=shown["state"],
            version=shown["version"],
            from_address=shown["from"],
            from_name=shown["fromName"],
            to_address=shown["to"],
            started_at=shown["startedAt"],
            answered_at=shown.get("answeredAt"),
            decide_by=shown.get("decideBy"),
            ending=Ending(ending["cause"], ending.get("statusCode")) if ending else None,
            parameters=tuple(Parameter(each["name"], each["value"]) for each in shown["parameters"]),
            context=shown.get("context"),
            muted=shown["muted"],
            is_playing="playing" in shown,
            keys=gathering["keys"] if gathering else None,
            allowed=tuple(shown["allowed"]),
            members=tuple(
                Member(each["address"], each["name"], each["role"], each["state"], each["holds"])
                for each in shown["members"]
            ),
            rest=shown,
        )


class Call:
    """Each command raises `Refused`: `NotAllowed` if the state of the call does not allow it, `VersionMismatch` if it
    was to be carried out `at` a version and something has happened since."""

    def __init__(self, client: "Client", shown: Mapping[str, Any]):
        self._client = client
        self.snapshot = Snapshot.parsed(shown)
        """The latest that is known. `refresh` asks for it."""

    def __repr__(self) -> str:
        shown = self.snapshot
        return f"<Call {shown.id} {shown.direction} {shown.state} {shown.from_address} -> {shown.to_address}>"

    @property
    def id(self) -> str:
        return self.snapshot.id

    @property
    def state(self) -> CallState:
        return self.snapshot.state

    async def refresh(self) -> Snapshot:
        """The call as it is now."""
        return self._take(await self._client.connection.get(f"/v1/calls/{self.id}"))

    async def command(self, name: str, /, *, at: int | None = None, **fields: Any) -> Snapshot:
        """Any command of openapi/v1.yaml, with the fields of its body; those that are `None` are left out.

        `at`: the version that the call must still have."""
        body = {field: value for field, value in fields.items() if value is not None}
        return self._take(await self._client.connection.post(f"/v1/calls/{self.id}/{name}", body, at))

    def _take(self, shown: Mapping[str, Any]) -> Snapshot:
        seen = Snapshot.parsed(shown)
        if seen.version >= self.snapshot.version:
            self.snapshot = seen
        return self.snapshot

    # Until the answer

    async def ring(self) -> Snapshot:
        return await self.command("ring")

    async def progress(self, *sounds: Sound, loops: int | None = None, volume: int | None = None) -> Snapshot:
        """Lets the caller hear something before the answer: silence, if nothing is given."""
        return await self.command("progress", items=list(sounds) or None, loops=loops, volume=volume)

    async def answer(self, *parameters: Parameter, at: int | None = None) -> Snapshot:
        return await self.command("answer", at=at, parameters=_members(parameters))

    async def reject(
        self, cause: Literal["declined", "busy", "unavailable", "notFound"] = "declined", at: int | None = None
    ) -> Snapshot:
        return await self.command("reject", at=at, cause=cause)

    async def answered(self, timeout: float | None = None) -> Snapshot:
        """Waits until the callee has answered. Raises `CallEnded` if the call is over before, `TimeoutError` after so
        many seconds."""
        return await self.until(lambda shown: shown.state in ("talking", "held"), timeout)

    # In the call

    async def end(self, reason: str | None = None) -> Snapshot:
        return await self.command("end", reasonText=reason)

    async def hold(self) -> Snapshot:
        return await self.command("hold")

    async def resume(self) -> Snapshot:
        return await self.command("resume")

    async def transfer(self, to: str, at: int | None = None) -> Snapshot:
        """Puts the other party through to an address; before the answer, forwards the call there."""
        return await self.command("transfer", at=at, to=to)

    async def bridge(self, other: "Call", bot: Literal["stay", "listen"] = "stay") -> "Call":
        """Brings the other sides of two calls together, in a new call, which is returned. With `listen` nobody in it
        hears the application until it unmutes. The two calls end with `left`."""
        wish = {"call": other.id, "bot": bot}
        return Call(self._client, await self._client.connection.post(f"/v1/calls/{self.id}/bridge", wish))

    async def connect(self, other: "Call") -> Snapshot:
        """Brings the other sides of two calls together, and leaves both."""
        return await self.command("bridge", call=other.id, bot="leave")

    async def mute(self) -> Snapshot:
        return await self.command("mute")

    async def unmute(self) -> Snapshot:
        return await self.command("unmute")

    async def send(self, *parameters: Parameter) -> Snapshot:
        """Tells the other side's application something."""
        return await self.command("send", parameters=_members(parameters))

    async def press(self, keys: str, duration: int | None = None, gap: int | None = None) -> Snapshot:
        """Sends keys (0-9, A-D, * and #; a comma is a pause of two seconds) to the other side."""
        return await self.command("keys", keys=keys, duration=duration, gap=gap)

    # Sounds and keys

    async def start_play(
        self,
        *sounds: Sound,
        loops: int | None = None,
        volume: int | None = None,
        queue: bool = False,
        tag: str | None = None,
    ) -> Snapshot:
        """Plays a list, and returns while it plays. With `queue` it follows what plays."""
        mode = "queue" if queue else None
        return await self.command("play", items=list(sounds), loops=loops, volume=volume, mode=mode, tag=tag)

    async def play(
        self, *sounds: Sound, loops: int | None = None, volume: int | None = None, queue: bool = False
    ) -> Played:
        """Plays a list, and returns when it is over. Raises `CallEnded`. Needs the scope `events`."""
        tag = str(uuid4())
        data = await self._ended(
            "playback.ended", tag, lambda: self.start_play(*sounds, loops=loops, volume=volume, queue=queue, tag=tag)
        )
        return Played(data["outcome"], data["heardMilliseconds"])

    async def stop(self) -> Snapshot:
        """Stops what plays, and what is gathered."""
        return await self.command("stop")

    async def start_gather(
        self,
        *prompt: Sound,
        maximum: int | None = None,
        terminators: str | None = None,
        first_timeout: int | None = None,
        between_timeout: int | None = None,
        valid: Iterable[str] | None = None,
        tag: str | None = None,
    ) -> Snapshot:
        """Gathers keys, and returns while it does. The prompt stops at the first key; times are milliseconds."""
        return await self.command(
            "gather",
            prompt={"items": list(prompt)} if prompt else None,
            maximum=maximum,
            terminators=terminators,
            firstTimeout=first_timeout,
            betweenTimeout=between_timeout,
            valid=None if valid is None else list(valid),
            tag=tag,
        )

    async def gather(
        self,
        *prompt: Sound,
        maximum: int | None = None,
        terminators: str | None = None,
        first_timeout: int | None = None,
        between_timeout: int | None = None,
        valid: Iterable[str] | None = None,
    ) -> Gathered:
        """Gathers keys, and returns them. Raises `CallEnded`. Needs the scope `events`."""
        tag = str(uuid4())
        data = await self._ended(
            "gather.ended",
            tag,
            lambda: self.start_gather(
                *prompt,
                maximum=maximum,
                terminators=terminators,
                first_timeout=first_timeout,
                between_timeout=between_timeout,
                valid=valid,
                tag=tag,
            ),
        )
        return Gathered(data["keys"], data["outcome"])

    # Audio streams

    async def stream(
        self,
        url: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        retry_time: int | None = None,
        fallback: Literal["none", "end", "application"] | None = None,
        **terms: Any,
    ) -> Snapshot:
        """Has the gateway connect to a WebSocket server, which speaks and hears from then on, and returns at once.
        Without a URL it is the default one of the application. `parameters` is what the server is told in its `start`
        besides the parameters of the call, such as `{"from": call.snapshot.from_address}`.
        `retry_time` is in milliseconds; `terms`: `format`, `rate`, `dialect`, `absence`, `media` and `bargeIn`."""
        fields = [{"name": name, "value": value} for name, value in (headers or {}).items()]
        return await self.command(
            "stream", action="connect", url=url, headers=fields or None,
            parameters=None if parameters is None else dict(parameters), retryTime=retry_time, fallback=fallback,
            **terms,
        )  # fmt: skip

    async def stop_stream(self) -> Snapshot:
        """Ends the stream that the gateway has opened."""
        return await self.command("stream", action="stop")

    # Recordings

    async def record(
        self,
        *,
        format: Literal["ogg", "wav"] | None = None,
        sides: Literal["both", "own", "other"] | None = None,
        channels: Literal[1, 2] | None = None,
        maximum: int | None = None,
        silence: int | None = None,
        beep: bool | None = None,
        tag: str | None = None,
    ) -> str:
        """Starts a recording, and returns its `id`. It ends when it is `maximum` milliseconds long, after `silence` of
        so many, with the command `record` and `action="stop"`, or with the call. Needs the scope `recordings`."""
        shown = await self.command(
            "record", format=format, sides=sides, channels=channels, maximum=maximum, silence=silence, beep=beep,
            tag=tag,
        )  # fmt: skip
        recording: str = shown.rest["recordings"][-1]["id"]
        return recording

    # Waiting

    async def until(self, reached: Callable[[Snapshot], bool], timeout: float | None = None) -> Snapshot:
        """Waits until the call is as it is wanted. Raises `CallEnded` if it is over before, `TimeoutError` after so
        many seconds. Needs the scope `events`."""
        async with asyncio.timeout(timeout), self._client.waiting.listen(self._is_own) as listener:
            while True:
                for pause in (0.0, *SETTLING):
                    await asyncio.sleep(pause)
                    if reached(await self.refresh()):
                        return self.snapshot
                    self._check_alive()
                await listener.next(_LOOKING)
                listener.forget()

    async def over(self, timeout: float | None = None) -> Ending:
        """Waits for the end of the call. Raises `TimeoutError` after so many seconds. Needs the scope `events`."""
        shown = await self.until(lambda shown: shown.state == "ended", timeout)
        return shown.ending or Ending("left", None)

    async def _ended(self, kind: str, tag: str, start: Callable[[], Any]) -> Mapping[str, Any]:
        """What the event tells that ends what was started."""

        def wants(event: Event) -> bool:
            return self._is_own(event) or (event.type == kind and event.data.get("tag") == tag)

        async with self._client.waiting.listen(wants) as listener:
            await start()
            while True:
                event = await listener.next(_LOOKING)
                if event is None or event.type in ("call.ended", "leg.left", "leg.released", "stream.gap"):
                    await self.refresh()
                    self._check_alive()
                elif event.type == kind and event.data.get("tag") == tag:
                    if event.data.get("outcome") == "callEnded":
                        await self.refresh()
                        self._check_alive()
                    return event.data

    def _is_own(self, event: Event) -> bool:
        return event.call == self.snapshot.call

    def _check_alive(self) -> None:
        if self.state == "ended":
            raise CallEnded(self.id, self.snapshot.ending.cause if self.snapshot.ending else None)


def _members(parameters: Iterable[Parameter]) -> list[dict[str, str]] | None:
    return [{"name": each.name, "value": each.value} for each in parameters] or None
