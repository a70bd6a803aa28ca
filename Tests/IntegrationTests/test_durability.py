"""A gateway that is killed and started again on the same database: what was answered or notified holds, and clients go
on as after a lost connection (spidr-wire §4.4)."""
import asyncio
import json
import os
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

import aiohttp
import pytest

from call_records import record_of, sessions_of
from durability import FCS_WINDOW, Crowd, Verdict, configured, keep_transcript, logs_of, users_of
from party import Guest, PartyCall, SignedRealm
from peers import sdp
from peers.gateway import Gateway
from peers.spidr import Answer, Notification, SpidrPeer
from situations import connected, forget

USERS = ["alice", "bob", "carol", "dave"]


@pytest.fixture
def lives(own_gateway, tmp_path) -> Callable[..., Gateway]:
    """Starts a gateway with a database file, which survives it; `lives(calls={"busy": "reject"})` with these
    sections of its configuration."""

    def start(users: list[str] = USERS, logs_events: bool = True, **sections: dict) -> Gateway:
        return own_gateway.configured(*configured(tmp_path, users, **sections), logs_events=logs_events)

    return start


async def killed(gateway: Gateway, *clients: SpidrPeer):
    """Without warning; the channels of these clients break, and none is closed for good."""
    gateway.kill()
    for each in clients:
        assert await each.closed() != 1000


async def restarted(gateway: Gateway, *clients: SpidrPeer):
    """On the same ports and the same database; these clients open the channels that they had."""
    await asyncio.to_thread(gateway.start)
    for each in clients:
        await each.open_channel()


async def killed_and_restarted(gateway: Gateway, *clients: SpidrPeer):
    await killed(gateway, *clients)
    await restarted(gateway, *clients)


def names_the_restart(end: Notification):
    said = end.message["sessionParams"]
    assert 500 <= int(said["statusCode"]) <= 599 and "restart" in said["reasonText"].lower(), said


async def is_ended_by_the_restart(call: PartyCall, *events: str):
    """Its device is told so once, by one of these notifications, and nothing else."""
    ended = await call.over()
    assert ended.by in (events or ("callEnd",))
    await call.party.heard_exactly((ended.by, call))
    names_the_restart(call.party.heard[-1])


async def names_no_call(call: PartyCall):
    client = call.party
    (await client.state(call.session)).refused(404, 47, "callControlResponse", "call.session_not_found")
    async with asyncio.timeout(20):
        await client.audit_until_forgotten(call.session)
    (await client.end(call.session)).refused(404, 42, "callControlResponse", "call.not_found")
    assert await sessions_of(client) == []


async def talk_again(caller: SpidrPeer, callee: SpidrPeer):
    at_caller, at_callee = await connected(caller, callee)
    (await at_caller.end()).succeeded()
    await at_callee.over()


def news_of(client: SpidrPeer) -> list[Notification]:
    """What it was told, without repetitions."""
    return list({notification.event_id: notification for notification in client.heard}.values())


# Subscriptions and their channels


async def test_a_subscription_and_its_channel_survive(lives, peer):
    own = lives()
    bob = await peer("bob", base=own.http)
    alice = await peer("alice", base=own.http, ringing_feedback=True)
    subscription, channel = alice.subscription, alice.channel
    await killed_and_restarted(own, alice, bob)
    extended = (await alice.extend(expires=1800)).succeeded()
    assert extended["subscription"] == subscription
    assert extended["subscriptionParams"]["notificationChannel"] == channel
    session = await bob.call("alice", sdp.offer())
    invitation = await alice.expect("call")
    await bob.expect_silence("ringing")  # the device still reports it by itself
    (await alice.operate(invitation.session, "ringing")).succeeded()
    await bob.expect("ringing", session)
    (await bob.end(session)).succeeded()
    await alice.expect("callEnd", invitation.session)


async def test_a_subscription_that_was_deleted_stays_deleted(lives, peer):
    own = lives()
    alice, companion = await peer("alice", base=own.http), await peer("alice", base=own.http, alone=False)
    path = alice.subscription
    (await alice.unregister()).succeeded()
    own.kill()
    await restarted(own)
    answer = await alice.request("PUT", path, {"subscribeRequest": {"service": ["call"], "expires": 3600}})
    answer.refused(404, 39, "subscribeResponse", "subscription.not_found")
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        await alice.open_channel()
    assert refusal.value.status == 404
    (await companion.extend()).succeeded()


async def test_a_subscription_expires_while_the_gateway_is_down(lives, peer):
    own = lives(registration={"domain": "dev.local", "minimum_expires": "1s", "grace": "0s"})
    bob, alice = await peer("bob", base=own.http), await peer("alice", base=own.http, expires=3)
    await killed(own, alice, bob)
    await asyncio.sleep(3.5)
    await restarted(own, bob)
    (await alice.extend()).refused(404, 39, "subscribeResponse", "subscription.not_found")
    alice.subscription = None
    try:
        await alice.open_channel()
    except aiohttp.WSServerHandshakeError as refusal:
        assert refusal.status == 404
    else:
        await alice.expect("gone")
        assert await alice.closed() == 1000
    session = await bob.call("alice", sdp.offer())
    assert (await bob.expect("callEnd", session)).reason[0] == 480


# Notifications


async def test_what_was_not_delivered_arrives_in_order_under_its_own_ids(lives, peer):
    own = lives()
    alice, bob = await peer("alice", base=own.http), await peer("bob", base=own.http)

    async def call_and_cancel():
        (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()

    await call_and_cancel()
    await bob.expect("call")
    latest = int((await bob.expect("callEnd")).event_id)
    await bob.lose_channel()
    for _ in range(3):
        await call_and_cancel()
    await killed(own, alice, bob)
    end_of_life = time.time()
    await restarted(own, alice, bob)
    async with asyncio.timeout(20):
        while len(news_of(bob)) < 8:
            await asyncio.sleep(0.05)
    for _ in range(2):  # what comes again on another channel comes under the same ids
        missed = news_of(bob)[2:]
        assert [each.event for each in missed] == ["call", "callEnd"] * 3
        assert [int(each.event_id) for each in missed] == list(range(latest + 1, latest + 7))
        assert [each.session for each in missed[::2]] == [each.session for each in missed[1::2]]
        assert all(int(each.message["time"]) <= end_of_life * 1000 for each in missed)
        await bob.lose_channel()
        await bob.open_channel()
        await asyncio.sleep(0.5)


async def test_messages_that_were_answered_arrive_before_the_end(lives, party):
    own = lives()
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    await bob.lose_channel()
    for number in range(1, 4):
        (await at_alice.send_custom_headers(X_Number=str(number))).succeeded()
    await killed_and_restarted(own, alice, bob)
    await is_ended_by_the_restart(at_alice)
    await at_bob.over()
    await bob.heard_exactly(*[("customParameters", at_bob)] * 3, ("callEnd", at_bob))
    *messages, end = bob.heard[-4:]
    assert [each.message["customParameters"][0]["value"] for each in messages] == ["1", "2", "3"]
    names_the_restart(end)


async def test_a_call_whose_start_was_answered_is_told_and_ended(lives, party):
    own = lives()
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    await bob.lose_channel()
    at_alice = await alice.dial("bob")
    await killed_and_restarted(own, alice, bob)
    assert (await at_alice.over()).by == "callEnd"
    names_the_restart(alice.heard[-1])
    at_bob = await bob.incoming()
    ended = await at_bob.over()
    await bob.heard_exactly(("call", at_bob), (ended.by, at_bob))
    names_the_restart(bob.heard[-1])
    await names_no_call(at_alice)


async def test_an_end_that_was_answered_is_the_only_one(lives, party):
    own = lives()
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice, at_bob = await connected(alice, bob)
    await bob.lose_channel()
    (await at_alice.end("that was all")).succeeded()
    await killed_and_restarted(own, alice, bob)
    ended = await at_bob.over()
    assert (ended.code, ended.text) == (None, "that was all")
    await bob.heard_exactly(("callEnd", at_bob))
    await alice.heard_exactly()


# Services


async def results_of(client: SpidrPeer, number: int) -> list[tuple[str, str]]:
    """The results of messages that a client was told, without repetitions; waits for so many, and for any more."""
    async with asyncio.timeout(20):
        while len(told := [each for each in news_of(client) if each.event == "IMResponse"]) < number:
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    told = [each.message["imresponseNotificationParams"] for each in news_of(client) if each.event == "IMResponse"]
    return [(each["callid"], each["responseCode"]) for each in told]


async def test_a_message_that_was_answered_is_told_to_both_whenever_the_gateway_is_killed(lives, peer):
    """It is killed as soon as the sender has the answer."""
    own = lives()
    alice, bob = [await peer(name, base=own.http, services=["IM"]) for name in ("alice", "bob")]
    expected = []
    for number in range(8):
        request = {"toUrl": "bob@dev.local", "message": str(number), "type": "A2", "charset": "UTF-8"}
        answer = await alice.request("POST", "/instantmessage", {"imRequest": request})
        own.kill()
        expected.append((answer.succeeded()["messageId"], "200"))
        await restarted(own, bob, alice)
        assert await results_of(alice, len(expected)) == expected
    texts = [each.message["imnotificationParams"]["msgText"] for each in news_of(bob) if each.event == "IM"]
    assert texts == [str(number) for number in range(8)]


def presence_of(notification: Notification) -> tuple[str, str]:
    told = notification.message["presenceWatcherNotificationParams"]
    return told["name"], told["activity"]


async def test_what_one_owner_owes_another_is_told_once_by_the_next_process(lives, peer, tmp_path):
    """As a process leaves it that is killed after the decision and before the other owner has taken it. To nobody who
    is there nothing is told; a row that cannot be read concerns nobody else."""
    own = lives()
    alice = await peer("alice", base=own.http, services=["IM", "Presence", "event:message-summary"])
    watching = {"presenceWatcherRequest": {"userList": ["bob@dev.local"], "action": "watch"}}
    (await alice.request("POST", "/presenceWatcher", watching)).succeeded()
    assert presence_of(await alice.expect("presenceWatcher")) == ("bob@dev.local", "unknown")
    await killed(own, alice)
    result = {"message": "m1", "receiver": "bob@dev.local", "outcome": "delivered"}
    report = {"user": "bob@dev.local", "presence": {"status": "open", "activity": "lunch", "note": ""}}
    rows = [
        ("alice@dev.local", {"messageResult": result}), ("carol@dev.local", {"messageResult": result}),
        ("alice@dev.local", {"presence": report}), ("alice@dev.local", {"news": 1}),
        ("alice@dev.local", {"voicemail": {"unheard": 1, "total": 3}}), ("alice@dev.local", {"askedPresence": report}),
    ]  # fmt: skip
    with closing(sqlite3.connect(tmp_path / "users.sqlite")) as database, database:
        database.executemany(
            "INSERT INTO owedMessage (user, message) VALUES (?, ?)", [(user, json.dumps(each)) for user, each in rows])
    await restarted(own, alice)
    assert (await alice.expect("IMResponse")).message["imresponseNotificationParams"] == {
        "responseCode": "200", "callid": "m1", "userName": "bob@dev.local",
    }  # fmt: skip
    assert presence_of(await alice.expect("presenceWatcher")) == ("bob@dev.local", "lunch")
    assert (await alice.expect("mwi")).message["mwiNotificationParams"]["totalVoice"] == "3"
    assert presence_of(await alice.expect("presenceWatcher")) == ("bob@dev.local", "lunch")
    await killed_and_restarted(own, alice)
    await asyncio.sleep(0.5)
    assert [each.event for each in news_of(alice)] == ["presenceWatcher", "IMResponse", "presenceWatcher", "mwi",
                                                       "presenceWatcher"]  # fmt: skip
    with closing(sqlite3.connect(tmp_path / "users.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM owedMessage").fetchone() == (0,)
        assert database.execute("SELECT source FROM setAside").fetchall() == [("owedMessage",)]


# Calls


async def test_a_call_that_is_up_ends_once_for_everybody(lives, party):
    """Nobody is busy afterwards, and a device for which the call was over already is told nothing."""
    own = lives(calls={"busy": "reject"})
    alice, bob, desk = [
        await party(name, base=own.http, alone=alone)
        for name, alone in (("alice", True), ("bob", True), ("bob", False))
    ]
    bob.names_itself = desk.names_itself = True
    at_alice, at_bob = await connected(alice, bob)
    await desk.expect("callCancel", at_bob.session)
    forget(desk)
    await killed_and_restarted(own, alice, bob, desk)
    await is_ended_by_the_restart(at_alice)
    await is_ended_by_the_restart(at_bob)
    await desk.heard_exactly()
    for call in (at_alice, at_bob):
        await names_no_call(call)
    await talk_again(alice, bob)
    await talk_again(bob, alice)


async def test_a_call_that_rings_ends_once_at_each_device(lives, party):
    own = lives(calls={"busy": "reject"})
    alice, bob, desk = [
        await party(name, base=own.http, alone=alone)
        for name, alone in (("alice", True), ("bob", True), ("bob", False))
    ]
    at_alice = await alice.dial("bob")
    at_bob, at_desk = await bob.incoming(), await desk.incoming()
    await alice.heard_exactly(("ringing", at_alice))
    forget(alice, bob, desk)
    await killed_and_restarted(own, alice, bob, desk)
    await is_ended_by_the_restart(at_alice)
    for call in (at_bob, at_desk):
        await is_ended_by_the_restart(call, "callEnd", "callCancel")
    for call in (at_alice, at_bob):
        await names_no_call(call)
    await talk_again(alice, bob)
    await talk_again(bob, alice)


async def test_records_show_calls_ended_by_the_restart(lives, party):
    own = lives()
    alice, bob, carol, dave = [await party(name, base=own.http) for name in USERS]
    at_alice, at_bob = await connected(alice, bob)
    at_carol = await carol.dial("dave")
    at_dave = await dave.incoming()
    await killed_and_restarted(own, alice, bob, carol, dave)
    for call, direction in (
        (at_alice, "outgoing"), (at_bob, "incoming"), (at_carol, "outgoing"), (at_dave, "missed"),
    ):  # fmt: skip
        await call.over()
        (item,) = (await call.party.request("GET", "/logHistory")).succeeded()["logItems"]
        assert (item["params"]["recordId"], item["params"]["direction"]) == (call.session, direction)
        ending = item["params"]["ending"]
        assert 500 <= ending["statusCode"] <= 599 and ending["endedBy"] == "gateway", ending
        assert (await record_of(call))["timeline"][-1]["event"] == "ended"


async def log_of(client: SpidrPeer) -> list[dict]:
    return (await client.request("GET", "/logHistory")).succeeded()["logItems"]


async def test_records_and_their_deletion_survive(lives, party):
    own = lives()
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    calls = []
    for _ in range(3):
        at_alice, at_bob = await connected(alice, bob)
        (await at_alice.end()).succeeded()
        calls.append((at_alice, at_bob))
    (await alice.request("DELETE", f"/logRecord/{calls[0][0].session}")).succeeded()
    kept = await log_of(alice), await log_of(bob)
    assert [len(items) for items in kept] == [2, 3]
    await killed_and_restarted(own, alice, bob)
    assert (await log_of(alice), await log_of(bob)) == kept
    assert (await record_of(calls[2][1]))["timeline"][-1]["event"] == "ended"
    (await bob.request("DELETE", "/logHistory")).succeeded()
    await killed_and_restarted(own, alice, bob)
    assert (await log_of(alice), await log_of(bob)) == (kept[0], [])
    await talk_again(alice, bob)
    assert [len(items) for items in (await log_of(alice), await log_of(bob))] == [3, 1]


async def test_guests_stay_guests(lives, party, contract):
    """One has a call, which ends, and one has not called yet."""
    own = lives(anonymous={"mode": "open"})
    alice = await party("alice", base=own.http)
    async with (
        Guest(own.http, "alice", contract=contract) as guest,
        Guest(own.http, "alice", contract=contract) as idle,
    ):
        await guest.register()
        await idle.register()
        at_guest, at_alice = await connected(guest, alice)
        await killed_and_restarted(own, alice, guest, idle)
        for call in (at_guest, at_alice):
            await is_ended_by_the_restart(call)
        (await guest.state(at_guest.session)).refused(404, 47, "callMeResponse", "call.session_not_found")
        await idle.heard_exactly()
        (await guest.extend(service=["callMe"])).succeeded()
        for each in (guest, idle):
            await talk_again(each, alice)


async def test_a_token_for_one_use_stays_used(own_gateway, tmp_path, contract):
    """The gateway is killed as soon as the first guest has the answer. A guest who was refused leaves a token as it
    was."""
    key = "2b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfe"
    first, second = [SignedRealm("stand", key, {"jti": f"visit {number}", "once": True}) for number in (1, 2)]
    (tmp_path / "realms").write_text(f"{first}\n")
    anonymous = {"mode": "token", "realms_file": str(tmp_path / "realms")}
    own = own_gateway.configured(*configured(tmp_path, USERS, anonymous=anonymous))
    wish = {"subscribeRequest": {"expires": 60, "service": ["callMe"]}}

    async def comes(realm: SignedRealm) -> Answer:
        async with Guest(own.http, "alice", realm=realm, contract=contract) as guest:
            guest.account = realm.token("alice@dev.local")
            return await guest.request("POST", "/subscription", wish)

    (await comes(first)).succeeded()
    for _ in range(2):
        own.kill()
        await restarted(own)
        (await comes(first)).refused(403, 65, "authorizationResponse", "anonymous.token_expired")
    (await comes(second)).succeeded()


# Everything at once


@pytest.mark.alone
async def test_clients_lose_and_double_nothing_whenever_the_gateway_is_killed(lives, tmp_path, capsys):
    """`ORBWEAVER_KILLS`, `ORBWEAVER_KILL_CLIENTS` and `ORBWEAVER_KILL_SEED` are how often, for how many, and when."""
    kills = int(os.environ.get("ORBWEAVER_KILLS", "10"))
    seed = int(os.environ.get("ORBWEAVER_KILL_SEED", random.randrange(1 << 32)))
    users = users_of(int(os.environ.get("ORBWEAVER_KILL_CLIENTS", "200")))
    with capsys.disabled():
        print(f" seed {seed}")
    # A busy machine may keep a client from coming back for several lives of the gateway.
    registration = {"domain": "dev.local", "queue_age": "10m"}
    own = lives(
        list(users), logs_events=False, media={"mode": "direct"}, calls={"ring_time": "30s"}, registration=registration,
    )  # fmt: skip
    keep_transcript(tmp_path / "users.sqlite")
    async with asyncio.timeout(120 + 30 * kills), Crowd(own, users, seed) as crowd:
        await crowd.survive(kills)
        await crowd.open_channels_again()
        logs = logs_of(tmp_path / "users.sqlite")
        verdict, of_fcs = Verdict(crowd, logs), Verdict(crowd, logs, FCS_WINDOW)
        with capsys.disabled():
            print(f"{verdict}\n{verdict.details}; with a window of {FCS_WINDOW} doubled {len(of_fcs.doubled)}")
        assert not crowd.refused, "\n".join(crowd.refused[:20])
        assert not verdict.faults and not of_fcs.doubled, verdict.explained(of_fcs.doubled)
        assert verdict.restarted and crowd.counts["answered"] > kills, "there were hardly any calls"
        assert sum(text.name is not None for text in crowd.texts) > kills, "there were hardly any instant messages"
        assert sum(each.is_confirmed for each in crowd.publications) > kills, "presence hardly changed"
        for client in crowd.clients:
            assert await sessions_of(client) == []
        assert own.metric("orbweaver_calls_active") == 0
    own.stop()
