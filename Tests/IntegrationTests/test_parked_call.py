"""A phone whose app is closed rings: the call waits while a push wakes the app (docs/protocols/spidr.md, push). The app
is a script that does what a push tells it; the providers are those of `peers/push_provider.py`."""
import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from durability import configured
from party import Party
from peers import sound
from peers.gateway import Gateway
from peers.media import MediaPeer
from peers.phone_page import PhonePage
from peers.push_provider import BUNDLE, Answer, PushProvider, Request, Stall
from test_administration import Admin
from test_aiortc_call import BROWSER_TONE, PEER_TONE, assert_both_hear

KINDS = ("apple", "google", "webhook")


@pytest_asyncio.fixture
async def provider(tmp_path: Path) -> AsyncIterator[PushProvider]:
    async with PushProvider(tmp_path) as provider:
        provider.add_webhook_key()
        yield provider
        assert provider.faults == []


@dataclass
class Push:
    """What the app finds in a push that is about a call."""

    request: Request
    call: dict
    message: dict

    @property
    def session(self) -> str:
        return self.call["sessionData"]

    @property
    def ending(self) -> str | None:
        return self.call.get("endedReason")


class App:
    """An app that is closed until a push comes. `party` is what it is once it runs."""

    def __init__(self, provider: PushProvider, party: Party, name: str, kind: str = "apple"):
        self.provider, self.party, self.name, self.kind = provider, party, name, kind
        self.token = name.encode().hex()
        self.registration: str | None = None
        self._taken = 0

    async def register(self, *services: str) -> str:
        """Registers the device for pushes of calls, and of further services; returns the path of the registration."""
        wanted = ["call", *services]
        common = {"bundleID": BUNDLE, "service": wanted, "clientCorrelator": self.name, "realm": "default"}
        own = {
            "apple": {"isProduction": True, "voipDeviceToken": self.token, "standardDeviceToken": self.token + "00"},
            "google": {"deviceToken": self.token},
            "webhook": {"url": f"{self.provider.url}/app/{self.token}"},
        }[self.kind]
        answer = await self.party.request("POST", f"/push/{self.kind}/devices/", common | own)
        assert answer.status == 201, f"{answer.status}: {answer.text}"
        self.registration = answer.succeeded()["registration"]
        return self.registration

    def _is_for_it(self, request: Request) -> bool:
        if self.kind == "google":
            return request.path.startswith("/v1/projects/") and request.json["message"]["token"] == self.token
        return request.path in (f"/3/device/{self.token}", f"/app/{self.token}")

    @property
    def pushes(self) -> list[Push]:
        """All that came about calls, in order."""
        found = []
        for request in filter(self._is_for_it, self.provider.requests):
            content = request.json
            if self.kind == "google":
                data = content["message"]["data"]
                content = {name: json.loads(data[name]) for name in ("call", "notificationMessage") if name in data}
            elif self.kind == "webhook":
                content = content["data"]
            found.append(Push(request, content["call"], content["notificationMessage"]))
        return found

    async def pushed(self, timeout: float = 20) -> Push:
        """The next push."""
        end = time.monotonic() + timeout
        while len(self.pushes) <= self._taken:
            assert time.monotonic() < end, f"no push for {self.name} within {timeout} s"
            await asyncio.sleep(0.005)
        self._taken += 1
        return self.pushes[self._taken - 1]

    async def wake(self):
        """The app starts, subscribes and opens its channel."""
        await self.party.register(correlator=self.name, alone=False)

    async def expect_quiet(self, during: float = 0.7):
        await asyncio.sleep(during)
        assert len(self.pushes) == self._taken, [push.call for push in self.pushes[self._taken :]]


@pytest_asyncio.fixture
async def start(own_gateway, provider, contract, tmp_path) -> AsyncIterator[Callable]:
    """`gateway, app = await start("apple")`: Bob's phone is asleep, with one app for each name of a service. `lasting`:
    with a database that survives the gateway."""
    parties: list[Party] = []

    async def make(*kinds: str, options: tuple[str, ...] = (), lasting: bool = False) -> tuple:
        if lasting:
            gateway = own_gateway.configured(*configured(tmp_path, ["alice", "bob"]), *provider.settings, *options)
        else:
            gateway = own_gateway(*provider.settings, *options)
        apps = []
        for index, kind in enumerate(kinds):
            party = Party(gateway.http, "bob", contract=contract)
            parties.append(await party.__aenter__())
            app = App(provider, party, f"phone{index}", kind)
            await app.register()
            apps.append(app)
        return gateway, *apps

    yield make
    for party in parties:
        await party.__aexit__(None, None, None)


@pytest_asyncio.fixture
async def caller(contract) -> AsyncIterator[Callable]:
    parties: list[Party] = []

    async def make(gateway: Gateway, name: str = "alice") -> Party:
        party = await Party(gateway.http, name, contract=contract).__aenter__()
        parties.append(party)
        await party.register()
        return party

    yield make
    for party in parties:
        await party.__aexit__(None, None, None)


# It wakes, and both hear each other


@pytest.mark.parametrize("kind", KINDS)
async def test_a_sleeping_phone_wakes_and_talks(kind, start, provider, browser, tmp_path):
    gateway, app = await start(kind)
    chromium = await asyncio.to_thread(browser, sound.tone(tmp_path / "tone.wav", BROWSER_TONE))
    alice = await asyncio.to_thread(PhonePage.open, chromium, gateway.http, "alice")
    await asyncio.to_thread(alice.page.run, "document.querySelector('input[name=video]').checked = false")

    started = time.monotonic()
    await asyncio.to_thread(alice.run, "dial()")
    push = await app.pushed()
    arrived = time.monotonic()
    assert push.message["eventType"] == "call" and push.call["state"] == "ringing"
    assert push.call["handle"] == {"type": "emailAddress", "value": "alice@dev.local"}
    assert (await app.party.state(push.session)).status == 200  # before there is a subscription
    await app.wake()
    awake = time.monotonic()
    invitation = await app.party.expect("call", push.session)
    rung = time.monotonic()
    print(
        f"{kind}: the click in the caller's page to push {1_000 * (arrived - started):.0f} ms, the app's registration "
        f"{1_000 * (awake - arrived):.0f} ms, from there to the call {1_000 * (rung - awake):.0f} ms"
    )
    media = MediaPeer(PEER_TONE)
    (await app.party.answer(push.session, await media.answer(invitation.sdp))).succeeded()
    await assert_both_hear(alice, media, gateway.media_ports)
    await asyncio.to_thread(alice.run, "hangUp('enough')")
    await app.party.expect("callEnd", push.session)
    await app.expect_quiet()
    await media.close()
    await asyncio.to_thread(alice.run, "unregister()")


@pytest.mark.parametrize("kind", KINDS)
async def test_the_parts_of_the_time_from_call_start_to_call(kind, start, caller):
    """The medians of three calls; `-s` prints them (docs/performance.md)."""
    gateway, app = await start(kind)
    alice = await caller(gateway)
    rounds: list[tuple[float, ...]] = []
    for _ in range(3):
        asked = time.monotonic()
        outgoing = await alice.dial("bob")
        answered = time.monotonic()
        push = await app.pushed()
        pushed = time.monotonic()
        await app.wake()
        awake = time.monotonic()
        await app.party.expect("call", push.session)
        rung = time.monotonic()
        # The push may be there before the answer is read.
        rounds.append((answered - asked, push.request.time - asked, awake - pushed, rung - awake))
        (await outgoing.end()).succeeded()
        await app.party.expect("callEnd", push.session)
        (await app.party.unregister()).succeeded()
        await app.party.closed()
    answer, there, registered, rung = (1_000 * statistics.median(part) for part in zip(*rounds))
    print(
        f"{kind}: callStart to its answer {answer:.1f} ms, to the push {there:.1f} ms; the app's registration "
        f"{registered:.1f} ms, from there to the call {rung:.1f} ms"
    )
    assert max(there, registered, rung) < 5_000


async def test_the_caller_hears_that_it_rings(start, caller):
    gateway, app = await start("apple")
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    await app.pushed()
    await alice.expect("ringing", outgoing.session)
    (await outgoing.end()).succeeded()
    await app.pushed()


# Outcomes: each woken device learns exactly one


async def test_it_declines_without_waking(start, caller):
    """The push has all that a refusal needs."""
    gateway, app = await start("apple")
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    push = await app.pushed()
    (await app.party.reject(push.session)).succeeded()
    assert (await outgoing.over()).by == "callEnd"
    await app.expect_quiet()


@pytest.mark.parametrize("kind", KINDS)
async def test_the_caller_gives_up_before_the_app_is_there(kind, start, caller):
    gateway, app = await start(kind)
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    push = await app.pushed()
    (await outgoing.end()).succeeded()
    over = await app.pushed()
    assert (over.session, over.ending, over.call["uuid"]) == (push.session, "remoteEnded", push.call["uuid"])
    await app.wake()
    await app.party.expect_silence()
    (await app.party.answer(push.session, "v=0")).refused(404, 42, "callControlResponse", "call.not_found")
    await app.expect_quiet()


async def test_the_caller_gives_up_once_the_app_is_there(start, caller):
    gateway, app = await start("apple")
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    push = await app.pushed()
    await app.wake()
    await app.party.expect("call", push.session)
    (await outgoing.end()).succeeded()
    await app.party.expect("callEnd", push.session)
    await app.expect_quiet()


async def test_one_phone_answers_and_the_other_sleeps_on(start, caller):
    gateway, quick, slow = await start("apple", "google")
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    push = await quick.pushed()
    assert (await slow.pushed()).session == push.session
    await quick.wake()
    incoming = await quick.party.incoming()
    (await incoming.answer()).succeeded()
    await outgoing.answered()
    assert (await slow.pushed()).ending == "answeredElsewhere"
    (await outgoing.end()).succeeded()
    await incoming.over()
    for app in (quick, slow):
        await app.expect_quiet()


async def test_two_phones_wake_and_answer_together(start, caller):
    gateway, *apps = await start("apple", "google")
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    for app in apps:
        await app.pushed()
    await asyncio.gather(*(app.wake() for app in apps))
    calls = [await app.party.incoming() for app in apps]
    answers = await asyncio.gather(*(call.answer() for call in calls))
    assert sorted(answer.status < 300 for answer in answers) == [False, True]
    await outgoing.answered()
    loser = calls[[answer.status < 300 for answer in answers].index(False)]
    await loser.over()
    (await outgoing.end()).succeeded()
    for call, app in zip(calls, apps):
        await call.over()
        await app.expect_quiet()


async def test_nobody_comes_within_the_ring_time(start, caller):
    gateway, app = await start("apple", options=("--set", "calls.ring_time=5s"))
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    push = await app.pushed()
    expires = int(push.request.fields["apns-expiration"])
    assert expires - time.time() <= 6
    assert (await outgoing.over()).code == 487
    assert (await app.pushed()).ending == "unanswered"
    await app.expect_quiet()


# Races


async def test_the_app_is_there_before_the_push(start, caller, provider):
    """The provider takes its time; the user opens the app by hand."""
    gateway, app = await start("apple")
    provider.steps.append(Answer(200, delay=1.5))
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    await app.wake()
    incoming = await app.party.incoming()
    (await incoming.answer()).succeeded()
    await outgoing.answered()
    (await outgoing.end()).succeeded()
    await incoming.over()
    push = await app.pushed()
    assert push.session == incoming.session
    await app.expect_quiet()


async def test_a_token_changes_while_it_rings(start, caller):
    gateway, app = await start("apple")
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    push = await app.pushed()
    app.token = "beef" + app.token
    await app.register()
    await app.wake()
    assert (await app.party.expect("call")).session == push.session
    (await outgoing.end()).succeeded()
    await app.party.expect("callEnd", push.session)


def dead(delay: float = 0) -> Answer:
    return Answer(410, {"reason": "Unregistered", "timestamp": int(time.time() * 1_000)}, delay=delay)


async def new_token(app: App, prefix: str = "beef"):
    """The device gets another token, and registers it."""
    app.token = prefix + app.token
    app._taken = 0
    await app.register()


@pytest.mark.parametrize("answer", ["busy", "dead"])
async def test_a_push_that_is_sent_again_goes_to_the_new_token(answer, start, caller, provider):
    """The first attempt is on its way while the token changes. Then the provider wants it again, or does not know the
    old token any more."""
    gateway, app = await start("apple")
    provider.steps.append(dead(delay=1.5) if answer == "dead" else Answer(503, {"reason": "Shutdown"}, delay=1.5))
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    old = await app.pushed()
    await new_token(app)
    push = await app.pushed()
    assert (push.session, push.request.fields["apns-id"]) == (old.session, old.request.fields["apns-id"])
    await app.wake()
    incoming = await app.party.incoming()
    (await incoming.answer()).succeeded()
    await outgoing.answered()
    (await outgoing.end()).succeeded()
    await incoming.over()
    assert len([each for each in provider.requests if each.path.startswith("/3/device/")]) == 2
    await app.expect_quiet()


async def test_a_push_that_waits_does_not_go_to_another_user(start, caller, provider):
    """Bob's telephone is Alice's by the time at which the provider could take the push: nobody is left to be woken."""
    gateway, app = await start("apple")
    provider.steps.append(Answer(503, {"reason": "ServiceUnavailable"}, delay=1.5))
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    await app.pushed()
    body = {"bundleID": BUNDLE, "service": ["call"], "realm": "default", "isProduction": True}
    tokens = {"voipDeviceToken": app.token, "standardDeviceToken": app.token + "00"}
    answer = await alice.request("POST", "/push/apple/devices/", body | tokens)
    assert answer.status == 201, answer.text
    assert (await outgoing.over()).code == 480
    await app.expect_quiet()


@pytest.mark.parametrize("reason", ["Unregistered", "BadTopic"])
async def test_a_call_ends_if_its_push_wakes_nobody(reason, start, caller, provider):
    gateway, app = await start("apple")
    provider.steps.append(dead() if reason == "Unregistered" else Answer(400, {"reason": reason}))
    alice = await caller(gateway)
    started = time.monotonic()
    outgoing = await alice.dial("bob")
    await app.pushed()
    assert (await outgoing.over()).code == 480
    assert 0.2 < time.monotonic() - started < 10, "calls ring for a minute"
    assert await asyncio.to_thread(gateway.metric, 'orbweaver_device_wakes_total{step="failed"}') == 1
    await app.expect_quiet()


async def test_a_push_that_fails_does_not_matter_while_another_phone_is_awaited(start, caller, provider):
    gateway, broken, well = await start("apple", "google")
    provider.dead.add(broken.token)
    alice = await caller(gateway)
    outgoing = await alice.dial("bob")
    await broken.pushed()
    push = await well.pushed()
    await asyncio.sleep(0.5)
    await well.wake()
    incoming = await well.party.incoming()
    assert incoming.session == push.session
    (await incoming.answer()).succeeded()
    await outgoing.answered()
    (await outgoing.end()).succeeded()
    await incoming.over()
    await broken.expect_quiet()


async def test_the_gateway_is_killed_between_push_and_answer(start, caller):
    gateway, app = await start("google", lasting=True)
    alice = await caller(gateway)
    await alice.dial("bob")
    push = await app.pushed()
    gateway.kill()
    await asyncio.to_thread(gateway.start)
    over = await app.pushed()
    assert (over.session, over.ending) == (push.session, "failed")
    await app.wake()
    await app.party.expect_silence("call")
    await app.expect_quiet()


async def test_the_gateway_is_killed_before_the_push_is_taken(start, caller, provider):
    """The provider never answered: nobody knows whether the phone was woken, so it is told that the call is over."""
    gateway, app = await start("google", lasting=True)
    provider.steps.append(Stall())
    alice = await caller(gateway)
    await alice.dial("bob")
    push = await app.pushed()
    gateway.kill()
    await asyncio.to_thread(gateway.start)
    over = await app.pushed()
    assert (over.session, over.ending) == (push.session, "failed")
    await app.expect_quiet()


async def test_the_gateway_is_killed_while_the_provider_cannot_be_reached(start, caller, provider, tmp_path):
    """Between call and push: nothing has left yet. The next process sends what is still of use, once each: the number
    of voice messages, and that the call is over, since it cannot know that no attempt has got through (spidr.md,
    §11.4). It sends no call."""
    gateway, app = await start("apple", lasting=True)
    await app.register("mwi")
    alice = await caller(gateway)
    await provider.refuse()
    outgoing = await alice.dial("bob")
    await alice.expect("ringing", outgoing.session)
    count = {"unheard": 2, "heard": 0}
    noted = await asyncio.to_thread(Admin(tmp_path, 0).ask, "PUT", "/users/bob@dev.local/voicemail", count)
    assert noted.status == 200, noted.text
    async with asyncio.timeout(10):
        while await asyncio.to_thread(gateway.metric, "orbweaver_pushes_active") < 2:
            await asyncio.sleep(0.02)
    gateway.kill()
    await provider.listen_again()
    assert provider.requests == []

    await asyncio.to_thread(gateway.start)
    over = await app.pushed()
    assert over.ending == "failed"
    async with asyncio.timeout(10):
        while len(provider.requests) < 2:
            await asyncio.sleep(0.02)
    await app.expect_quiet()
    (silent,) = [each for each in provider.requests if each is not over.request]
    assert silent.path == f"/3/device/{app.token}00"
    message = silent.json["notificationMessage"]
    assert (message["eventType"], message["mwiNotificationParams"]["unheardVoice"]) == ("mwi", "2")
    assert len(provider.taken) == len(set(provider.taken)) == 2
    assert await asyncio.to_thread(gateway.metric, "orbweaver_pushes_active") == 0
