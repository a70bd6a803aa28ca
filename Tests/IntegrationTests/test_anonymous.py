"""Callers without an account (spidr-wire §7): on the pages of others, to one account that wants to be called."""
import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from party import FCS, L5, MUSIC, Guest, Party, SignedRealm, TokenRealm, hear_now, see_now
from peers.gateway import Gateway
from peers.wrtc import Wrtc
from scenarios import NOBODY, each_other, press_digits, ring_early
from situations import connected, held, resumed

OFFERED = ("--set", "anonymous.mode=open")
"""What makes a gateway take calls of guests."""


@pytest.fixture
def open_gateway(own_gateway) -> Gateway:
    return own_gateway(*OFFERED)


@pytest_asyncio.fixture
async def here(open_gateway, contract) -> AsyncIterator[Callable]:
    """`await here(Guest, "alice")` or `await here(Party, "alice")`, registered."""
    async with AsyncExitStack() as stack:

        async def make(kind: type, name: str, **options):
            client = await stack.enter_async_context(kind(open_gateway.http, name, contract=contract, **options))
            await client.register()
            return client

        yield make


@pytest.mark.parametrize(
    ("resource", "wrapper"),
    [("callMe", "callMeRequest"), ("callme", "callMeRequest"), ("callMe", "callControlRequest")],
)
async def test_a_guest_calls_talks_and_leaves(here, resource, wrapper):
    alice, guest = await here(Party, "alice", sounds=True), await here(Guest, "alice", sounds=True)
    at_guest = await guest.dial("alice")
    guest.resource, guest.wrapper = resource, wrapper  # FCS writes some paths and wrappers in its own way
    at_alice = await alice.incoming()
    assert at_alice.remote[1]
    (await at_alice.answer()).succeeded()
    await at_guest.answered()
    await hear_now({at_guest: {"alice"}, at_alice: {"erin"}})
    (await at_guest.audit()).succeeded()
    await at_guest.hold()
    assert at_alice.state == "REMOTELY_HELD"
    await at_guest.unhold()
    (await at_guest.end("done")).succeeded()
    assert (await at_alice.over()).text == "done"
    (await guest.unregister()).succeeded()


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_a_guest_and_whom_it_calls_both_hold_and_resume(here, dialect):
    alice, guest = await here(Party, "alice", sounds=True), await here(Guest, "alice", dialect=dialect, sounds=True)
    at_guest, at_alice = await connected(guest, alice)
    await held(at_guest, at_alice)
    await hear_now({at_guest: NOBODY, at_alice: {MUSIC} if dialect is FCS else NOBODY})
    await held(at_alice, at_guest)
    assert (at_guest.state, at_alice.state) == ("ON_DOUBLE_HOLD", "ON_DOUBLE_HOLD")
    await hear_now({at_guest: NOBODY, at_alice: NOBODY})
    await resumed(at_guest, at_alice)
    assert (at_guest.state, at_alice.state) == ("REMOTELY_HELD", "ON_HOLD")
    await resumed(at_alice, at_guest)
    assert (at_guest.state, at_alice.state) == ("IN_CALL", "IN_CALL")
    await each_other(at_guest, at_alice)


async def test_a_guest_hears_ringback_until_the_answer(here):
    alice, guest = await here(Party, "alice", sounds=True), await here(Guest, "alice", sounds=True)
    await ring_early(guest, alice)


async def test_a_guest_adds_video_to_its_call_holds_and_stops_it(here):
    alice, guest = await here(Party, "alice", stack=Wrtc), await here(Guest, "alice", stack=Wrtc)
    at_guest, at_alice = await connected(guest, alice)
    at_alice.video = "sendrecv"
    await at_guest.show_video()
    await each_other(at_guest, at_alice, see_now)
    for holder, other in ((at_guest, at_alice), (at_alice, at_guest)):
        await held(holder, other)
        await see_now({at_guest: NOBODY, at_alice: NOBODY})
        await resumed(holder, other)
        await each_other(at_guest, at_alice, see_now)
    await at_guest.show_video("inactive")
    await see_now({at_guest: NOBODY, at_alice: NOBODY})
    await each_other(at_guest, at_alice)
    (await at_guest.end()).succeeded()
    await at_alice.over()


async def test_digits_of_a_guest_are_heard_and_it_hears_digits(here):
    await press_digits(await here(Guest, "alice", stack=Wrtc), await here(Party, "alice", stack=Wrtc))


async def test_what_concerns_a_guest_is_told_to_that_guest_alone(here):
    alice = await here(Party, "alice")
    first, second = await here(Guest, "alice"), await here(Guest, "alice")
    at_first = await first.dial("alice")
    at_alice = await alice.incoming()
    (await at_alice.reject()).succeeded()
    assert (await at_first.over()).code == 603
    await second.heard_exactly()
    await alice.heard_exactly(("call", at_alice), ("callCancel", at_alice))


async def test_a_guest_reaches_only_the_account_it_came_for(here):
    bob, guest = await here(Party, "bob"), await here(Guest, "alice")
    answer = await guest.start("bob@dev.local", await guest.new_media().offer({"audio": "sendrecv"}))
    assert answer.status == 403 and answer.wrapper in ("callMeResponse", "authorizationResponse"), answer.text
    await bob.heard_exactly()


async def test_a_guest_cannot_touch_the_calls_of_others(here):
    alice, bob, guest = await here(Party, "alice"), await here(Party, "bob"), await here(Guest, "alice")
    at_bob = await bob.dial("alice")
    at_alice = await alice.incoming()
    for session in (at_alice.session, at_bob.session):
        for answer in (await guest.operate(session, "audit"), await guest.end(session)):
            assert (answer.status, answer.body["statusCode"]) == (404, 42), answer.text
    (await at_alice.answer()).succeeded()
    await at_bob.answered()


async def test_the_call_of_a_guest_that_goes_ends(here):
    alice, guest = await here(Party, "alice"), await here(Guest, "alice")
    at_guest = await guest.dial("alice")
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await at_guest.answered()
    (await guest.unregister()).succeeded()
    assert (await at_alice.over()).by == "callEnd"


async def test_the_registration_of_a_guest_is_extended_and_ended(open_gateway, contract):
    async with Guest(open_gateway.http, "alice", contract=contract) as guest:
        granted = await guest.register(expires=240)
        extended = (await guest.extend(service=["callMe"], expires=120)).succeeded()
        assert extended["subscription"] == granted["subscription"]
        assert extended["subscriptionParams"]["expires"] == 120
        assert (
            extended["subscriptionParams"]["notificationChannel"]
            == granted["subscriptionParams"]["notificationChannel"]
        )
        path = guest.subscription
        (await guest.unregister()).succeeded()
        assert await guest.closed() == 1000
        body = {"subscribeRequest": {"service": ["callMe"], "expires": 120}}
        (await guest.request("PUT", path, body)).refused(404, 39, "subscribeResponse", "subscription.not_found")


async def test_a_guest_that_was_away_finds_its_call_and_what_it_missed(here):
    alice, guest = await here(Party, "alice", sounds=True), await here(Guest, "alice", sounds=True)
    at_guest, at_alice = await connected(guest, alice)
    await guest.lose_channel()
    held_by_alice = asyncio.create_task(at_alice.hold())
    await asyncio.sleep(0.5)
    assert at_guest.state == "IN_CALL", "nobody can have told the guest"
    await guest.open_channel()
    await held_by_alice
    await guest.heard_exactly(("startCallUpdate", at_guest))
    assert (at_guest.state, at_guest.ended) == ("REMOTELY_HELD", None)
    await resumed(at_alice, at_guest)
    await hear_now({at_guest: {"alice"}, at_alice: {"erin"}})


async def test_guests_are_not_taken_unless_it_is_said(gateway, contract):
    async with Guest(gateway.http, "alice", contract=contract) as guest:
        answer = await guest.request(
            "POST", "/subscription", {"subscribeRequest": {"expires": 60, "service": ["callMe"]}}
        )
        assert answer.status == 403 and answer.body["statusCode"] == 35, answer.text


# With tokens (spidr-wire §2)

LONG_KEY = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
SHOP = TokenRealm("shop", "aes-128-ecb", "000102030405060708090a0b0c0d0e0f")
DESK = TokenRealm("desk", "aes-256-cbc", LONG_KEY)
FIXED = TokenRealm("fixed", "aes-256-cbc", LONG_KEY, vector="101112131415161718191a1b1c1d1e1f")
ACCOUNT = "alice@dev.local"


@pytest.fixture
def token_gateway(own_gateway, tmp_path) -> Gateway:
    realms = tmp_path / "realms"
    realms.write_text(f"# for tests\n{SHOP}\n{DESK}\n{FIXED}\n")
    return own_gateway("--set", "anonymous.mode=token", "--set", f"anonymous.realms_file={realms}")


@pytest.mark.parametrize("realm", [SHOP, DESK, FIXED], ids=lambda realm: realm.name)
async def test_a_guest_with_tokens_calls_talks_and_leaves(token_gateway, contract, realm):
    async with (
        Party(token_gateway.http, "alice", sounds=True, contract=contract) as alice,
        Guest(token_gateway.http, "alice", realm=realm, sounds=True, contract=contract) as guest,
    ):
        await alice.register()
        granted = await guest.register()
        assert ACCOUNT not in str(granted), "the token must stay one"
        at_guest = await guest.dial("alice")
        at_alice = await alice.incoming()
        name, number = at_alice.remote
        assert name == "erin@guest.invalid" and number.endswith("@anonymous.invalid")
        (await at_alice.answer()).succeeded()
        await at_guest.answered()
        await hear_now({at_guest: {"alice"}, at_alice: {"erin"}})
        (await at_guest.audit()).succeeded()
        await at_guest.hold()
        await at_guest.unhold()
        (await guest.extend(service=["callMe"])).succeeded()
        (await at_guest.end("done")).succeeded()
        assert (await at_alice.over()).text == "done"
        (await guest.unregister()).succeeded()


@pytest.mark.parametrize(
    ("query", "account", "status_code", "code"),
    [
        ("tokenrealm=shop", lambda: ACCOUNT, 46, "anonymous.invalid_token"),
        ("tokenrealm=shop", lambda: DESK.token(ACCOUNT), 46, "anonymous.invalid_token"),
        ("tokenrealm=shop", lambda: SHOP.token(ACCOUNT)[:-2], 46, "anonymous.invalid_token"),
        ("tokenrealm=none", lambda: SHOP.token(ACCOUNT), 64, "anonymous.unknown_realm"),
        ("", lambda: SHOP.token(ACCOUNT), 64, "anonymous.unknown_realm"),
        ("tokenrealm=shop", lambda: SHOP.token(ACCOUNT, age=301), 65, "anonymous.token_expired"),
        ("tokenrealm=desk", lambda: DESK.token(ACCOUNT, age=-310), 65, "anonymous.token_expired"),
    ],
)
async def test_a_wrong_token_or_realm_is_refused(token_gateway, contract, query, account, status_code, code):
    async with Guest(token_gateway.http, "alice", contract=contract) as guest:
        guest.account, guest.query = account(), query
        answer = await guest.request(
            "POST", "/subscription", {"subscribeRequest": {"expires": 60, "service": ["callMe"]}}
        )
        answer.refused(403, status_code, "authorizationResponse", code)


async def test_the_addresses_in_a_call_are_tokens_too(token_gateway, contract):
    async with Guest(token_gateway.http, "alice", realm=SHOP, contract=contract) as guest:
        await guest.register()
        sdp = await guest.new_media().offer({"audio": "sendrecv"})
        erin, alice = SHOP.token("erin@shop.example"), SHOP.token(ACCOUNT)
        for caller, callee, status_code in [
            (erin, "sip:alice@dev.local", 46),
            ("sip:erin@shop.example", alice, 46),
            (erin, SHOP.token(ACCOUNT, age=400), 65),
            (erin, SHOP.token("bob@dev.local"), 27),
        ]:
            (await guest.start_as(caller, callee, sdp)).refused(403, status_code, "authorizationResponse")


async def test_a_call_outlives_its_token(own_gateway, tmp_path, contract):
    realms = tmp_path / "realms"
    realms.write_text(f"{SHOP}\n")
    gateway = own_gateway(
        "--set",
        "anonymous.mode=token",
        "--set",
        f"anonymous.realms_file={realms}",
        "--set",
        "anonymous.token_window=3s",
    )
    async with Party(gateway.http, "alice", contract=contract) as alice:
        await alice.register()
        async with Guest(gateway.http, "alice", realm=SHOP, contract=contract) as guest:  # its token is made now
            await guest.register()
            at_guest = await guest.dial("alice")
            await alice.incoming()
            await asyncio.sleep(3.1)
            (await at_guest.audit()).succeeded()
            (await guest.extend(service=["callMe"])).succeeded()
            (await at_guest.end()).succeeded()
            again = await guest.start(ACCOUNT, await guest.new_media().offer({"audio": "sendrecv"}))
            again.refused(403, 65, "authorizationResponse", "anonymous.token_expired")


# With signed tokens

STAND = SignedRealm("stand", LONG_KEY)
WISH = {"subscribeRequest": {"expires": 60, "service": ["callMe"]}}


@pytest.fixture
def signed_gateway(own_gateway, tmp_path) -> Gateway:
    realms = tmp_path / "realms"
    realms.write_text(f"{STAND}\n{DESK}\n")
    return own_gateway("--set", "anonymous.mode=token", "--set", f"anonymous.realms_file={realms}")


@pytest.mark.parametrize("name", ["Erin Ö of the shop", None])
async def test_a_guest_with_a_signed_token_calls_under_the_name_in_it(signed_gateway, contract, name):
    realm = SignedRealm("stand", LONG_KEY, {"name": name} if name else {})
    async with (
        Party(signed_gateway.http, "alice", sounds=True, contract=contract) as alice,
        Guest(signed_gateway.http, "alice", realm=realm, sounds=True, contract=contract) as guest,
    ):
        await alice.register()
        assert ACCOUNT not in str(await guest.register())
        at_guest = await guest.dial("alice")
        at_alice = await alice.incoming()
        assert at_alice.remote[0] == (name or "Anonymous"), at_alice.remote
        (await at_alice.answer()).succeeded()
        await at_guest.answered()
        await hear_now({at_guest: {"alice"}, at_alice: {"erin"}})
        (await at_guest.audit()).succeeded()
        (await guest.extend(service=["callMe"])).succeeded()
        (await at_guest.end()).succeeded()
        (await guest.unregister()).succeeded()


def forged() -> str:
    head, claims, signature = STAND.token("bob@dev.local").split(".")
    return ".".join((head, STAND.token(ACCOUNT).split(".")[1], signature))


@pytest.mark.parametrize(
    ("query", "account", "status_code", "code"),
    [
        ("tokenrealm=stand", forged, 46, "anonymous.invalid_token"),
        ("tokenrealm=stand", lambda: SignedRealm("stand", "00" * 32).token(ACCOUNT), 46, "anonymous.invalid_token"),
        ("tokenrealm=stand", lambda: STAND.token(ACCOUNT, aud="else"), 46, "anonymous.invalid_token"),
        ("tokenrealm=stand", lambda: STAND.token(ACCOUNT, once=True), 46, "anonymous.invalid_token"),
        ("tokenrealm=desk", lambda: STAND.token(ACCOUNT), 46, "anonymous.invalid_token"),
        ("tokenrealm=stand", lambda: DESK.token(ACCOUNT), 46, "anonymous.invalid_token"),
        ("tokenrealm=stand", lambda: STAND.token(ACCOUNT, exp=time.time() - 1), 65, "anonymous.token_expired"),
    ],
)
async def test_a_wrong_signed_token_is_refused(signed_gateway, contract, query, account, status_code, code):
    async with Guest(signed_gateway.http, "alice", contract=contract) as guest:
        guest.account, guest.query = account(), query
        answer = await guest.request("POST", "/subscription", WISH)
        answer.refused(403, status_code, "authorizationResponse", code)


async def test_a_signed_token_for_another_account_calls_nobody_else(signed_gateway, contract):
    async with Guest(signed_gateway.http, "alice", realm=STAND, contract=contract) as guest:
        await guest.register()
        sdp = await guest.new_media().offer({"audio": "sendrecv"})
        answer = await guest.start_as("sip:erin@shop.example", STAND.token("bob@dev.local"), sdp)
        answer.refused(403, 27, "authorizationResponse")
        answer = await guest.start_as("sip:erin@shop.example", "sip:bob@dev.local", sdp)
        answer.refused(403, 46, "authorizationResponse", "anonymous.invalid_token")


async def test_a_token_for_one_use_lets_one_guest_in(signed_gateway, contract):
    once = SignedRealm("stand", LONG_KEY, {"jti": "visit 7", "once": True})
    async with (
        Guest(signed_gateway.http, "alice", realm=once, contract=contract) as first,
        Guest(signed_gateway.http, "alice", realm=once, contract=contract) as second,
        Party(signed_gateway.http, "alice", contract=contract) as alice,
    ):
        await alice.register()
        await first.register()
        answer = await second.request("POST", "/subscription", WISH)
        answer.refused(403, 65, "authorizationResponse", "anonymous.token_expired")
        assert "used" in answer.text
        at_guest = await first.dial("alice")  # the guest who came goes on with it
        await alice.incoming()
        (await at_guest.end()).succeeded()
        second.account = STAND.token(ACCOUNT, jti="visit 8", once=True)
        second.subscription = None
        (await second.request("POST", "/subscription", WISH)).succeeded()


# What guests must not learn or use up


async def test_every_guest_is_somebody_else(here):
    first, second = await here(Guest, "alice"), await here(Guest, "alice")
    sdp = await first.new_media().offer({"audio": "sendrecv"})
    assert first.subscription != second.subscription and first.channel != second.channel
    public = first.subscription.rsplit("/", 1)[1].split(".")[0]
    for channel in (public, f"{public}.x", "x"):
        answer = await second.start(ACCOUNT, sdp, notifyChannelId=channel)
        answer.refused(404, 39, "callMeResponse", "subscription.not_found")
    answer = await second.request("DELETE", first.subscription.replace("alice", "bob"))
    answer.refused(404, 39, "subscribeResponse")


async def test_nobody_can_call_a_guest_back(here):
    alice, guest = await here(Party, "alice"), await here(Guest, "alice")
    at_guest = await guest.dial("alice")
    at_alice = await alice.incoming()
    (await at_alice.reject()).succeeded()
    await at_guest.over()
    back = await alice.dial(at_alice.remote[1])
    assert (await back.over()).code == 404
    await guest.heard_exactly(("ringing", at_guest), ("callEnd", at_guest))


async def test_whether_there_is_an_account_is_not_told(here):
    endings = []
    for account in ("bob", "nobody"):
        guest = await here(Guest, account)
        call = await guest.dial(account)
        ended = await call.over()
        endings.append((ended.by, ended.code, ended.text))
    assert endings[0] == endings[1] and endings[0][1] == 480


async def test_a_guest_has_one_call_and_brings_nobody_in(here):
    alice, guest = await here(Party, "alice"), await here(Guest, "alice")
    at_guest = await guest.dial("alice")
    await alice.incoming()
    (await guest.start(ACCOUNT, await guest.new_media().offer({"audio": "sendrecv"}))).refused(
        409, 37, "callMeResponse", "call.not_allowed"
    )
    answer = await guest.operate(at_guest.session, "transfer", address="sip:bob@dev.local")
    answer.refused(403, 27, "authorizationResponse", "anonymous.not_allowed")


async def test_guests_of_one_network_come_in_their_time(own_gateway, contract):
    gateway = own_gateway(*OFFERED, "--set", "anonymous.network_requests=3", "--set", "anonymous.network_interval=1h")
    async with Guest(gateway.http, "alice", contract=contract) as guest:
        wishes = {"subscribeRequest": {"expires": 60, "service": ["callMe"]}}
        for _ in range(3):
            assert (await guest.request("POST", "/subscription", wishes)).status == 201
        answer = await guest.request("POST", "/subscription", wishes)
        answer.refused(429, 4, "authorizationResponse", "anonymous.rate_limited")
        assert int(answer.headers["retry-after"]) > 3000


async def test_guests_are_limited_per_account(own_gateway, contract):
    gateway = own_gateway(*OFFERED, "--set", "anonymous.max_per_account=1")
    async with (
        Guest(gateway.http, "alice", contract=contract) as first,
        Guest(gateway.http, "alice", contract=contract) as second,
    ):
        await first.register()
        answer = await second.request(
            "POST", "/subscription", {"subscribeRequest": {"expires": 60, "service": ["callMe"]}}
        )
        answer.refused(503, 503, "subscribeResponse", "anonymous.limit_reached")
        (await first.unregister()).succeeded()
        await second.register()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(None, "cannot be read"), ("", "no realm"), ("\nshop rot13 00\n", "line 2: rot13 is no cipher")],
)
def test_a_file_without_usable_realms_stops_the_start(own_gateway, tmp_path, content, complaint):
    realms = tmp_path / "realms"
    if content is not None:
        realms.write_text(content)
    with pytest.raises(AssertionError, match=f"anonymous.realms_file: .*{complaint}"):
        own_gateway("--set", "anonymous.mode=token", "--set", f"anonymous.realms_file={realms}")
