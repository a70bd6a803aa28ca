"""Messages between users, and the number of voice messages, with the bodies of spidr-wire §9."""
import asyncio
import sqlite3
import time

import pytest

from durability import configured
from peers.spidr import Answer, Notification, SpidrPeer
from test_long_poll import polling

SERVICES = ["call", "IM", "Presence"]


async def send(client: SpidrPeer, to: str, text: str, **fields) -> Answer:
    request = {"toUrl": f"{to}@dev.local", "message": text, "type": "A2", "charset": "UTF-8", **fields}
    return await client.request("POST", "/instantmessage", {"imRequest": request})


async def sent(client: SpidrPeer, to: str, text: str) -> str:
    """Sends a message that is taken; returns its name."""
    answer = await send(client, to, text)
    assert answer.status == 201
    body = answer.succeeded()
    assert set(body) == {"statusCode", "messageId"} and body["messageId"]
    return body["messageId"]


def text_of(notification: Notification) -> str:
    return notification.message["imnotificationParams"]["msgText"]


async def result(client: SpidrPeer) -> tuple[str, str, str]:
    told = (await client.expect("IMResponse")).message["imresponseNotificationParams"]
    assert set(told) == {"responseCode", "callid", "userName"}
    return told["callid"], told["responseCode"], told["userName"]


def texts(client: SpidrPeer) -> list[str]:
    """Of all messages that the client has heard, without replays."""
    heard = {n.event_id: n for n in client.heard if n.event == "IM"}
    return [text_of(n) for n in heard.values()]


async def test_a_message_reaches_both_devices_and_the_sender_hears_so(peer):
    alice = await peer("alice", services=SERVICES)
    phone, desk = await peer("bob", services=SERVICES), await peer("bob", services=["IM"], alone=False)
    silent = await peer("bob", services=["call"], alone=False)
    message = await sent(alice, "bob", "hällo ☎ \"you\"")
    for device in (phone, desk):
        heard = (await device.expect("IM")).message
        assert heard["imnotificationParams"] == {
            "primaryContact": "sip:alice@dev.local", "fullName": "Alice", "msgText": "hällo ☎ \"you\"", "type": "A2",
            "charset": "UTF-8",
        }  # fmt: skip
        assert abs(int(heard["time"]) / 1000 - time.time()) < 60
    assert await result(alice) == (message, "200", "bob@dev.local")
    await silent.expect_silence()
    await alice.expect_silence()


async def test_the_answer_is_read_before_the_result_is_told(peer):
    """A browser knows the name of its message only some time after the answer (spidr-wire §12.1)."""
    alice, bob = await peer("alice", services=SERVICES), await peer("bob", services=SERVICES)
    await sent(alice, "bob", "hi")
    answered = time.monotonic()
    await bob.expect("IM")
    assert (await alice.expect("IMResponse")).at - answered > 0.08


async def test_a_client_that_polls_gets_its_messages(peer):
    alice = await peer("alice", services=SERVICES)
    bob = await peer("bob", services=SERVICES, long_poll=True, listen=False)
    async with polling(bob) as polls:
        waiting = asyncio.create_task(polls.next())
        await asyncio.sleep(0.5)
        message = await sent(alice, "bob", "hi")
        assert (await waiting)["imnotificationParams"]["msgText"] == "hi"
        assert await result(alice) == (message, "200", "bob@dev.local")


async def test_who_writes_to_nobody_or_too_much_is_told(peer):
    alice = await peer("alice", services=SERVICES)
    (await send(alice, "nobody", "hi")).refused(404, 10, "imResponse", "message.unknown_receiver")
    (await send(alice, "echo", "hi")).refused(404, 10, "imResponse", "message.unknown_receiver")
    (await send(alice, "bob", "x" * 4_097)).refused(413, 37, "imResponse", "message.too_long")
    (await send(alice, "bob", "ä" * 2_049)).refused(413, 37, "imResponse", "message.too_long")
    await sent(alice, "alice", "x" * 4_096)
    assert text_of(await alice.expect("IM")) == "x" * 4_096


BODIES = [
    (b"", 5, "request.body_missing"), (b"{", 1004, "request.malformed_json"), (b"[]", 37, "request.invalid_value"),
    (b'{"anyRequest":{}}', 5, "request.missing_field"), (b'{"imRequest":{"message":"hi"}}', 5, "request.missing_field"),
    (b'{"imRequest":{"toUrl":"bob@dev.local","message":""}}', 5, "request.missing_field"),
    (b'{"imRequest":{"toUrl":"bob@dev.local","message":["hi"]}}', 37, "request.invalid_value"),
    (b'{"imRequest":{"toUrl":"<>","message":"hi"}}', 37, "request.invalid_value"),
]  # fmt: skip


@pytest.mark.parametrize("body, status_code, code", BODIES)
async def test_a_body_that_makes_no_sense_is_refused(peer, body, status_code, code):
    alice = await peer("alice", registered=False)
    answer = await alice.request("POST", "/instantmessage", data=body, headers={"Content-Type": "application/json"})
    answer.refused(400, status_code, "imResponse", code)


async def test_the_resources_of_another_user_are_refused(peer):
    alice, stranger = await peer("alice", registered=False), await peer("bob", registered=False)
    for method, path, wrapper in [
        ("POST", "instantmessage", "imResponse"), ("GET", "voicemail", "mwiresponse"),
        ("POST", "presence", "presenceResponse"), ("POST", "presenceWatcher", "presenceWatcherResponse"),
        ("POST", "eventSubscription", "eventSubscriptionResponse"),
        ("DELETE", "eventSubscription/e1", "eventSubscriptionResponse"),
    ]:  # fmt: skip
        body = {} if method == "POST" else None
        other = f"/rest/version/1/user/bob@dev.local/{path}"
        (await alice.request(method, other, body)).refused(403, 27, wrapper, "auth.wrong_user")
        answer = await stranger.request(method, other, body, headers={"Authorization": None})
        answer.refused(401, 4, wrapper, "auth.missing")


async def test_too_many_messages_in_a_row_are_refused(own_gateway, tmp_path, peer):
    limits = {"per_user": 3, "interval": "1s"}
    own = own_gateway.configured(*configured(tmp_path, ["alice", "bob"], messages=limits))
    alice = await peer("alice", base=own.http, services=SERVICES)
    bob = await peer("bob", base=own.http, services=SERVICES)
    answers = [await send(alice, "bob", str(number)) for number in range(5)]
    assert [answer.status for answer in answers[:3]] == [201] * 3
    refused = answers[4].refused(429, 19, "imResponse", "message.rate_limited")
    await asyncio.sleep(refused["retryAfter"] / 1000)
    await sent(alice, "bob", "again")
    await sent(bob, "alice", "others may")


async def test_a_user_who_is_away_gets_everything_once_and_in_order_after_a_kill(own_gateway, tmp_path, peer):
    limits = {"kept_per_user": 8, "kept_age": "1d"}
    options = configured(tmp_path, ["alice", "bob", "carol"], messages=limits)
    own = own_gateway.configured(*options)
    alice = await peer("alice", base=own.http, services=SERVICES)
    names = [await sent(alice, "bob", str(number)) for number in range(4)]
    assert [await result(alice) for _ in names] == [(name, "202", "bob@dev.local") for name in names]
    (await send(alice, "bob", "one more")).refused(409, 51, "imResponse", "message.inbox_full")
    carol = await peer("carol", base=own.http, services=SERVICES)
    await sent(carol, "bob", "others may")

    own.kill()
    await alice.closed()
    await asyncio.to_thread(own.start)
    await alice.open_channel()
    deaf = await peer("bob", base=own.http, services=["call"])
    await deaf.expect_silence()
    bob = await peer("bob", base=own.http, services=SERVICES)
    assert [text_of(await bob.expect("IM")) for _ in range(5)] == ["0", "1", "2", "3", "others may"]
    assert [await result(alice) for _ in names] == [(name, "200", "bob@dev.local") for name in names]
    await bob.expect_silence()

    # What was delivered stays delivered, and what was told in the meantime is told under its own number.
    own.kill()
    await bob.closed()
    await asyncio.to_thread(own.start)
    await bob.open_channel()
    await alice.closed()
    await alice.open_channel()
    await sent(alice, "bob", "there again")
    assert text_of(await bob.expect("IM")) == "there again"
    again = await peer("bob", base=own.http, services=SERVICES, alone=False)
    await again.expect_silence("IM")
    assert texts(bob) == ["0", "1", "2", "3", "others may", "there again"]


async def test_a_device_whose_channel_broke_gets_what_came_meanwhile(own_gateway, tmp_path, peer):
    own = own_gateway.configured(*configured(tmp_path, ["alice", "bob"]))
    alice = await peer("alice", base=own.http, services=SERVICES)
    bob = await peer("bob", base=own.http, services=SERVICES)
    await bob.lose_channel()
    await asyncio.sleep(0.5)
    message = await sent(alice, "bob", "hi")
    assert await result(alice) == (message, "202", "bob@dev.local")
    await bob.open_channel()
    assert text_of(await bob.expect("IM")) == "hi"
    assert await result(alice) == (message, "200", "bob@dev.local")


async def test_more_than_a_log_holds_is_kept_and_comes_whole(own_gateway, tmp_path, peer):
    limits = {"kept_per_user": 400, "per_user": 1_000}
    own = own_gateway.configured(*configured(tmp_path, ["alice", "bob"], messages=limits))
    alice = await peer("alice", base=own.http, services=["call"])
    for number in range(200):
        await sent(alice, "bob", str(number))
    bob = await peer("bob", base=own.http, services=SERVICES)
    assert [text_of(await bob.expect("IM")) for _ in range(200)] == [str(number) for number in range(200)]
    await bob.expect_silence()


async def test_a_message_that_was_kept_for_long_enough_is_given_up(own_gateway, tmp_path, peer):
    options = configured(tmp_path, ["alice", "bob"], messages={"kept_age": "2s"})
    own = own_gateway.configured(*options)
    alice = await peer("alice", base=own.http, services=SERVICES)
    message = await sent(alice, "bob", "hi")
    assert [(await result(alice))[1] for _ in range(2)] == ["202", "408"]
    bob = await peer("bob", base=own.http, services=SERVICES)
    await bob.expect_silence("IM")
    assert message


async def test_the_number_of_voice_messages_is_what_the_database_says(own_gateway, tmp_path, peer):
    options = configured(tmp_path, ["alice", "bob"])
    with sqlite3.connect(tmp_path / "users.sqlite") as database:
        database.execute("INSERT INTO voicemail (user, unheard, heard) VALUES ('alice@dev.local', 1, 2)")
    own = own_gateway.configured(*options)
    alice = await peer("alice", base=own.http, services=SERVICES)
    answer = await alice.request("GET", "/voicemail")
    assert answer.status == 200
    assert answer.json == {"mwiresponse": {"statusCode": 0, "mwi": "yes", "totalVoice": "3", "unheardVoice": "1"}}
    bob = await peer("bob", base=own.http, services=SERVICES)
    answer = await bob.request("GET", "/voicemail")
    assert answer.status == 200
    assert answer.json == {"mwiresponse": {"statusCode": 52, "mwi": "no", "totalVoice": "0", "unheardVoice": "0"}}
