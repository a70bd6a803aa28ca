"""Clients that ask for their notifications by long polls (spidr-wire §4.5)."""
import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest

from peers import sdp
from peers.spidr import SpidrPeer


class Polls:
    """The polls of one client, on one connection."""

    def __init__(self, client: SpidrPeer, connection: aiohttp.ClientSession):
        self.client, self.connection = client, connection

    async def answer(self, since: str | None = None) -> tuple[int, str]:
        query = f"?since={since}" if since else ""
        url = self.client.base + self.client.channel + query
        async with self.connection.get(url, timeout=aiohttp.ClientTimeout(60)) as response:
            return response.status, await response.text()

    async def next(self, since: str | None = None) -> dict:
        """The next notification; polls that are answered with nothing are repeated."""
        while True:
            status, text = await self.answer(since)
            assert status == 200, text
            if text:
                envelope = json.loads(text)
                assert list(envelope) == ["notificationMessage"]
                self.client.contract.check_notification(envelope)
                return envelope["notificationMessage"]


@asynccontextmanager
async def polling(client: SpidrPeer):
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False, limit=1)) as connection:
        yield Polls(client, connection)


def session_of(message: dict) -> str:
    return message["sessionParams"]["sessionData"]


async def test_a_client_is_called_and_calls_by_long_polls(peer):
    alice, bob = await peer("alice"), await peer("bob", long_poll=True, listen=False)
    assert "/notification/" in bob.channel
    async with polling(bob) as polls:
        at_alice = await alice.call("bob", sdp.offer())
        invitation = await polls.next()
        assert invitation["eventType"] == "call"
        offer = invitation["sessionParams"]["sdp"]
        (await bob.answer(session_of(invitation), sdp.answer(offer))).succeeded()
        await alice.expect("respondCallUpdate", at_alice)
        (await alice.end(at_alice)).succeeded()
        while (message := await polls.next())["eventType"] != "callEnd":
            assert (message["eventType"], message["sessionParams"]["cause"]) == ("callCancel", "answered_here")
        assert session_of(message) == session_of(invitation)

        at_bob = await bob.call("alice", sdp.offer())
        invitation = await alice.expect("call")
        (await alice.answer(invitation.session, sdp.answer(invitation.message["sessionParams"]["sdp"]))).succeeded()
        while (message := await polls.next())["eventType"] != "respondCallUpdate":
            assert message["eventType"] == "ringing"
        (await bob.end(at_bob)).succeeded()
        await alice.expect("callEnd", invitation.session)


async def test_a_deleted_subscription_is_gone_to_the_poll_that_waits(peer):
    alice = await peer("alice", long_poll=True, listen=False)
    async with polling(alice) as polls:
        waiting = asyncio.create_task(polls.answer())
        await asyncio.sleep(0.5)
        (await alice.unregister()).succeeded()
        status, text = await waiting
        assert (status, json.loads(text)["statusCode"]) == (410, 23)
        assert (await polls.answer())[0] == 410


async def test_what_an_answer_lost_is_given_once_more_on_another_connection(peer):
    alice, bob = await peer("alice"), await peer("bob", long_poll=True, listen=False)
    (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
    async with polling(bob) as polls:
        first = await polls.next()
    async with polling(bob) as polls:
        assert await polls.next() == first
        second = await polls.next()
        assert second["eventId"] != first["eventId"]
    async with polling(bob) as polls:
        waiting = asyncio.create_task(polls.next(since=second["eventId"]))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
        assert (await waiting)["eventType"] == "call"


async def test_polls_and_websockets_are_the_same_channel(peer):
    alice, bob = await peer("alice"), await peer("bob", long_poll=True, listen=False)
    (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
    async with polling(bob) as polls:
        first = await polls.next()
        path = bob.channel
        bob.channel = path.replace("/notification/", "/websocket/")
        await bob.open_channel()
        assert (await bob.expect("call")).event_id == first["eventId"]
        await bob.expect("callEnd")
        bob.channel = path
        waiting = asyncio.create_task(polls.answer())
        await bob.expect("websocketOverridden")
        await bob.close_channel()
        (await alice.end(await alice.call("bob", sdp.offer()))).succeeded()
        assert (await waiting)[0] == 200


@pytest.mark.parametrize("audience", ["user", "anonymous"])
async def test_a_channel_that_nobody_has_is_gone(peer, audience):
    alice = await peer("alice", registered=False)
    answer = await alice.request("GET", f"/rest/version/1/{audience}/alice@dev.local/notification/ws-none")
    assert (answer.status, answer.json["statusCode"], answer.json["code"]) == (410, 23, "channel.gone")


async def test_a_channel_is_found_under_its_own_user_only(peer):
    alice = await peer("alice", long_poll=True, listen=False)
    async with polling(alice) as polls:
        waiting = asyncio.create_task(polls.answer())
        await asyncio.sleep(0.5)
        answer = await alice.request("GET", alice.channel.replace("alice@", "bob@"))
        assert (answer.status, answer.json["code"]) == (410, "channel.gone")
        assert not waiting.done()
        waiting.cancel()
