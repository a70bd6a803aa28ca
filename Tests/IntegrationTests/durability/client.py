"""One client of those that call each other without media while the gateway is killed and started again."""
import asyncio
import json
import random
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import aiohttp

from peers import sdp
from peers.spidr import PING, Answer, SpidrPeer

from .services import Services, body_of

if TYPE_CHECKING:
    from .crowd import Crowd

L5_WINDOW, FCS_WINDOW = 100, 50
"""How many eventIds that it has handled a client remembers, by its family (spidr-wire §4.3)."""
PATIENCE = 15
"""Seconds after which a client hangs up that hears nothing more of its call."""
GONE = (aiohttp.ClientError, OSError, TimeoutError)
"""What a request, or a channel, ends with if the gateway is killed."""
CALLER, CALLEE = "caller", "callee"
ANSWERED, RACED, REJECTED, CANCELLED = "answered", "raced", "rejected", "cancelled"


class Entry(NamedTuple):
    """A line of a journal."""

    at: float
    """Seconds since the clients began."""
    event_id: str
    session: str | None
    event: str
    cause: str | None
    body: str
    """What a numbered message or an end says."""
    time: int
    """When the notification was made, by itself, in milliseconds since 1970."""

    def __str__(self):
        return f"{self.at:.2f} s {self.event} #{self.event_id} {self.body}".strip()


@dataclass(eq=False)
class Conversation:
    """What the clients at both ends of a call do, as it was drawn when the caller dialled."""

    number: int
    caller: str
    callee: str
    plan: str
    hangs_up: str
    """`caller` or `callee`."""
    device: int
    """The callee's device that answers or rejects."""
    hung_up: dict[str, float] = field(default_factory=dict)
    """When a user sent the first `DELETE`, in seconds since the clients began."""
    messages: Counter[str] = field(default_factory=Counter)
    """How many the caller and the callee have sent. They are numbered on if a repeated start made a second call."""


@dataclass(eq=False)
class Message:
    """One that a party sends to the other one inside an answered call, numbered from 1."""

    conversation: Conversation
    sender: str
    """`caller` or `callee`."""
    number: int
    confirmed: float | None = None
    """When its request was answered with 200, in seconds since the clients began."""

    @property
    def text(self) -> str:
        return f"{self.conversation.number} {self.sender} {self.number}"

    @property
    def receiver(self) -> str:
        """A user."""
        return self.conversation.callee if self.sender == CALLER else self.conversation.caller


@dataclass(eq=False)
class Leg:
    """A call as one client knows it."""

    session: str
    conversation: Conversation | None = None
    has_answered: bool = False
    """Whether the client's own `callAnswer` was answered with 200."""
    has_hung_up: bool = False
    is_answering: bool = False
    was_cancelled: bool = False
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """It is answered or over."""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self):
        self.moved.set()
        self.over.set()


async def is_set(event: asyncio.Event, within: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), within)
    except TimeoutError:
        return False
    return True


class Client(SpidrPeer):
    """One device. Those of a user with two devices name themselves in their requests."""

    def __init__(self, crowd: "Crowd", user: str, place: int, has_companion: bool):
        super().__init__(crowd.gateway.http, f"{user}@dev.local")
        self.name, self.place, self.crowd = user, place, crowd
        self.names_itself = has_companion
        self.chance = random.Random(f"{crowd.seed} {user} {place}")
        self.reports_ringing = self.chance.random() < 0.25
        self.journal: list[Entry] = []
        self.legs: dict[str, Leg] = {}
        self.diary: list[str] = []
        self._remembered: deque[str] = deque(maxlen=L5_WINDOW)
        self.polls = self.chance.random() < 0.3
        """Whether the client listens by long polls."""
        self._open: aiohttp.ClientWebSocketResponse | None = None
        self._polling: asyncio.Task | None = None
        self._away = 0.0
        self.services = Services(self)

    def __str__(self):
        return f"{self.name}, device {self.place}"

    def note(self, text: str):
        self.diary.append(f"{self.crowd.now:.2f} s {text}")

    # The channel

    async def keep_listening(self):
        """On the one channel URL of its subscription."""
        if self.polls:
            return await self._keep_polling(self.base + self.channel)
        url = self.base.replace("http", "ws", 1) + self.channel
        while True:
            try:
                async with self._session.ws_connect(url) as channel:
                    await channel.send_str(PING)
                    self._open = channel
                    while (frame := await channel.receive()).type == aiohttp.WSMsgType.TEXT:
                        self._take(json.loads(frame.data)["notificationMessage"])
                    if frame.type == aiohttp.WSMsgType.CLOSE and frame.data == 1000:
                        self.crowd.refused.append(f"{self}: the channel was closed for good")
            except aiohttp.WSServerHandshakeError as error:
                self.note(f"channel: {error.status}")
                if error.status == 404:
                    self.crowd.refused.append(f"{self}: the channel is not known any more")
            except GONE as error:
                self.note(f"channel: {type(error).__name__}")
            self._open = None
            away, self._away = self._away, 0
            await asyncio.sleep(away + self.chance.uniform(0.05, 0.5))

    async def _keep_polling(self, url: str):
        """Half of the clients say what they have."""
        says, latest = self.chance.random() < 0.5, None
        while True:
            # One connection, as browsers keep it.
            connector = aiohttp.TCPConnector(ssl=False, limit=1)
            async with aiohttp.ClientSession(connector=connector) as connection:
                while True:
                    named = f"?since={latest}" if says and latest else ""
                    self._polling = asyncio.create_task(self._poll(connection, url + named))
                    await asyncio.wait([self._polling])
                    if self._polling.cancelled() or not self._polling.result():
                        break
                    latest = self.journal[-1].event_id if self.journal else None
            self._polling = None
            away, self._away = self._away, 0
            await asyncio.sleep(away + self.chance.uniform(0.05, 0.5))

    async def _poll(self, connection: aiohttp.ClientSession, url: str) -> bool:
        """Whether it was answered."""
        try:
            async with connection.get(url, timeout=aiohttp.ClientTimeout(60)) as response:
                body = await response.read()
        except GONE as error:
            self.note(f"poll: {type(error).__name__}")
            return False
        if response.status != 200:
            self.note(f"poll: {response.status}")
            if response.status == 410:
                self.crowd.refused.append(f"{self}: the channel is not known any more")
            return False
        if body:
            self._take(json.loads(body)["notificationMessage"])
        return True

    @property
    def is_listening(self) -> bool:
        return self._open is not None or self._polling is not None

    def drop_channel(self, away: float = 0):
        """As on a network that fails: no close frame."""
        if self._polling:
            self._away = away
            self._polling.cancel()
        connection = self._open and self._open._response.connection
        if connection and connection.transport:
            self._away = away
            connection.transport.abort()

    async def lose_channel_now_and_then(self):
        while True:
            await asyncio.sleep(self.chance.uniform(4, 20))
            self.drop_channel(away=self.chance.uniform(0, 2))

    def _take(self, message: dict):
        parameters = message.get("sessionParams", {})
        entry = Entry(
            self.crowd.now, message["eventId"], parameters.get("sessionData"), message["eventType"],
            parameters.get("cause"), _body(message), int(message["time"]),
        )  # fmt: skip
        self.journal.append(entry)
        if entry.event_id in self._remembered:
            return
        self._remembered.append(entry.event_id)
        if entry.session:
            self._handle(entry, message)
        elif entry.event != "ping" and body_of(message) is None:
            self.crowd.refused.append(f"{self}: was told {entry.event}")

    def _handle(self, entry: Entry, message: dict):
        is_new = entry.session not in self.legs
        leg = self._leg(entry.session)
        match entry.event:
            case "call" if is_new:
                leg.conversation = self.crowd.conversations[int(message["customParameters"][0]["value"])]
                self.crowd.spawn(self._take_call(leg, leg.conversation, message["sessionParams"]["sdp"]))
            case "respondCallUpdate":
                leg.moved.set()
            case "callCancel" if entry.cause == "answered_here" or leg.has_answered:
                leg.moved.set()
            case "callCancel" if leg.is_answering:  # the answer to its own request tells
                leg.was_cancelled = True
            case "callCancel" | "callEnd":
                leg.end()

    def _leg(self, session: str) -> Leg:
        return self.legs.setdefault(session, Leg(session))

    # Requests

    async def ask(self, what: str, method: str, path: str, body: object, repeats: bool = True) -> Answer | None:
        """None: the gateway was gone, and the request is given up."""
        while True:
            try:
                answer = await self.request(method, path, body)
            except GONE as error:
                self.note(f"{what}: {type(error).__name__}, {'repeated' if repeats else 'given up'}")
                self.crowd.counts["requests repeated" if repeats else "requests given up"] += 1
                if not repeats:
                    return None
                await asyncio.sleep(self.chance.uniform(0.1, 0.6))
                continue
            if answer.status == 503:
                self.note(f"{what}: 503, repeated")
                await asyncio.sleep(answer.body.get("retryAfter", 200) / 1000)
                continue
            if answer.status not in (200, 201, 404, 409):
                self.crowd.refused.append(f"{self}: {what}: {answer.status} {answer.text[:300]}")
            return answer

    async def within(self, leg: Leg, operation: str, repeats: bool = True, **fields) -> Answer | None:
        body = {"callControlRequest": {"type": operation, **fields}}
        return await self.ask(operation, "PUT", self._call(leg.session), body, repeats)

    async def hang_up(self, leg: Leg):
        leg.has_hung_up = True
        if leg.conversation:
            leg.conversation.hung_up.setdefault(self.name, self.crowd.now)
        await self.ask("DELETE", "DELETE", self._call(leg.session), None)
        leg.end()

    def _repeats(self) -> bool:
        """Whether a request that begins or answers a call is repeated if it is not answered."""
        return self.chance.random() < 0.5

    # Calls

    async def keep_calling(self):
        while not self.crowd.is_closing:
            await asyncio.sleep(self.crowd.pace * self.chance.uniform(1, 6))
            if self.crowd.robots and self.chance.random() < 0.4:
                await self._call_a_robot(self.chance.choice(self.crowd.robots))
            else:
                await self._call_somebody()

    async def _call_a_robot(self, address: str):
        """It answers at once, and never hangs up."""
        body = {"type": "callStart", "from": f"sip:{self.user}", "to": f"sip:{address}", "sdp": sdp.offer()}
        answer = await self.ask(
            "callStart", "POST", "/callControl", {"callControlRequest": body}, repeats=self._repeats()
        )
        if answer is None or answer.status != 201:
            return
        self.crowd.counts["calls of robots"] += 1
        leg = self._leg(answer.body["sessionData"])
        if await is_set(leg.moved, PATIENCE):
            await is_set(leg.over, self.chance.uniform(0.02, 1))
        if not leg.over.is_set():
            await self.hang_up(leg)

    async def _call_somebody(self):
        conversation = self.crowd.draw(self)
        body = {
            "type": "callStart",
            "from": f"sip:{self.user}",
            "to": f"sip:{conversation.callee}@dev.local",
            "sdp": sdp.offer(),
            "customParameters": [{"name": "X-Conversation", "value": str(conversation.number)}],
        }
        answer = await self.ask(
            "callStart", "POST", "/callControl", {"callControlRequest": body}, repeats=self._repeats()
        )
        if answer is None or answer.status != 201:
            return
        self.crowd.counts["calls"] += 1
        leg = self._leg(answer.body["sessionData"])
        leg.conversation = conversation
        rings = self.chance.uniform(0.2, 1) if conversation.plan == CANCELLED else PATIENCE
        if await is_set(leg.moved, rings):
            await self._talk(leg, CALLER)
        else:
            await self.hang_up(leg)

    async def _take_call(self, leg: Leg, conversation: Conversation, offer: str):
        if self.reports_ringing:
            await self.within(leg, "ringing")
        if await is_set(leg.over, self.chance.uniform(0.02, 0.3)) or conversation.plan == CANCELLED:
            return
        if conversation.plan != RACED and conversation.device != self.place:
            return
        if conversation.plan == REJECTED:
            disposition = {"callDispositionRequest": {"action": "reject", "sessionData": leg.session}}
            await self.ask("reject", "POST", "/calldisposition", disposition)
            return
        leg.is_answering = True
        answer = await self.within(leg, "callAnswer", self._repeats(), sdp=sdp.answer(offer))
        leg.is_answering, leg.has_answered = False, answer is not None and answer.status == 200
        if leg.has_answered:
            self.crowd.counts["answered"] += 1
            await self._talk(leg, CALLEE)
        elif leg.was_cancelled:
            leg.end()

    async def _talk(self, leg: Leg, role: str):
        """Sends numbered messages, and hangs up or waits for the end."""
        conversation = leg.conversation
        for _ in range(self.chance.randint(1, 4)):
            if await is_set(leg.over, self.chance.uniform(0.02, 0.5)):
                return
            conversation.messages[role] += 1
            message = Message(conversation, role, conversation.messages[role])
            self.crowd.messages.append(message)
            said = [{"name": "X-Message", "value": message.text}]
            # Nothing tells a repetition from another message, so that there is none.
            answer = await self.within(leg, "sendCustomHeaders", repeats=False, customParameters=said)
            if answer and answer.status == 200:
                message.confirmed = self.crowd.now
        takes = self.chance.uniform(0.02, 0.5) if conversation.hangs_up == role else PATIENCE
        if not await is_set(leg.over, takes):
            await self.hang_up(leg)


def _body(message: dict) -> str:
    if (body := body_of(message)) is not None:
        return body
    if message["eventType"] == "customParameters":
        return message["customParameters"][0]["value"]
    if message["eventType"] == "notificationsLost":
        return str(message["lost"])
    parameters = message.get("sessionParams", {})
    said = (parameters.get(name) for name in ("statusCode", "cause", "reasonText"))
    return " ".join(str(each) for each in said if each is not None)
