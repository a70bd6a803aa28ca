"""A party without a phone: an application (docs/bots.md), whose leg ends in the gateway.

It has the operations of `Party` and `PartyCall`, as far as an application has them; `LACKS` says which it has not, and
why."""
import asyncio
import itertools
from collections.abc import Callable
from contextlib import suppress

import numpy
from websockets.exceptions import ConnectionClosed, InvalidStatus

from peers.bot import Bot, BotAnswer
from peers.sound import RATE, sine
from peers.stream import Stream

from .call import Ended, addressed
from .dialects import HEADLESS
from .tones import TONES, Ear

DESCRIPTIONS = "the gateway writes the descriptions of the other party, and a headless leg gets none"
LACKS = {
    "ask_for_an_offer": DESCRIPTIONS,
    "audit": "its leg lives as long as the gateway has it: nobody has to ask whether the client is there",
    "begin": "a call has one name, which the answer to its start has",
    "come_back": "its media are the gateway's own; test_streams.py has streams that are opened again",
    "direction": DESCRIPTIONS,
    "is_replacing": "call replace (spidr-wire §8.8) is between clients, whoever asks for it; a headless target changes "
    "calls instead (test_headless_groups.py has both)",
    "learn": "what it knows of a call is asked for, and not told",
    "offer_update": DESCRIPTIONS,
    "prepare_to_hold": DESCRIPTIONS,
    "respond": DESCRIPTIONS,
    "send_candidates": DESCRIPTIONS,
    "send_custom_headers": "`send` carries parameters in mid-call; test_bots.py has it",
    "show_video": "a headless leg has no picture (docs/adr/0009)",
    "take": "what it knows of a call is asked for, and not told",
    "trickle": DESCRIPTIONS,
    "update": DESCRIPTIONS,
    "updated": DESCRIPTIONS,
}
"""What `PartyCall` has and `HeadlessCall` has not, with the reason. test_headless_parties.py holds it against both
classes."""
UNUSED = {
    "bridge": "test_bots_together.py has it; with `bot: leave` it is `transfer` to a call",
    "gather": "test_bots.py has it",
    "play": "the party speaks on a stream; test_bots.py has lists",
    "record": "test_recordings.py has it",
    "send": "test_bots.py has it",
    "stop": "test_bots.py has it",
    "stream": "the party opens its stream itself; test_streams_out.py has those that the gateway opens",
}
"""The commands of `/v1` that `HeadlessCall` does not give, with the reason."""
_LOOKS = 0.1
"""Seconds from one look at a call to the next."""
_GRACE = 5
"""Seconds in which a call has to be over whose stream has ended."""


class Voice:
    """Says a tone on the stream of a call without end, and keeps an ear on what comes."""

    def __init__(self, base: str, call: str, key: str, frequency: int):
        self.ear = Ear()
        self._second = sine(frequency, 0, RATE)  # whole periods, so that it can be said again and again
        self._stream = Stream(base, call, key, hear=self._hear, rate=RATE)
        self._work: asyncio.Task | None = None

    async def open(self):
        """Raises `InvalidStatus` if the call has no room for it now."""
        await self._stream.__aenter__()
        self._work = asyncio.create_task(self._speak())

    async def close(self):
        if self._work:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
            await self._stream.__aexit__()

    @property
    def is_open(self) -> bool:
        return self._stream.code is None

    @property
    def starts(self) -> list[dict]:
        """What it was told of its beginning; once more whenever it was connected again."""
        return [each for each in self._stream.told if each["type"] == "start"]

    def heard_keys(self) -> str:
        """All keys so far, in order."""
        return "".join(each["keys"] for each in self._stream.told if each["type"] == "keys")

    def _hear(self, audio: bytes):
        self.ear.take(numpy.frombuffer(audio, "<i2"))

    async def _speak(self):
        """Three seconds wait in the gateway at most: more is sent when a mark is answered."""
        with suppress(ConnectionClosed):
            for number in itertools.count():
                await self._stream.play(self._second)
                await self._stream.say(type="mark", name=str(number))
                if number >= 2:
                    await self._answered(str(number - 2))

    async def _answered(self, mark: str):
        """Nothing is answered while the stream stands still, as during a hold."""
        while not any(each["type"] == "marked" and each["name"] == mark for each in self._stream.told):
            await asyncio.sleep(0.1)


def is_remotely_held(shown: dict) -> bool:
    """In a conference a member that holds concerns nobody else."""
    others = [each for each in shown["members"] if each["state"] == "talking"]
    return not shown["conference"] and any(each["holds"] for each in others)


def state_of(shown: dict) -> str:
    """In the words of `PartyCall`."""
    if "answeredAt" not in shown:
        return "RINGING"
    states = {
        (False, False): "IN_CALL",
        (True, False): "ON_HOLD",
        (False, True): "REMOTELY_HELD",
        (True, True): "ON_DOUBLE_HOLD",
    }
    return states[shown["state"] == "held", is_remotely_held(shown)]


class HeadlessParty:
    """An application with one address."""

    is_headless = True
    dialect = HEADLESS
    shows = False

    def __init__(
        self, base: str, name: str, key: str, *, user: str, voice: str | None = None, sounds: bool = True
    ):  # fmt: skip
        """`key`: of the application. `user`: its address. `sounds`: its calls have a stream, on which it says the tone
        of `voice`, or of its name."""
        self.name, self.user, self.sounds = name, user, sounds
        self.bot = Bot(base, key)
        self.calls: dict[str, HeadlessCall] = {}
        self._invited: list[HeadlessCall] = []
        self._key, self._tone = key, TONES[voice or name]
        self._failed: Exception | None = None

    async def __aenter__(self) -> "HeadlessParty":
        await self.bot.__aenter__()
        return self

    async def __aexit__(self, failure: type | None, *details):
        for call in self.calls.values():
            if failure is None and not call.ended:  # what a test leaves is not in the way of the next one
                with suppress(AssertionError):
                    (await call.end()).succeeded()
            await call.close()
        await self.bot.__aexit__(failure, *details)
        if failure is None:
            self.check()

    def new_voice(self, call: str) -> Voice:
        return Voice(self.bot.base, call, self._key, self._tone)

    async def dial(self, to: str, **fields) -> "HeadlessCall":
        """Starts a call that the gateway accepts."""
        wish = {"to": addressed(to), "from": self.user, "displayName": self.name.title(), **fields}
        return self._adopt(await self.bot.ask("POST", "/v1/calls", wish))

    async def incoming(self, timeout: float = 20) -> "HeadlessCall":
        """The next call that comes in."""
        end = asyncio.get_running_loop().time() + timeout
        while not self._invited:
            await self.look()
            assert self._invited or asyncio.get_running_loop().time() < end, f"nobody calls {self.user}"
            await asyncio.sleep(0 if self._invited else _LOOKS)
        return self._invited.pop(0)

    async def invited(self) -> "HeadlessCall":
        """The next call that comes in and still rings."""
        while (call := await self.incoming()).ended:
            pass
        return call

    async def look(self):
        """Takes note of the calls that ring."""
        for shown in await self.bot.calls(state="ringing", direction="incoming"):
            if shown["id"] not in self.calls:
                self._invited.append(self._follow(shown))

    async def listed(self) -> dict[str, str]:
        """The state of each of its calls, as the gateway lists them."""
        await self.look()
        calls = await self.bot.calls(limit="1000")
        return {each["id"]: state_of(each) for each in calls if each["state"] != "ended"}

    async def join(self, first: "HeadlessCall", second: "HeadlessCall") -> "HeadlessCall":
        """Makes two calls one; returns the new one, which `answered()` waits for."""
        return self._adopt(await first.ask("join", calls=[second.session]))

    def _adopt(self, answer: BotAnswer) -> "HeadlessCall":
        return self._follow(answer.succeeded(201))

    def _follow(self, shown: dict) -> "HeadlessCall":
        call = self.calls[shown["id"]] = HeadlessCall(self, shown)
        return call

    def forget(self):
        """It is told nothing that a test could count."""

    def heard_since_start(self) -> list[str]:
        return [f"{call.session} {call.shown}" for call in self.calls.values()]

    def fail(self, error: Exception):
        self._failed = self._failed or error

    def check(self):
        """What went wrong while a call was followed fails the test that waits."""
        if self._failed:
            raise self._failed


class HeadlessCall:
    """A call as an application sees it; `state` has the words of `PartyCall`."""

    is_settled = True  # it is told nothing that it has to answer

    def __init__(self, party: HeadlessParty, shown: dict):
        self.party, self.session, self.shown = party, shown["id"], shown
        self.voice: Voice | None = None
        self.ended: Ended | None = None
        self._work = asyncio.create_task(self._look())

    def __str__(self):
        return f"{self.party.name} ({self.session}, headless)"

    @property
    def is_incoming(self) -> bool:
        return self.shown["direction"] == "incoming"

    @property
    def is_answered(self) -> bool:
        return "answeredAt" in self.shown

    @property
    def is_in_conference(self) -> bool:
        return self.shown["conference"]

    @property
    def holding(self) -> bool:
        return self.shown["state"] == "held"

    @property
    def remotely_held(self) -> bool:
        return is_remotely_held(self.shown)

    @property
    def state(self) -> str:
        return "ENDED" if self.ended else state_of(self.shown)

    @property
    def remote(self) -> tuple[str, str]:
        """Name and address of the other party that talks; before the answer of whoever calls or is called."""
        for each in self.shown["members"] if self.is_answered else ():
            if each["state"] == "talking":
                return each["name"], each["address"]
        return ("", self.shown["from"]) if self.is_incoming else ("", self.shown["to"])

    def hears(self) -> set[str]:
        return self.voice.ear.hears() if self.voice else set()

    # What the application does

    async def ask(self, command: str, **fields) -> BotAnswer:
        """Gives a command, again for as long as the call is busy with another request of somebody."""
        for _ in range(100):
            answer = await self.party.bot.ask("POST", f"/v1/calls/{self.session}/{command}", fields or None)
            if answer.status != 409 or "is open; try again" not in answer.body["detail"]:
                break
            await asyncio.sleep(0.1)
        if answer.status == 200:
            self._see(answer.body)
        return answer

    async def ring(self) -> BotAnswer:
        return await self.ask("ring")

    async def progress(self) -> BotAnswer:
        return await self.ask("progress")

    async def answer(self, **fields) -> BotAnswer:
        return await self.ask("answer", **fields)

    async def reject(self, cause: str = "declined") -> BotAnswer:
        return await self.ask("reject", cause=cause)

    async def forward(self, address: str) -> BotAnswer:
        return await self.ask("transfer", to=addressed(address))

    async def end(self, reason: str | None = None) -> BotAnswer:
        return await self.ask("end", **({"reasonText": reason} if reason else {}))

    async def hold(self):
        (await self.ask("hold")).succeeded()

    async def unhold(self):
        (await self.ask("resume")).succeeded()

    async def mute(self):
        (await self.ask("mute")).succeeded()

    async def unmute(self):
        (await self.ask("unmute")).succeeded()

    async def leave(self) -> BotAnswer:
        """The others of the conference go on."""
        return await self.ask("leave")

    async def transfer(self, to: "str | HeadlessCall") -> BotAnswer:
        """To an address, or to the other party of another call of the same application."""
        fields = {"call": to.session} if isinstance(to, HeadlessCall) else {"to": addressed(to)}
        return await self.ask("transfer", **fields)

    async def press(self, keys: str) -> BotAnswer:
        return await self.ask("keys", keys=keys)

    # Waiting

    async def connected(self):
        """With its stream, if it has one."""
        if self.party.sounds:
            await self.until(lambda: self.voice, "heard and hearing")

    async def answered(self, timeout: float = 20):
        await self.until(lambda: self.is_answered, "answered", timeout)

    async def established(self):
        await self.until(lambda: self.is_answered, "established")

    async def until(self, is_true: Callable[[], object], what: str, timeout: float = 20):
        end = asyncio.get_running_loop().time() + timeout
        while not is_true():
            self.party.check()
            assert asyncio.get_running_loop().time() < end, f"{self} is not {what}; it is shown {self.shown}"
            await asyncio.sleep(0.02)

    async def over(self, timeout: float = 20) -> Ended:
        await self.until(lambda: self.ended, "over", timeout)
        return self.ended

    async def close(self):
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)
        if self.voice:
            await self.voice.close()

    # What it does by itself

    def _see(self, shown: dict):
        """An answer may have been overtaken by a newer one."""
        if shown["version"] < self.shown["version"] or self.ended:
            return
        self.shown = shown
        if shown["state"] == "ended":
            ending = shown.get("ending", {"cause": None})
            self.ended = Ended(ending["cause"], ending.get("statusCode"))

    async def _look(self):
        """Looks at the call again and again, and speaks and listens as soon as it may."""
        try:
            silent = None
            while not self.ended:
                self._see(await self.party.bot.show(self.session))
                if self.party.sounds and self.voice is None and self._may_speak:
                    await self._open_voice()
                if self.voice and not self.voice.is_open:
                    silent = silent or asyncio.get_running_loop().time()
                    assert asyncio.get_running_loop().time() - silent < _GRACE, f"{self} has lost its stream"
                await asyncio.sleep(_LOOKS)
        except Exception as error:
            self.party.fail(error)

    @property
    def _may_speak(self) -> bool:
        return "play" in self.shown["allowed"]

    async def _open_voice(self):
        voice = self.party.new_voice(self.session)
        try:
            await voice.open()
        except InvalidStatus:  # the call has moved on since it was looked at, and is looked at again
            return
        self.voice = voice
