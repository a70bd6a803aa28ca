"""Calls of an application that talk to each other: it stays, listens or leaves (docs/bots.md)."""
import asyncio

import pytest
import pytest_asyncio

from party import FCS, L5, hear_now
from party.tones import MUSIC
from peers.bot import DEMO_KEY, Bot
from test_public_events import polled


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


async def two_calls(party, bot: Bot, **fields):
    """Alice has called the bot, and the bot has called Bob; each hears it alone."""
    alice, bob = await party("alice", sounds=True, **fields), await party("bob", sounds=True, **fields)
    at_alice = await alice.dial("bot")
    first = (await bot.incoming())["id"]
    await bot.tell(first, "answer")
    await at_alice.answered()
    await at_alice.connected()
    second = (await bot.start("bob"))["id"]
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    await bot.until(second, state="talking")
    await at_bob.connected()
    await hear_now({at_alice: set(), at_bob: set()})
    return at_alice, first, at_bob, second


async def both_over(bot: Bot, *calls: str):
    for call in calls:
        assert (await bot.until(call, state="ended"))["ending"] == {"cause": "left"}


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
@pytest.mark.parametrize("command", ["bridge", "transfer"])
async def test_two_calls_talk_to_each_other_and_the_bot_leaves(party, bot, command, dialect):
    at_alice, first, at_bob, second = await two_calls(party, bot, dialect=dialect)
    await bot.tell(second, "play", items=[{"tone": "dial"}], tag="left behind")
    await hear_now({at_bob: {MUSIC}})
    role = {"bot": "leave"} if command == "bridge" else {}
    (await bot.ask("POST", f"/v1/calls/{first}/{command}", {"call": second, **role})).succeeded()
    await both_over(bot, first, second)
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    assert (at_alice.remote[1], at_bob.remote[1]) == ("bob@dev.local", "alice@dev.local")
    (await at_bob.end()).succeeded()
    await at_alice.over()


async def test_the_bot_stays_and_is_heard_by_both(party, bot):
    at_alice, first, at_bob, second = await two_calls(party, bot)
    made_of = await bot.show(first)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    made = await bot.ask("POST", f"/v1/calls/{first}/bridge", {"call": second}, traceparent=trace)
    joined = made.succeeded(201)["id"]
    assert made.headers["Location"] == f"/v1/calls/{joined}" and joined not in (first, second)
    await both_over(bot, first, second)
    talking = await bot.until(joined, state="talking", conference=True)
    assert {each["address"] for each in talking["members"]} == {"alice@dev.local", "bob@dev.local"}
    assert "leave" in talking["allowed"] and "transfer" not in talking["allowed"]
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    for call in (at_alice, at_bob):
        await call.until(lambda call=call: call.remote[1].startswith("conference@"), "shown the conference")
    await bot.tell(joined, "play", items=[{"tone": "dial"}])
    await hear_now({at_alice: {"bob", MUSIC}, at_bob: {"alice", MUSIC}})
    left = await bot.tell(joined, "leave")
    assert left["state"] == "ended"
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    (await at_alice.end()).succeeded()
    await at_bob.over()
    # The new call is part of the trace of the request that made it, and the old ones are part of none.
    for call, told in ((talking["call"], trace), (made_of["call"], None)):
        events = (await asyncio.to_thread(polled, bot.base, DEMO_KEY, "oldest", calls=call))[0]
        assert {each.get("traceparent") for each in events} == {told}


async def test_the_bot_listens_until_it_unmutes(party, bot):
    at_alice, first, at_bob, second = await two_calls(party, bot)
    joined = (await bot.ask("POST", f"/v1/calls/{second}/bridge", {"call": first, "bot": "listen"})).succeeded(201)
    assert joined["muted"] is True
    await both_over(bot, first, second)
    await bot.until(joined["id"], state="talking", muted=True)
    await bot.tell(joined["id"], "play", items=[{"tone": "dial"}])
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    await bot.tell(joined["id"], "gather", maximum=2, firstTimeout=20_000, betweenTimeout=20_000)
    for call, digit in ((at_alice, "4"), (at_bob, "2")):
        (await call.party.media(call.session, type="dtmf", digits=digit)).succeeded()
        await bot.until(joined["id"], gathering={"keys": digit} if digit == "4" else None)
    # The keys of both have reached it.
    await bot.tell(joined["id"], "play", items=[{"tone": "dial"}])
    await bot.tell(joined["id"], "unmute")
    await hear_now({at_alice: {"bob", MUSIC}, at_bob: {"alice", MUSIC}})
    (await at_bob.end()).succeeded()
    await hear_now({at_alice: {MUSIC}})
    assert "leave" not in (await bot.show(joined["id"]))["allowed"]
    (await bot.ask("POST", f"/v1/calls/{joined['id']}/leave")).refused(409, "call.not_allowed")
    await bot.tell(joined["id"], "end")
    await at_alice.over()


async def test_three_calls_and_a_conference_are_joined(party, bot):
    at_alice, first, at_bob, second = await two_calls(party, bot)
    carol = await party("carol", sounds=True)
    third = (await bot.start("carol"))["id"]
    at_carol = await carol.incoming()
    (await at_carol.answer()).succeeded()
    await bot.until(third, state="talking")
    await at_carol.connected()
    await bot.tell(third, "hold")
    made = (await bot.ask("POST", f"/v1/calls/{first}/join", {"calls": [second, third]})).succeeded(201)["id"]
    await both_over(bot, first, second, third)
    await hear_now({at_alice: {"bob", "carol"}, at_bob: {"alice", "carol"}, at_carol: {"alice", "bob"}})
    dave = await party("dave", sounds=True)
    at_dave = await dave.dial("bot")
    fourth = (await bot.incoming())["id"]
    await bot.tell(fourth, "answer")
    await at_dave.answered()
    await at_dave.connected()
    again = (await bot.ask("POST", f"/v1/calls/{made}/join", {"calls": [fourth]})).succeeded(201)["id"]
    await both_over(bot, made, fourth)
    names = {"alice", "bob", "carol", "dave"}
    at = {"alice": at_alice, "bob": at_bob, "carol": at_carol, "dave": at_dave}
    await hear_now({call: names - {name} for name, call in at.items()})
    await bot.tell(again, "leave")
    (await at_dave.end()).succeeded()
    (await at_carol.end()).succeeded()
    await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
    (await at_bob.end()).succeeded()
    await at_alice.over()


async def test_calls_that_cannot_come_together(party, bot):
    alice = await party("alice")
    call = await alice.dial("bot")
    session = (await bot.incoming())["id"]

    async def refused(command: str, status: int, code: str, **fields):
        return (await bot.ask("POST", f"/v1/calls/{session}/{command}", fields)).refused(status, code)

    assert "forwarded" in (await refused("transfer", 409, "call.not_allowed", call="x"))["detail"]
    await refused("join", 409, "call.not_allowed", calls=["x"])
    await bot.tell(session, "answer")
    await call.answered()
    assert '"calls"' in (await refused("join", 400, "request.invalid_value", calls=["x"]))["detail"]
    assert '"call"' in (await refused("bridge", 400, "request.invalid_value", call=session))["detail"]
    await refused("leave", 409, "call.not_allowed")
    bob = await party("bob")
    ringing = (await bot.start("bob"))["id"]
    at_bob = await bob.incoming()
    assert "ringing" in (await refused("bridge", 409, "call.not_allowed", call=ringing))["detail"]
    (await at_bob.reject()).succeeded()
    (await call.end()).succeeded()
