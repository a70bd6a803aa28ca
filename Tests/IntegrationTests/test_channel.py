"""What a client is sent on its channel again, and what it is not: sockets that are dead or not read, and clients that
say what they have (spidr-wire §4.4)."""
import asyncio

import pytest

from durability import configured
from peers import raw, sdp
from peers.waiting import until
from situations import connected, forget


def numbers(heard) -> list[str]:
    return [each.message["customParameters"][0]["value"] for each in heard if each.event == "customParameters"]


async def heard(client, count: int):
    async with asyncio.timeout(20):
        while len(numbers(client.heard)) < count:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("count", [10, 90])
async def test_nothing_is_lost_on_a_socket_that_is_not_read(party, count):
    """More than 50 notifications are not on their way at a time: a client would not recognise them all."""
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    await bob.lose_channel()
    await bob.open_unread_channel()
    forget(bob)
    for number in range(count):
        (await at_alice.send_custom_headers(X_Number=str(number))).succeeded()
    await bob.lose_channel()
    await bob.open_channel()
    await heard(bob, count)
    new = {each.event_id: each for each in bob.heard}
    assert numbers(new.values()) == [str(number) for number in range(count)]
    (await at_alice.end()).succeeded()
    await at_bob.over()


@pytest.mark.parametrize(("write_timeout", "count"), [("10m", 60), ("1s", 20)], ids=["bytes", "time"])
async def test_a_reader_that_is_too_slow_is_cut_and_finds_its_events_on_return(
    own_gateway, tmp_path, peer, write_timeout, count
):
    """Messages of 32 KB each, whose quotation marks are escaped. Whichever limit is met first, 1 MiB that waits or the
    time in which nothing is taken, cuts the reader off. What is sent behind that waits for the reader, too. On return
    it is sent more than 1 MiB in one go, and reads."""
    own = own_gateway.configured(*configured(
        tmp_path, ["alice", "bob"], listen={"host": "127.0.0.1", "write_timeout": write_timeout},
        messages={"max_length": 16384, "per_user": 1000, "interval": "1ms"},
        registration={"domain": "dev.local", "queue_age": "10m"},
    ))  # fmt: skip
    alice, bob = [await peer(name, base=own.http, services=["IM"], listen=False) for name in ("alice", "bob")]
    with raw.open_websocket(own.http_port, bob.channel, receive_buffer=2048) as unread:
        for number in range(count):
            text = f"{number} ".ljust(16384, '"')
            request = {"toUrl": "bob@dev.local", "message": text, "type": "A2", "charset": "UTF-8"}
            (await alice.request("POST", "/instantmessage", {"imRequest": request})).succeeded()
        await until(lambda: own.metric("orbweaver_websockets_closed_total", reason="too_slow") == 1)
        with pytest.raises(ConnectionResetError):  # behind what the kernel has kept
            while await asyncio.to_thread(unread.recv, 65536):
                pass
    await bob.open_channel()
    async with asyncio.timeout(20):
        while len(bob.heard) < count:
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)  # nothing more comes
    texts = [each.message["imnotificationParams"]["msgText"] for each in bob.heard]
    assert [text.split()[0] for text in texts] == [str(number) for number in range(count)]
    ids = [int(each.event_id) for each in bob.heard]
    assert ids == list(range(ids[0], ids[0] + count))
    assert own.metric("orbweaver_websockets_closed_total", reason="too_slow") == 1


async def test_a_client_is_sent_what_is_behind_the_one_that_it_has(peer):
    alice, bob = await peer("alice"), await peer("bob")
    for _ in range(2):
        (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
        await bob.expect("call")
        await bob.expect("callEnd")
    ids = [each.event_id for each in bob.heard]
    for since, expected in ((ids[-1], []), (ids[0], ids[1:]), (ids[-1], [])):
        await bob.lose_channel()
        before = len(bob.heard)
        await bob.open_channel(since=since)
        async with asyncio.timeout(20):
            while len(bob.heard) - before < len(expected):
                await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)  # nothing more comes
        assert [each.event_id for each in bob.heard[before:]] == expected


async def test_a_number_of_another_subscription_means_nothing(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    await bob.lose_channel()
    forget(bob)
    (await at_alice.send_custom_headers(X_Number="0")).succeeded()
    await bob.open_channel(since="1")
    await heard(bob, 1)
    assert not [each for each in bob.heard if each.event == "notificationsLost"]
    (await at_alice.end()).succeeded()
    await at_bob.over()
