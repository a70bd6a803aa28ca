"""A call as one party sees it: what the user can do, and what the client does by itself when it is told something."""
from urllib.parse import quote
import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from peers.spidr import Answer, Notification

from .dialects import INACTIVE, SENDRECV, audio_direction, narrowed

if TYPE_CHECKING:
    from .device import Party

_SILENCE = {"inactive", "sendonly"}
"""Directions by which a client recognises that the other party holds (spidr-wire §8.2)."""


@dataclass
class Ended:
    by: str
    """The notification that said so, or `DELETE`."""
    code: int | None = None
    text: str | None = None


class PartyCall:
    """`state` has the words of the mobile guide: IN_CALL, ON_HOLD, REMOTELY_HELD, ON_DOUBLE_HOLD, ENDED."""

    def __init__(
        self, party: "Party", is_incoming: bool, session: str | None = None, invitation: Notification | None = None
    ):
        self.party, self.session, self.is_incoming, self.invitation = party, session, is_incoming, invitation
        self.media = party.new_media()
        self.holding = self.remotely_held = self.is_answered = False
        self._is_answering = self._is_cancelled = self._is_joining = False
        self.video = SENDRECV if party.shows else INACTIVE
        """What this party wants of video."""
        self.remote: tuple[str, str] | None = None
        """Name and address of the other party, as the client would show them."""
        self.ended: Ended | None = None
        self.failure: tuple[int | None, str | None] | None = None
        """What the latest `sessionFail` said."""
        self.farewell: Answer | None = None
        """How the `DELETE` that follows `sessionComplete` was answered."""
        self.answers_updates = True
        """Whether re-offers are answered as they come, or left to the test."""
        self.descriptions: list[str] = []
        """Every description that came, in order; of answers, those that have taken effect."""
        self.candidates: list[str] = []
        """What came of the other party's candidates, in order; an empty line after the last one."""
        self._update: asyncio.Future | None = None
        self._moves: str | None = None
        """The direction of the audio that a hold or a resume offers, until it is answered."""
        self._news, self._work = asyncio.Queue(), None
        self._open = 0
        """How many notifications have come that are not worked on to the end."""
        if invitation:
            self.learn(invitation)

    def __str__(self):
        return f"{self.party.name} ({self.session})"

    @property
    def state(self) -> str:
        if self.ended:
            return "ENDED"
        states = {
            (False, False): "IN_CALL",
            (True, False): "ON_HOLD",
            (False, True): "REMOTELY_HELD",
            (True, True): "ON_DOUBLE_HOLD",
        }
        return states[self.holding, self.remotely_held]

    @property
    def is_settled(self) -> bool:
        """Whether the client has done all that follows from what it was told so far."""
        return not self._open

    @property
    def is_replacing(self) -> bool:
        """It was not rung, but offered in place of another call (spidr-wire §8.8)."""
        return bool(self.invitation) and self.invitation.event == "startCallReplace"

    @property
    def is_in_conference(self) -> bool:
        return self.remote is not None and self.remote[1].startswith("conference@")

    @property
    def direction(self) -> str:
        """Of the audio, as agreed."""
        return self.media.direction["audio"]

    def hears(self) -> set[str]:
        return self.media.hears()

    # What the user does

    async def dial(self, to: str, slow: bool = False, **fields) -> Answer:
        """`slow`: without an offer; whoever answers makes it, and it is answered when it comes."""
        sdp = None if slow else await self._offer()
        answer = await self.party.start(addressed(to), sdp, **fields)
        if answer.status < 300:
            self.begin(answer.succeeded()["sessionData"])
        return answer

    async def join(self, first: "PartyCall", second: "PartyCall", **fields) -> Answer:
        request = {"type": "join", "firstSessionData": first.session, "secondSessionData": second.session}
        request |= {"sdp": await self._offer()} | fields
        self._is_joining = True
        answer = await self.party.request("POST", "/callControl", {"callControlRequest": request})
        if answer.status < 300:
            self.begin(answer.succeeded()["sessionData"])
        return answer

    async def ring(self) -> Answer:
        return await self.party.operate(self.session, "ringing")

    async def answer(self, **fields) -> Answer:
        """A call that came without a description is answered with an offer; its answer follows by itself."""
        sdp = self.invitation.sdp
        own = await (self._answer(sdp) if sdp else self._offer())
        self._is_answering = True
        try:
            answer = await self.party.operate(
                self.session, "acceptCallReplace" if self.is_replacing else "callAnswer", sdp=own, **fields
            )
            self.is_answered = answer.status < 300
        finally:
            self._is_answering = False
            if self._is_cancelled and not self.is_answered:
                await self._finish(Ended("callCancel"))
        return answer

    async def answered(self, timeout: float = 20):
        """Waits until this outgoing call has its answer and knows it."""
        await self.until(lambda: self.is_answered, "answered", timeout)

    async def established(self):
        """Waits until the device knows that this incoming call, which it has answered, is its own."""
        await self.party.expect("callCancel", self.session)

    async def reject(self) -> Answer:
        if self.is_replacing:
            return await self.party.operate(self.session, "rejectCallReplace")
        return await self.party.reject(self.session)

    async def forward(self, address: str) -> Answer:
        disposition = {"action": "forward", "sessionData": self.session, "address": f"sip:{addressed(address)}"}
        return await self.party.request("POST", "/calldisposition", {"callDispositionRequest": disposition})

    async def end(self, reason: str | None = None) -> Answer:
        answer = await self.party.end(self.session, f"?reasonText={quote(reason)}" if reason else "")
        await self._finish(Ended("DELETE"))
        return answer

    async def audit(self) -> Answer:
        return await self.party.operate(self.session, "audit")

    async def hold(self):
        await self._move(True, self.party.dialect.offer_to_hold(self.remotely_held))

    async def prepare_to_hold(self) -> Callable[[], Awaitable[None]]:
        """Describes the hold now; what is returned sends it, at once."""
        self.holding = True
        self._update = asyncio.get_running_loop().create_future()
        offer = await self._offer(self.party.dialect.offer_to_hold(self.remotely_held))

        async def send():
            (await self.party.operate(self.session, "startCallUpdate", sdp=offer)).succeeded()
            await self.updated()

        return send

    async def unhold(self):
        await self._move(False, SENDRECV)

    async def show_video(self, wish: str = SENDRECV, **fields):
        """Offers video in this direction, adding a section if there is none."""
        self.video = wish
        await self.update(SENDRECV, **fields)

    async def offer_update(self, direction: str = SENDRECV, **fields) -> Answer:
        """Sends an offer and waits for nothing."""
        while True:
            self._update = asyncio.get_running_loop().create_future()
            answer = await self.party.operate(
                self.session, "startCallUpdate", sdp=await self._offer(direction), **fields
            )
            if answer.status != 491 or not self.party.offers_again:
                return answer
            await asyncio.sleep(answer.body["retryAfter"])

    async def ask_for_an_offer(self, **fields) -> Answer:
        """Slow start in mid-call (spidr-wire §8.1); it is answered when it comes."""
        return await self.party.operate(self.session, "startCallUpdate", **fields)

    async def update(self, direction: str = SENDRECV, timeout: float = 20, **fields) -> Notification:
        """A whole offer and answer; returns the `respondCallUpdate`."""
        (await self.offer_update(direction, **fields)).succeeded()
        return await self.updated(timeout)

    async def updated(self, timeout: float = 20) -> Notification:
        """Waits for the answer to the open offer."""
        try:
            return await asyncio.wait_for(asyncio.shield(self._update), timeout)
        except TimeoutError:
            self.party.check()
            raise AssertionError(
                f"{self}: the offer was not answered; heard {self.party.heard_since_start()}"
            ) from None

    async def respond(self, update: Notification, **fields) -> Answer:
        """Answers a `startCallUpdate`; one without a description asks for an offer (slow start)."""
        if update.sdp:
            self.remotely_held = (audio_direction(update.sdp) or INACTIVE) in _SILENCE
            own = await self._answer(update.sdp)
        else:
            own = await self._offer()
        return await self.party.operate(self.session, "respondCallUpdate", sdp=own, **fields)

    async def transfer(self, to: "str | PartyCall", **fields) -> Answer:
        """To a user, or to the other party of another call of the same party."""
        if isinstance(to, PartyCall):
            fields = {"address": f"sip:{to.remote[1]}", "sessionData": to.session, **fields}
        else:
            fields = {"address": f"sip:{addressed(to)}", **fields}
        return await self.party.operate(self.session, "transfer", **fields)

    async def send_custom_headers(self, **headers: str) -> Answer:
        """`X_GPS="1,2"` is the header `X-GPS`."""
        return await self.party.operate(self.session, "sendCustomHeaders", customParameters=parameters(**headers))

    async def send_candidates(self, *candidates: str) -> Answer:
        """Lines as they stand after `a=` in a description."""
        told = [{"candidate": each, "sdpMid": "0", "sdpMLineIndex": 0} for each in candidates]
        return await self.party.operate(self.session, "updateIceCandidate", iceCandidates=told)

    async def trickle(self):
        """All that its description left out, one after the other, and that there are no more (`RTCIceCandidateInit` of
        an empty line)."""
        for candidate in (*self.media.candidates, ""):
            (await self.send_candidates(candidate)).succeeded()

    async def come_back(self):
        """What a page does that was loaded again: new media, offered to the call that goes on."""
        old, self.media = self.media, self.party.new_media()
        await old.close()
        await self.update(SENDRECV)

    # Waiting

    async def connected(self):
        await self.media.connected()

    async def until(self, is_true, what: str, timeout: float = 20):
        end = asyncio.get_running_loop().time() + timeout
        while not is_true():
            self.party.check()
            assert (
                asyncio.get_running_loop().time() < end
            ), f"{self} is not {what}; heard {self.party.heard_since_start()}"
            await asyncio.sleep(0.02)

    async def over(self, timeout: float = 20) -> Ended:
        await self.until(lambda: self.ended, "over", timeout)
        return self.ended

    # What the client does by itself

    def begin(self, session: str):
        """It is this session's from now on: one of its own, or one that another device of the user has had."""
        self.session = session
        self.party.adopt(self)

    def take(self, notification: Notification):
        """Notifications are worked on one after the other."""
        self._news.put_nowait(notification)
        self._open += 1
        if self._work is None:
            self._work = asyncio.create_task(self._run())

    async def close(self):
        if self._work and self._work is not asyncio.current_task():
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await self.media.close()

    async def _run(self):
        try:
            while True:
                await self._handle(await self._news.get())
                self._open -= 1
        except Exception as error:
            self.party.fail(error)

    async def _handle(self, news: Notification):
        if self.ended:
            return
        if news.event != "respondCallUpdate" and news.message.get("sessionParams", {}).get("sdp"):
            self.descriptions.append(news.sdp)
        match news.event:
            case "sessionProgress" if news.sdp:
                await self.media.accept(news.sdp, provisional=True)
            case "respondCallUpdate":
                await self._settle(news)
            case "startCallUpdate":
                self.learn(news)
                if self._update and not self._update.done():
                    return  # The gateway answers the offer of this side, and offers again what that leaves unsaid.
                if self.answers_updates:
                    (await self.respond(news)).succeeded()
                    self.is_answered = True
            case "callCancel" if self._is_answering:  # by this device, or another one: its own answer tells
                self._is_cancelled = True
            case "callCancel" if self.is_incoming and not self.is_answered:
                await self._finish(Ended("callCancel"))
            case "callEnd":
                await self._finish(Ended("callEnd", *news.reason))
            case "sessionComplete":
                self.farewell = await self.party.end(self.session)
                await self._finish(Ended("sessionComplete", *news.reason))
            case "sessionFail":
                self.failure = news.reason
                if self._is_joining:  # there was nothing before it
                    await self._finish(Ended("sessionFail", *news.reason))
            case "IceCandidate":
                self.candidates += [each["candidate"] for each in news.message["sessionParams"]["iceCandidates"]]

    async def _settle(self, news: Notification):
        self.learn(news)
        if news.sdp:
            await self.media.accept(news.sdp)
            self.descriptions.append(news.sdp)
        self.is_answered = True
        if self._update and not self._update.done():
            if self._moves not in (None, INACTIVE):  # which is answered with the same by whoever holds and who does not
                self.remotely_held = audio_direction(news.sdp) in _SILENCE
            self._update.set_result(news)

    async def _move(self, holding: bool, direction: str):
        """The state changes when the other side has confirmed it, not before."""
        before, self.holding, self._moves = self.holding, holding, direction
        try:
            await self.update(direction)
        except BaseException:
            self.holding = before
            raise
        finally:
            self._moves = None

    async def _offer(self, limit: str | None = None) -> str:
        return self.party.dialect.written(await self.media.offer(self._wishes(limit)), self.holding)

    async def _answer(self, offer: str) -> str:
        return self.party.dialect.written(await self.media.answer(offer, self._wishes()), self.holding)

    def _wishes(self, limit: str | None = None) -> dict[str, str]:
        """The direction of each kind; hold concerns all of them."""
        limit = limit or self.party.dialect.wish(self.holding)
        has_video = self.video != INACTIVE or "video" in self.media.kinds
        return {"audio": limit} | ({"video": narrowed(self.video, limit)} if has_video else {})

    def learn(self, news: Notification):
        """L5 takes the caller's names for incoming legs and of conferences, the remote ones otherwise
        (spidr-wire §5.2)."""
        names = news.message["callNotificationParams"]
        if self.is_incoming or names["callerDisplayNumber"].startswith("conference@"):
            self.remote = names["callerName"], names["callerDisplayNumber"]
        else:
            self.remote = names["remoteName"], names["remoteDisplayNumber"]

    async def _finish(self, ended: Ended):
        self.ended = self.ended or ended
        await self.media.close()


def addressed(name: str) -> str:
    """An address; a name alone is that of a user of `dev.local`."""
    return name if "@" in name else f"{name}@dev.local"


def parameters(**headers: str) -> list[dict[str, str]]:
    return [{"name": name.replace("_", "-"), "value": value} for name, value in headers.items()]
