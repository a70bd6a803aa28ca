"""One device of one user: a `SpidrPeer` that looks after its calls as its dialect does."""
import asyncio
from collections.abc import Callable

import aiohttp

from peers.contract import Contract
from peers.detour import Detour
from peers.spidr import Answer, Notification, SpidrPeer

from .call import PartyCall
from .dialects import L5, Dialect
from .media import PaperMedia, ToneMedia, TricklingMedia
from .tones import TONES


_CHANGES_NOTHING = {"audit", "ringing", "updateIceCandidate", "sendCustomHeaders", "play", "stop", "dtmf"}
"""Requests whose answer leaves a client's call as it was."""


class Party(SpidrPeer):
    is_headless = False

    def __init__(
        self,
        base: str,
        name: str,
        *,
        dialect: Dialect = L5,
        sounds: bool = False,
        voice: str | None = None,
        right: str | None = None,
        stack: Callable[[str], object] | None = None,
        shows: bool = False,
        password: str = "dev",
        contract: Contract | None = None,
    ):
        """`stack`: what makes the media of its calls, such as `Wrtc`, in place of aiortc; `shows`: with a picture from
        the beginning.

        `sounds`: its calls have real media, and it plays the tone of `voice`, or its own name, out of `TONES`; with
        `right` on the left, and that one's on the right."""
        super().__init__(base, name, password, contract)
        self.name, self.dialect, self.sounds = name, dialect, sounds or stack is not None
        self.stack, self.shows = stack, shows
        self.trickles = False
        """Whether its calls describe themselves without candidates, which the test then sends."""
        self.detour: Detour | None = None
        """What the media of its calls passes on its way to the gateway."""
        self.offers_again = False
        """Whether an offer that meets another one is made anew after a while (spidr-wire §8.9), or left to the test."""
        self.digestion = 0.0
        """Seconds from the body of an answer until the client knows what it says, as in a browser; what comes earlier
        is `too_early`."""
        self.session_digestion: float | None = None
        """The same of an answer that names a new session, where that takes longer."""
        self.too_early: list[str] = []
        self.operations: set[str | None] = set()
        """What its requests asked for: the `type` of a body, or its `action`."""
        self._digested: dict[str, float] = {}
        """When the client knows the answer to its latest request about a session, or that changes it."""
        self._tones = [TONES[each] for each in (voice or name, right) if each in TONES]
        self.calls: dict[str, PartyCall] = {}
        self._invited: asyncio.Queue[PartyCall] = asyncio.Queue()
        self._early: list[Notification] = []
        self._told = 0
        self._failed: Exception | None = None

    async def __aexit__(self, failure: type | None, *details):
        for call in self.calls.values():
            await call.close()
        await super().__aexit__(failure, *details)
        if failure is None:
            self.check()

    def new_media(self) -> PaperMedia | ToneMedia:
        if self.stack:
            return self.stack(self.name)
        if not self.sounds:
            return PaperMedia()
        media = (TricklingMedia if self.trickles else ToneMedia)(*self._tones)
        media.detour = self.detour
        return media

    # Calls

    async def dial(self, to: str, **fields) -> PartyCall:
        """Starts a call that the gateway accepts."""
        call = PartyCall(self, is_incoming=False)
        answer = await call.dial(to, **fields)
        assert answer.status == 201, f"{answer.status}: {answer.text}"
        return call

    async def incoming(self, timeout: float = 20) -> PartyCall:
        """The next call that comes in, or that is offered in place of another."""
        try:
            return await asyncio.wait_for(self._invited.get(), timeout)
        except TimeoutError:
            raise AssertionError(f"nobody calls {self.user}; heard {self.heard_since_start()}") from None

    async def join(self, first: PartyCall, second: PartyCall, **fields) -> PartyCall:
        """Makes two calls one; returns the new one, which `answered()` waits for."""
        call = PartyCall(self, is_incoming=False)
        answer = await call.join(first, second, **fields)
        assert answer.status == 201, f"{answer.status}: {answer.text}"
        return call

    async def request(self, method: str, path: str, body: object = None, **options) -> Answer:
        answer = await super().request(method, path, body, **options)
        self.operations.add(_type_of(body))
        if self.digestion and method != "GET":
            known = _sessions_in(body) | ({path.split("?")[0].rsplit("/", 1)[1]} if "/callSessions/" in path else set())
            new = _sessions_in(answer.json) - known
            takes = self.session_digestion if new and self.session_digestion is not None else self.digestion
            if _type_of(body) not in _CHANGES_NOTHING:
                self._digested |= dict.fromkeys(known | new, asyncio.get_running_loop().time() + takes)
        return answer

    async def digested(self, session: str):
        """Waits until the client knows the answer to its latest request about this session."""
        await asyncio.sleep(max(0, self._digested.get(session, 0) - asyncio.get_running_loop().time()))

    # Notifications

    async def heard_exactly(
        self, *expected: "str | tuple[str, PartyCall]", unordered: int = 0, still: float = 0.4, timeout: float = 20
    ):
        """These came since the last such question, in this order, and nothing else: an event, or an event and its call.

        `unordered`: so many at the end are of different calls and come as they come."""
        wanted = [(each, None) if isinstance(each, str) else (each[0], each[1].session) for each in expected]
        end = asyncio.get_running_loop().time() + timeout
        while len(self.heard) - self._told < len(wanted) and asyncio.get_running_loop().time() < end:
            self.check()
            await asyncio.sleep(0.02)
        await asyncio.sleep(still)
        self.check()
        came = [(each.event, each.session) for each in self.heard[self._told :]]
        settled = len(wanted) - unordered
        came[settled:] = sorted(came[settled:], key=lambda each: wanted.index(each) if each in wanted else -1)
        fits = len(came) == len(wanted) and all(
            event == e and session in (None, s) for (event, session), (e, s) in zip(wanted, came)
        )
        assert fits, f"{self.name} heard {came}, should have heard {wanted}"
        self._told = len(self.heard)

    def forget(self):
        """What came so far is not asked for."""
        self._told = len(self.heard)

    def heard_since_start(self) -> list[str]:
        return list(map(str, self.heard))

    async def _hear(self, frame: aiohttp.WSMessage):
        await super()._hear(frame)
        news = self.heard[-1]
        if any(earlier.event_id == news.event_id for earlier in self.heard[:-1]):
            self.heard.pop()  # replayed
            return
        if asyncio.get_running_loop().time() < self._digested.get(news.session, 0):
            self.too_early.append(str(news))
        if news.event in ("call", "startCallReplace") and news.session not in self.calls:
            self.adopt(call := PartyCall(self, is_incoming=True, session=news.session, invitation=news))
            self._invited.put_nowait(call)
        elif call := self.calls.get(news.session):
            call.take(news)
        else:
            self._early.append(news)

    def adopt(self, call: PartyCall):
        """From now on notifications of its session go to the call, and those that overtook the answer to its
        request."""
        self.calls[call.session] = call
        early, self._early = self._early, []
        for news in early:
            if news.session == call.session:
                call.take(news)
            else:
                self._early.append(news)

    def fail(self, error: Exception):
        self._failed = self._failed or error

    def check(self):
        """What went wrong while a notification was worked on fails the test that waits."""
        if self._failed:
            raise self._failed


def _sessions_in(body: object) -> set[str]:
    """What `sessionData`, and in a join `firstSessionData` and `secondSessionData`, say within the wrapper of a
    body."""
    wrapped = [each for each in body.values() if isinstance(each, dict)] if isinstance(body, dict) else []
    return {value for each in wrapped for name, value in each.items() if name.lower().endswith("sessiondata") and value}


def _type_of(body: object) -> str | None:
    """The word that says what a request about a call asks for."""
    wrapped = [each for each in body.values() if isinstance(each, dict)] if isinstance(body, dict) else []
    return next((each.get("type") or each.get("action") for each in wrapped), None)
