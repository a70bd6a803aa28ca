"""Who takes part in a run of a course, and what they have to agree on with the gateway."""
import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from party import Dialect, HeadlessCall, HeadlessParty, PartyCall, SturdyGuest, SturdyParty, hear_now
from party.device import Party
from party.guest import Guest
from peers.contract import Contract
from peers.gateway import Gateway
from peers.tap import Tap, Wire
from robots import DOMAIN

ROLES = {"alice": "alice", "bob": "bob", "desk": "bob", "carol": "carol"}
"""The devices of a run, and whose they are."""
USERS = sorted(set(ROLES.values()))
GUEST = "guest"
GUESTS_VOICE = "erin"
OPPOSITE = {"self": "peer", "peer": "self", "gateway": "gateway"}
PATIENCE = 30
"""Seconds in which everybody has to agree."""


class Disagreement(AssertionError):
    pass


@dataclass
class Cast:
    """The devices of one run, each behind a tap on the same wire; applications, which ask the gateway past all wires,
    have none."""

    wire: Wire
    gateway: Gateway
    number: int
    """Of the run, among those side by side; each has users of its own."""
    dialects: tuple[Dialect, Dialect]
    """Of alice, and of everybody else."""
    contract: Contract | None = None
    sounds: bool = False
    is_direct: bool = False
    """Media goes from peer to peer."""
    keys: dict[str, str] = field(default_factory=dict)
    """Of the users who are applications: the key of each, by the name of the user in this run."""
    devices: dict[str, SturdyParty | HeadlessParty] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    """Who uses each device."""
    observers: dict[str, Party | HeadlessParty] = field(default_factory=dict)
    """Of each user; they ask the gateway past all wires. An application looks for itself."""
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def __aenter__(self):
        async with self._stack:
            for user in USERS:
                name = f"{user}{self.number}"
                if name in self.keys:
                    await self._enter_application(user, name)
                else:
                    self.observers[user] = await self._stack.enter_async_context(Party(self.gateway.http, name))
            for role, user in ROLES.items():
                if not self._is_headless(user):
                    await self._enter(role, user)
            self._stack = self._stack.pop_all()
        return self

    async def _enter(self, role: str, user: str):
        device = SturdyParty(
            await self._tapped(role), f"{user}{self.number}", dialect=self.dialects[user != "alice"], voice=user,
            sounds=self.sounds,
            contract=self.contract,
        )  # fmt: skip
        await self._stack.enter_async_context(device)
        await device.register(alone=user == role, ringing_feedback=role == "bob")
        self.devices[role], self.owners[role] = device, user

    async def _enter_application(self, user: str, name: str):
        own = HeadlessParty(
            self.gateway.http, name, self.keys[name], user=f"{name}@{DOMAIN}", voice=user, sounds=self.sounds
        )  # fmt: skip
        await self._stack.enter_async_context(own)
        self.observers[user] = self.devices[user] = own
        self.owners[user] = user

    def _is_headless(self, user: str) -> bool:
        return f"{user}{self.number}" in self.keys

    async def __aexit__(self, *failure):
        return await self._stack.__aexit__(*failure)

    def __getattr__(self, role: str) -> SturdyParty | HeadlessParty:
        return self.devices[role]

    async def let_in_a_guest(self, to: str):
        """Somebody without an account, who came to call this user."""
        account = f"{to}{self.number}"
        self.observers[GUEST] = await self._stack.enter_async_context(Guest(self.gateway.http, account))
        device = SturdyGuest(
            await self._tapped(GUEST), account, GUESTS_VOICE, dialect=self.dialects[1], sounds=self.sounds,
            contract=self.contract
        )  # fmt: skip
        await self._stack.enter_async_context(device)
        await device.register()
        self.devices[GUEST], self.owners[GUEST] = device, GUEST

    async def _tapped(self, role: str) -> str:
        return (await self._stack.enter_async_context(Tap(self.wire, role, self.gateway.http_port))).base

    # What several courses do

    async def connected(self, caller: str, callee: str, **fields) -> tuple[PartyCall, PartyCall]:
        """`fields` of `callStart` and of `callAnswer`."""
        outgoing = await self.devices[caller].dial(self.devices[callee].user, **fields)
        incoming = await self.devices[callee].invited()
        (await incoming.answer(**fields)).succeeded()
        await outgoing.answered()
        for role in self.devices:
            if self.owners[role] == callee != role:
                await (await self.devices[role].incoming()).over()
        return outgoing, incoming

    # What everybody agrees on

    async def agree(self, **expected: str):
        """Everybody is in these states, one per call, and the gateway says the same, in its list and to whoever
        audits."""
        wanted = {user: sorted(expected.get(user, "").split()) for user in self.observers}
        listed = await self._become(
            lambda seen: {user: sorted(calls.values()) for user, calls in seen.items()} == wanted, wanted
        )
        for user, calls in listed.items():
            for session in () if self._is_headless(user) else calls:
                (await self.observers[user].operate(session, "audit")).succeeded()

    async def agree_on_video(self, first: PartyCall, direction: str, second: PartyCall, opposite: str):
        """Each end, and the gateway, says which way pictures go at that end."""
        wanted = [direction, opposite]

        async def difference() -> str | None:
            own = [call.media.direction["video"] for call in (first, second)]
            seen = [await self._video_of(call) for call in (first, second)]
            if own == wanted and seen == [wanted, wanted[::-1]]:
                return None
            return f"the ends say {own}, the gateway {seen}, and it should be {wanted}"

        await self._settle(difference)

    async def hear(self, expected: dict[PartyCall, str]):
        """Who talks hears exactly these, names separated by blanks. In a run without sounds there is nothing to ask
        for."""
        if self.sounds:
            await hear_now({call: set(names.replace(GUEST, GUESTS_VOICE).split()) for call, names in expected.items()})

    async def agree_on_the_end(self, first: PartyCall, second: PartyCall):
        """Both ends know that it is over, and their records name the same cause, and who ended it, seen from either
        side."""
        await first.over()
        await second.over()

        async def difference() -> str | None:
            own, other = [await self._ending_of(call) or {} for call in (first, second)]
            if own and other and own["cause"] == other["cause"]:
                # An application is not shown who it was.
                if "endedBy" not in own or "endedBy" not in other or own["endedBy"] == OPPOSITE[other["endedBy"]]:
                    return None
            return f"{first} ended with {own}, {second} with {other}"

        await self._settle(difference)

    async def agree_in_anything(self):
        await self._become(lambda seen: True, "anything they agree on")

    async def conclude(self):
        """Nobody has a call any more. Each device was told the end of each of its calls once at most, and nothing after
        it; an audit says that it is over, and the user's record why, in the words of the notification."""
        await self.agree()
        for user in (each for each in self.observers if not self._is_headless(each)):
            devices = {role: device for role, device in self.devices.items() if self.owners[role] == user}
            for session in {session for device in devices.values() for session in device.calls}:
                await self._settle(
                    lambda user=user, devices=devices, session=session: self._doubt_about(user, devices, session)
                )

    async def recover(self, role: str):
        """A device gave up: it looks what there is, and then everybody hangs up."""
        await self.devices[role].end_what_is_unknown()
        await self.agree_in_anything()
        for device in self.devices.values():
            for call in list(device.calls.values()):
                if not call.ended:
                    await call.end()
        await self.agree()

    def check(self):
        for device in self.devices.values():
            device.check()

    async def _become(self, fits: Callable[[dict], bool], wanted: object) -> dict[str, dict[str, str]]:
        listed = {}

        async def difference() -> str | None:
            listed.update({user: await self._listed(user) for user in self.observers})
            known = {
                role: {s: call.state for s, call in device.calls.items() if not call.ended}
                for role, device in self.devices.items()
            }
            told = {user: [own for role, own in known.items() if self.owners[role] == user] for user in listed}
            agrees = all(
                Counter(s for own in told[user] for s in own.items()) == Counter(listed[user].items())
                for user in listed
            )
            if agrees and fits(listed):
                return None
            return f"devices say {known}, the gateway {listed}, and it should be {wanted}"

        await self._settle(difference)
        return listed

    async def _settle(self, difference: Callable[[], Awaitable[str | None]]):
        """Waits until there is none any more."""
        await self.wire.deliver_delayed()
        end = asyncio.get_running_loop().time() + PATIENCE
        while found := await difference():
            self.check()
            if asyncio.get_running_loop().time() > end:
                raise Disagreement(found)
            await asyncio.sleep(0.05)
        self.check()

    async def _listed(self, user: str) -> dict[str, str]:
        """The user's calls and their states. A guest can ask only for calls that it knows."""
        if self._is_headless(user):
            return await self.observers[user].listed()
        if user != GUEST:
            sessions = (await self.observers[user].request("GET", "/callControl/callSessions")).succeeded()[
                "callSessions"
            ]
            return {each["sessionData"]: each["callState"] for each in sessions}
        answers = {session: await self.observers[user].state(session) for session in self.devices[GUEST].calls}
        return {
            session: answer.body["callSession"]["callState"]
            for session, answer in answers.items()
            if answer.status != 404
        }

    async def _video_of(self, call: PartyCall) -> list[str | None]:
        """At the end that asks, and at the other."""
        legs = (await self.observers[self._user_of(call)].state(call.session)).succeeded()["callSession"]["legs"]
        return [next((each["direction"] for each in leg["media"] if each["kind"] == "video"), None) for leg in legs]

    def _user_of(self, call: PartyCall) -> str:
        return next(self.owners[role] for role, device in self.devices.items() if device is call.party)

    async def _doubt_about(self, user: str, devices: dict[str, SturdyParty], session: str) -> str | None:
        """What is not as it should be when this call of the user is over."""
        if (answer := await self.observers[user].operate(session, "audit")).status != 404:
            return f"the audit of {session}, which is over for {user}, was answered {answer.text}"
        ending = await self._ending(user, session)
        if user != GUEST and ending is None:
            return f"there is no record of {session} for {user}"
        for role, device in devices.items():
            told = [news for news in device.heard if news.session == session]
            ends = [place for place, news in enumerate(told) if news.event == "callEnd"]
            if ends not in ([], [len(told) - 1]):
                return f"{role} was told {list(map(str, told))}"
            said = told[-1].message["sessionParams"] if ends else {}
            if said and ending and (said["cause"], said["endedBy"]) != (ending["cause"], ending["endedBy"]):
                return f"{role} was told of {session} that {said}, and the record says {ending}"
        return None

    async def _ending_of(self, call: PartyCall | HeadlessCall) -> dict | None:
        if call.party.is_headless:
            return {"cause": call.ended.by}
        return await self._ending(self._user_of(call), call.session)

    async def _ending(self, user: str, session: str) -> dict | None:
        """What the user's record says; guests have none."""
        if user == GUEST:
            return None
        answer = await self.observers[user].request("GET", f"/logRecord/{session}")
        return answer.succeeded()["params"]["ending"] if answer.status == 200 else None
