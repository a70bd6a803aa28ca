"""Presence and subscriptions to events, with the bodies of spidr-wire §9 and §10."""
import asyncio
import sqlite3

import pytest

from durability import configured
from peers import sdp
from peers.spidr import Answer, SpidrPeer
from test_long_poll import polling

SERVICES = ["call", "IM", "Presence", "event:presence", "event:message-summary"]
ABSENT = ("closed", "unknown", "")


async def set_presence(client: SpidrPeer, status: str, activity: str | None = None, note: str | None = None) -> Answer:
    wish = {"status": status, "activity": activity, "note": note}
    return await client.request("POST", "/presence", {"presenceRequest": wish})


async def watcher(client: SpidrPeer, action: str, *users: str) -> Answer:
    wish = {"userList": [user if "@" in user else f"{user}@dev.local" for user in users], "action": action}
    return await client.request("POST", "/presenceWatcher", {"presenceWatcherRequest": wish})


async def told(client: SpidrPeer) -> tuple[str, tuple[str, str, str]]:
    parameters = (await client.expect("presenceWatcher")).message["presenceWatcherNotificationParams"]
    assert set(parameters) == {"name", "type", "status", "activity", "note"}
    return parameters["name"], (parameters["status"], parameters["activity"], parameters["note"])


async def test_who_watches_is_told_at_once_and_of_each_change(peer):
    alice, bob = await peer("alice", services=SERVICES), await peer("bob", services=SERVICES)
    granted = (await watcher(alice, "watch", "bob", "carol")).succeeded()
    assert granted == {"statusCode": 0, "expiryValue": 3600}
    assert sorted([await told(alice), await told(alice)]) == [("bob@dev.local", ABSENT), ("carol@dev.local", ABSENT)]
    assert (await set_presence(bob, "open", "busy", "später ☎")).succeeded() == {"statusCode": 0}
    assert await told(alice) == ("bob@dev.local", ("open", "busy", "später ☎"))
    (await set_presence(bob, "open", "on-the-phone")).succeeded()
    assert await told(alice) == ("bob@dev.local", ("open", "on-the-phone", ""))
    (await set_presence(bob, "open", "on-the-phone")).succeeded()
    await alice.expect_silence()
    (await bob.unregister()).succeeded()
    assert await told(alice) == ("bob@dev.local", ABSENT)
    assert (await watcher(alice, "stopwatch", "bob")).succeeded() == {"statusCode": 0}
    bob = await peer("bob", services=SERVICES)
    (await set_presence(bob, "open")).succeeded()
    await alice.expect_silence()
    assert (await watcher(alice, "get", "bob")).succeeded() == {"statusCode": 0}
    assert await told(alice) == ("bob@dev.local", ("open", "unknown", ""))
    (await set_presence(bob, "closed")).succeeded()
    await alice.expect_silence()
    await watcher(alice, "stopwatch", "carol")


async def test_a_client_that_polls_is_told_presence(peer):
    alice = await peer("alice", services=SERVICES, long_poll=True, listen=False)
    async with polling(alice) as polls:
        (await watcher(alice, "watch", "dave")).succeeded()
        assert (await polls.next())["presenceWatcherNotificationParams"]["status"] == "closed"
    await watcher(alice, "stopwatch", "dave")


async def test_a_watch_that_is_not_renewed_ends(own_gateway, tmp_path, peer):
    options = configured(tmp_path, ["alice", "bob"], presence={"watch_time": "4s", "minimum_event_expires": "1s"})
    own = own_gateway.configured(*options)
    alice = await peer("alice", base=own.http, services=SERVICES)
    bob = await peer("bob", base=own.http, services=SERVICES)
    assert (await watcher(alice, "watch", "bob")).succeeded()["expiryValue"] == 4
    assert await told(alice) == ("bob@dev.local", ABSENT)
    await asyncio.sleep(2)  # clients renew it at half of its time
    (await watcher(alice, "watch", "bob")).succeeded()
    assert await told(alice) == ("bob@dev.local", ABSENT)
    await asyncio.sleep(3)
    (await set_presence(bob, "open", "away")).succeeded()
    assert await told(alice) == ("bob@dev.local", ("open", "away", ""))
    await asyncio.sleep(2)
    (await set_presence(bob, "open", "idle")).succeeded()
    await alice.expect_silence()


async def test_presence_and_watches_survive_a_kill(own_gateway, tmp_path, peer):
    own = own_gateway.configured(*configured(tmp_path, ["alice", "bob"]))
    alice = await peer("alice", base=own.http, services=SERVICES)
    bob = await peer("bob", base=own.http, services=SERVICES)
    (await set_presence(bob, "open", "lunch")).succeeded()
    (await watcher(alice, "watch", "bob")).succeeded()
    assert await told(alice) == ("bob@dev.local", ("open", "lunch", ""))
    own.kill()
    for client in (alice, bob):
        await client.closed()
    await asyncio.to_thread(own.start)
    for client in (alice, bob):
        await client.open_channel()
    (await watcher(alice, "get", "bob")).succeeded()
    assert await told(alice) == ("bob@dev.local", ("open", "lunch", ""))
    (await set_presence(bob, "open", "active")).succeeded()
    assert await told(alice) == ("bob@dev.local", ("open", "active", ""))


async def talking(caller: SpidrPeer, callee: SpidrPeer) -> tuple[str, str]:
    session = await caller.call(callee.user, sdp.offer())
    invitation = await callee.expect("call")
    (await callee.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await caller.expect("respondCallUpdate", session)
    return session, invitation.session


async def test_who_has_a_call_is_on_the_phone_until_it_ends(peer):
    alice, bob = await peer("alice", services=SERVICES), await peer("bob", services=SERVICES)
    carol = await peer("carol", services=SERVICES)
    (await set_presence(bob, "open", "active", "here")).succeeded()
    (await watcher(carol, "watch", "bob", "alice")).succeeded()
    before = sorted([await told(carol), await told(carol)])
    assert before == [("alice@dev.local", ABSENT), ("bob@dev.local", ("open", "active", "here"))]
    at_alice, _ = await talking(alice, bob)
    during = sorted([await told(carol), await told(carol)])
    assert during == [
        ("alice@dev.local", ("open", "on-the-phone", "")), ("bob@dev.local", ("open", "on-the-phone", "here")),
    ]  # fmt: skip
    (await set_presence(bob, "open", "busy")).succeeded()
    assert await told(carol) == ("bob@dev.local", ("open", "busy", ""))
    await alice.end(at_alice)
    await bob.expect("callEnd")
    assert await told(carol) == ("alice@dev.local", ABSENT)
    await carol.expect_silence()
    await watcher(carol, "stopwatch", "bob", "alice")


async def test_a_call_that_rings_or_that_the_user_hides_is_not_told(peer):
    alice, bob = await peer("alice", services=SERVICES), await peer("bob", services=SERVICES)
    carol = await peer("carol", services=SERVICES)
    (await set_presence(bob, "closed")).succeeded()
    (await watcher(carol, "watch", "bob")).succeeded()
    assert await told(carol) == ("bob@dev.local", ABSENT)
    session = await alice.call("bob", sdp.offer())
    invitation = await bob.expect("call")
    await carol.expect_silence()
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await alice.expect("respondCallUpdate", session)
    await carol.expect_silence()
    await alice.end(session)
    await bob.expect("callEnd")
    await watcher(carol, "stopwatch", "bob")


async def test_a_call_that_ends_with_the_gateway_is_not_told_for_ever(own_gateway, tmp_path, peer):
    own = own_gateway.configured(*configured(tmp_path, ["alice", "bob", "carol"]))
    alice, bob, carol = [
        await peer(name, base=own.http, services=SERVICES) for name in ("alice", "bob", "carol")
    ]  # fmt: skip
    (await set_presence(bob, "open", "idle")).succeeded()
    (await watcher(carol, "watch", "bob")).succeeded()
    assert await told(carol) == ("bob@dev.local", ("open", "idle", ""))
    await talking(alice, bob)
    assert await told(carol) == ("bob@dev.local", ("open", "on-the-phone", ""))
    own.kill()
    for client in (alice, bob, carol):
        await client.closed()
    await asyncio.to_thread(own.start)
    await carol.open_channel()
    assert await told(carol) == ("bob@dev.local", ("open", "idle", ""))


async def test_only_users_of_the_own_domain_are_watched(peer):
    alice = await peer("alice", services=SERVICES)
    for action in ("watch", "get"):
        answer = await watcher(alice, action, "bob", "eve@example.org")
        answer.refused(403, 37, "presenceWatcherResponse", "watch.not_allowed")
    await alice.expect_silence()
    (await watcher(alice, "watch", "nobody")).succeeded()
    assert await told(alice) == ("nobody@dev.local", ABSENT)


async def test_what_one_user_may_watch_is_limited(own_gateway, tmp_path, peer):
    limits = {"max_watched": 1, "max_watchers": 1, "max_event_subscriptions": 1}
    own = own_gateway.configured(
        *configured(tmp_path, ["alice", "bob", "carol"], presence=limits))
    alice = await peer("alice", base=own.http, services=SERVICES)
    carol = await peer("carol", base=own.http, services=SERVICES)
    answer = await watcher(alice, "watch", "bob", "carol")
    answer.refused(429, 19, "presenceWatcherResponse", "watch.limit_reached")
    (await watcher(alice, "watch", "bob")).succeeded()
    answer = await watcher(carol, "watch", "bob")
    assert (answer.status, answer.body["statusCode"]) == (200, 2), "alice watches him already"
    await subscribed(alice, "event:message-summary")
    answer = await subscribe(alice, "event:message-summary")
    answer.refused(429, 19, "eventSubscriptionResponse", "watch.limit_reached")


BODIES = [
    ("/presence", {"presenceRequest": {"activity": "busy"}}, 5, "presenceResponse"),
    ("/presence", {"presenceRequest": {"status": "there"}}, 37, "presenceResponse"),
    ("/presence", {"presenceRequest": {"status": "open", "activity": "asleep"}}, 37, "presenceResponse"),
    ("/presence", {"presenceRequest": {"status": "open", "note": "x" * 257}}, 37, "presenceResponse"),
    ("/presence", {"presenceRequest": []}, 37, "presenceResponse"),
    ("/presenceWatcher", {"presenceWatcherRequest": {"action": "watch"}}, 5, "presenceWatcherResponse"),
    ("/presenceWatcher", {"presenceWatcherRequest": {"userList": [], "action": "watch"}}, 5, "presenceWatcherResponse"),
    ("/presenceWatcher", {"presenceWatcherRequest": {"userList": ["bob"], "action": "x"}}, 37,
     "presenceWatcherResponse"),
    ("/presenceWatcher", {"presenceWatcherRequest": {"userList": ["<"], "action": "get"}}, 37,
     "presenceWatcherResponse"),
    ("/eventSubscription", {"eventSubscriptionRequest": {}}, 5, "eventSubscriptionResponse"),
    ("/eventSubscription", {"eventSubscriptionRequest": {"eventType": "event:presence", "expires": "soon"}}, 37,
     "eventSubscriptionResponse"),
]  # fmt: skip


@pytest.mark.parametrize("path, body, status_code, wrapper", BODIES)
async def test_a_body_that_makes_no_sense_is_refused(peer, path, body, status_code, wrapper):
    alice = await peer("alice", registered=False)
    (await alice.request("POST", path, body)).refused(400, status_code, wrapper)


async def test_presence_needs_a_subscription(peer):
    alice = await peer("alice")
    (await alice.unregister()).succeeded()
    (await set_presence(alice, "open")).refused(409, 40, "presenceResponse", "presence.not_subscribed")
    (await set_presence(alice, "closed")).succeeded()


# Subscriptions to events


async def subscribe(client: SpidrPeer, event: str, *users: str, **fields) -> Answer:
    wish = {"eventType": event, "clientCorrelator": "c1", **fields}
    if users:
        wish["subscribeUserList"] = [user if "@" in user else f"{user}@dev.local" for user in users]
    return await client.request("POST", "/eventSubscription", {"eventSubscriptionRequest": wish})


async def subscribed(client: SpidrPeer, event: str, *users: str, **fields) -> dict:
    answer = await subscribe(client, event, *users, **fields)
    assert answer.status == 201, answer.text
    body = answer.succeeded()
    assert set(body) == {"statusCode", "expires", "sessionData"}
    return body


async def test_presence_can_be_subscribed_to_as_an_event(peer):
    alice, bob = await peer("alice", services=SERVICES), await peer("bob", services=SERVICES)
    granted = await subscribed(alice, "event:presence", "bob", expires=600)
    assert granted["expires"] == 600
    first = (await alice.expect("event:presence")).message["genericNotificationParams"]
    assert first == {
        "sessionData": granted["sessionData"], "name": "bob@dev.local", "status": "closed", "activity": "unknown",
        "note": "",
    }  # fmt: skip
    (await set_presence(bob, "open", "vacation")).succeeded()
    second = (await alice.expect("event:presence")).message["genericNotificationParams"]
    assert (second["status"], second["activity"]) == ("open", "vacation")
    path = f"/eventSubscription/{granted['sessionData']}"
    extended = await alice.request("PUT", path, {"eventSubscriptionRequest": {"expires": "1"}})
    assert extended.succeeded() == {"statusCode": 0, "expires": 60, "sessionData": granted["sessionData"]}
    await alice.expect("event:presence")
    assert (await alice.request("DELETE", path)).succeeded() == {"statusCode": 0}
    (await set_presence(bob, "open", "away")).succeeded()
    await alice.expect_silence()
    gone = await alice.request("PUT", path, {"eventSubscriptionRequest": {"expires": 60}})
    gone.refused(404, 42, "eventSubscriptionResponse", "event.not_found")
    (await alice.request("DELETE", path)).refused(404, 42, "eventSubscriptionResponse", "event.not_found")


async def test_a_subscription_of_another_user_is_not_found(peer):
    alice, bob = await peer("alice", services=SERVICES), await peer("bob", services=SERVICES)
    granted = await subscribed(alice, "event:message-summary")
    path = f"/eventSubscription/{granted['sessionData']}"
    (await bob.request("DELETE", path)).refused(404, 42, "eventSubscriptionResponse", "event.not_found")
    (await alice.request("DELETE", path)).succeeded()


async def test_events_that_there_are_not_and_the_voice_mail_of_others_are_refused(peer):
    alice = await peer("alice", services=SERVICES)
    answer = await subscribe(alice, "event:dialog", "bob")
    answer.refused(489, 12, "eventSubscriptionResponse", "event.unknown_package")
    answer = await subscribe(alice, "event:message-summary", "bob")
    answer.refused(403, 37, "eventSubscriptionResponse", "watch.not_allowed")
    answer = await subscribe(alice, "event:presence", "eve@example.org")
    answer.refused(403, 37, "eventSubscriptionResponse", "watch.not_allowed")
    await alice.expect_silence()


async def test_the_number_of_voice_messages_is_told_at_once(own_gateway, tmp_path, peer):
    options = configured(tmp_path, ["alice"])
    with sqlite3.connect(tmp_path / "users.sqlite") as database:
        database.execute("INSERT INTO voicemail (user, unheard, heard) VALUES ('alice@dev.local', 2, 1)")
    own = own_gateway.configured(*options)
    alice = await peer("alice", base=own.http, services=SERVICES)
    granted = await subscribed(alice, "event:message-summary", expires=999_999)
    assert granted["expires"] == 86_400
    heard = (await alice.expect("event:message-summary")).message["genericNotificationParams"]
    assert heard == {
        "sessionData": granted["sessionData"], "mwi": "yes", "totalVoice": "3", "unheardVoice": "2",
    }  # fmt: skip
