"""What a client is sent on its channel again, and what it is not: sockets that are dead or not read, and clients that
say what they have (spidr-wire §4.4)."""
import asyncio

import pytest

from peers import sdp
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
