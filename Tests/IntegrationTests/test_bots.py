"""Applications that take and place calls over `/v1`, with clients and browsers on the other side (docs/bots.md)."""
import asyncio
import time
import uuid

import pytest
import pytest_asyncio

from party import hear_now
from party.tones import MUSIC
from peers.bot import Bot
from peers.event_contract import checked
from peers.phone_page import PhonePage

BOT = "bot@dev.local"


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


async def answered(bot: Bot, caller, **fields):
    """A call of a client to the bot, which has taken it."""
    call = await caller.dial("bot", **fields)
    incoming = await bot.incoming()
    await bot.tell(incoming["id"], "answer")
    await call.answered()
    if caller.sounds:
        await call.connected()
    return call, incoming["id"]


# Incoming


async def test_a_bot_takes_a_call_and_plays_and_hangs_up(party, bot):
    alice = await party("alice", sounds=True)
    call = await alice.dial("bot")
    incoming = await bot.incoming()
    assert (incoming["from"], incoming["to"], incoming["direction"]) == ("alice@dev.local", BOT, "incoming")
    assert incoming["allowed"] == ["ring", "progress", "answer", "reject", "end", "transfer"]
    session = incoming["id"]
    # The application of --dev has a minute to decide; after that there is nothing to wait for.
    assert 55 < incoming["decideBy"] / 1_000 - time.time() < 65
    assert "decideBy" not in await bot.tell(session, "ring")
    shown = await bot.tell(session, "answer")
    assert shown["state"] == "talking" and shown["version"] > incoming["version"]
    await call.answered()
    await call.connected()
    await hear_now({call: set()})

    playing = await bot.tell(session, "play", items=[{"tone": "dial"}], tag="greeting")
    assert playing["playing"] == {"tag": "greeting", "waiting": 0}
    await hear_now({call: {MUSIC}})
    await bot.tell(session, "stop")
    await bot.until(session, playing=None)
    await hear_now({call: set()})
    await bot.tell(session, "play", items=[{"tone": "dial", "duration": 400}])
    await bot.until(session, playing=None)

    ended = await bot.tell(session, "end", reasonText="That was it")
    assert ended["state"] == "ended" and ended["ending"]["cause"] == "normal_clearing" and ended["allowed"] == []
    await call.over()
    refused = await bot.ask("POST", f"/v1/calls/{session}/play", {"items": [{"tone": "dial"}]})
    assert refused.refused(409, "call.not_allowed")["state"] == "ended"


async def test_a_caller_who_hangs_up_ends_the_call_of_the_bot(party, bot):
    alice = await party("alice")
    call, session = await answered(bot, alice)
    (await call.end()).succeeded()
    ended = await bot.until(session, state="ended")
    assert ended["ending"] == {"cause": "normal_clearing", "statusCode": 200}
    assert session in [each["id"] for each in await bot.calls(state="ended")]


@pytest.mark.parametrize("cause", ["declined", "busy", "unavailable", "notFound"])
async def test_a_bot_refuses_a_call(party, bot, cause):
    alice = await party("alice")
    call = await alice.dial("bot")
    incoming = await bot.incoming()
    assert (await bot.tell(incoming["id"], "reject", cause=cause))["state"] == "ended"
    await call.over()


async def test_the_caller_hears_the_bot_before_the_answer(party, bot):
    alice = await party("alice", sounds=True)
    call = await alice.dial("bot", supported=["earlymedia"])
    session = (await bot.incoming())["id"]
    shown = await bot.tell(session, "progress", items=[{"tone": "special-information"}])
    assert shown["state"] == "progressing"
    await call.until(lambda: MUSIC in call.hears(), "hears the tone before the answer")
    await bot.tell(session, "answer")
    await call.answered()
    await bot.tell(session, "end")
    await call.over()


async def test_hold_and_mute(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    await bot.tell(session, "play", items=[{"tone": "dial"}])
    await hear_now({call: {MUSIC}})
    assert (await bot.tell(session, "mute"))["muted"] is True
    await hear_now({call: set()})
    assert (await bot.tell(session, "unmute"))["muted"] is False
    await hear_now({call: {MUSIC}})
    assert (await bot.tell(session, "hold"))["state"] == "held"
    await call.until(lambda: call.remotely_held, "held")
    refused = (await bot.ask("POST", f"/v1/calls/{session}/hold")).refused(409, "call.not_allowed")
    assert "resume" in refused["allowed"] and refused["call"]["id"] == session
    assert (await bot.tell(session, "resume"))["state"] == "talking"
    await call.until(lambda: not call.remotely_held, "no longer held")
    await bot.tell(session, "end")
    await call.over()


async def test_parameters_and_bodies_reach_the_other_side(party, bot):
    alice = await party("alice")
    call, session = await answered(bot, alice)
    alice.forget()
    await bot.tell(
        session, "send", parameters=[{"name": "X-Order", "value": "7"}],
        bodies=[{"contentType": "text/plain", "body": "hello"}],
    )  # fmt: skip
    told = await alice.expect("customParameters", call.session)
    assert told.message["customParameters"] == [{"name": "X-Order", "value": "7"}]
    assert [each["body"] for each in told.message["customBodies"]] == ["hello"]
    await bot.tell(session, "end")
    await call.over()


async def events(bot: Bot, call: str, *types: str) -> list[dict]:
    """The events of a call so far, of these types."""
    found, place, before = [], "oldest", None
    while place != before:
        query = f"since={place}&wait=0&calls={call}&types={','.join(types)}"
        page = (await bot.ask("GET", f"/v1/events?{query}", Accept="application/json")).succeeded()
        found += [checked(each) for each in page["events"]]
        place, before = page["next"], place
    return found


async def test_bodies_of_the_other_side_reach_the_bot(party, bot):
    def bodies(text):
        return [
            {"contentType": "text/plain", "contentDisposition": "render", "body": text},
            {"contentType": "a/b", "body": ""},
        ]

    async def carried(call: str, type: str) -> list[dict]:
        async with asyncio.timeout(20):
            while not (found := await events(bot, call, type)):
                await asyncio.sleep(0.05)
        return [each["data"].get("bodies") for each in found]

    alice = await party("alice")
    at_alice = await alice.dial("bot", customBodies=bodies("☎ start"))
    incoming = await bot.incoming()
    assert await carried(incoming["call"], "leg.invited") == [bodies("☎ start")]
    await bot.tell(incoming["id"], "answer")
    await at_alice.answered()
    assert await carried(incoming["call"], "call.answered") == [None], "the bot has sent none"
    (await alice.operate(at_alice.session, "sendCustomHeaders", customBodies=bodies("alone"))).succeeded()
    assert await carried(incoming["call"], "leg.received") == [bodies("alone")]
    await bot.tell(incoming["id"], "end")
    await at_alice.over()

    started = await bot.start("alice")
    at_alice = await alice.incoming()
    (await at_alice.answer(customBodies=bodies("answer"))).succeeded()
    assert await carried(started["call"], "call.answered") == [bodies("answer")]
    await bot.tell(started["id"], "end")
    await at_alice.over()


# Transfer


async def test_a_call_is_transferred_to_a_user(party, bot):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    call, session = await answered(bot, alice)
    await bot.tell(session, "transfer", to="bob@dev.local")
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    ended = await bot.until(session, state="ended")
    assert ended["ending"]["cause"] in ("left", "normal_clearing")
    await hear_now({call: {"bob"}, at_bob: {"alice"}})
    (await at_bob.end()).succeeded()
    await call.over()


async def test_a_call_is_forwarded_before_the_answer(party, bot):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    call = await alice.dial("bot")
    session = (await bot.incoming())["id"]
    await bot.tell(session, "transfer", to="bob@dev.local")
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    await call.answered()
    assert (await bot.show(session))["state"] == "ended"
    await hear_now({call: {"bob"}, at_bob: {"alice"}})
    (await at_bob.end()).succeeded()
    await call.over()


# Keys


async def test_keys_of_a_browser_are_gathered(gateway, browser, bot):
    phone = await asyncio.to_thread(lambda: PhonePage.open(browser(), gateway.http, "alice"))
    await asyncio.to_thread(phone.run, f"dial('{BOT}')")
    session = (await bot.incoming())["id"]
    await bot.tell(session, "answer")
    await asyncio.to_thread(phone.wait_for_view, "connected")
    await asyncio.to_thread(phone.wait_for, "report?.audio !== undefined")

    async def press(keys: str):
        await asyncio.to_thread(
            phone.run, f"call.pc.getSenders().find((each) => each.dtmf).dtmf.insertDTMF('{keys}', 200, 100)"
        )

    gathering = await bot.tell(
        session, "gather", maximum=4, terminators="#", firstTimeout=20_000, betweenTimeout=20_000, tag="pin",
        prompt={"items": [{"tone": "dial"}]},
    )  # fmt: skip
    assert gathering["gathering"] == {"tag": "pin", "keys": ""}
    await press("12")
    await bot.until(session, gathering={"tag": "pin", "keys": "12"})
    await press("#")
    await bot.until(session, gathering=None)
    await bot.tell(session, "end")
    await asyncio.to_thread(phone.wait_for_view, "ended")
    facts = [
        event["fact"]["gathered"] for events in gateway.events().values() for event in events
        if "gathered" in event["fact"]
    ]  # fmt: skip
    assert [fact for fact in facts if "pin" in str(fact) and "12" in str(fact).replace("', '", "")], facts
    await asyncio.to_thread(phone.unregister)


async def test_a_key_stops_the_prompt_and_what_is_queued_behind_it_is_heard(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    await bot.tell(session, "gather", maximum=2, prompt={"items": [{"tone": "dial"}]}, tag="pin")
    await bot.tell(session, "play", items=[{"music": True}], mode="queue", tag="next")
    assert (await bot.show(session))["playing"] == {"tag": "pin", "waiting": 1}
    (await alice.media(call.session, type="dtmf", digits="5")).succeeded()
    shown = await bot.until(session, playing={"tag": "next", "waiting": 0})
    assert shown["gathering"] == {"tag": "pin", "keys": "5"}
    await hear_now({call: {MUSIC}})
    await bot.tell(session, "end")
    await call.over()


async def test_what_a_caller_who_hangs_up_cuts_off_is_told_with_what_was_heard_and_pressed(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    began = time.monotonic()
    shown = await bot.tell(session, "play", items=[{"music": True}], tag="first")
    await bot.tell(session, "play", items=[{"tone": "busy", "duration": 1_000}], mode="queue", tag="second")
    await bot.tell(session, "gather", maximum=4, firstTimeout=60_000, betweenTimeout=60_000, tag="pin")
    (await alice.media(call.session, type="dtmf", digits="4")).succeeded()
    await bot.until(session, gathering={"tag": "pin", "keys": "4"})
    await hear_now({call: {MUSIC}})
    await asyncio.sleep(2)  # all of which alice hears
    (await call.end()).succeeded()
    ended = time.monotonic()
    async with asyncio.timeout(20):
        while len(found := await events(bot, shown["call"], "playback.ended", "gather.ended")) < 3:
            await asyncio.sleep(0.05)
    assert all("sequence" not in each and each["leg"] == 1 for each in found)
    told = {each["data"]["tag"]: each["data"] for each in found}
    assert [each["outcome"] for each in told.values()] == ["callEnded"] * 3
    assert told["pin"]["keys"] == "4"
    assert 1_500 < told["first"]["heardMilliseconds"] < (ended - began) * 1_000 + 500
    assert told["second"]["heardMilliseconds"] == 0
    shown = await bot.until(session, state="ended")
    assert shown["played"] == told["first"]
    assert "playing" not in shown and "gathering" not in shown


# Outgoing


async def test_a_bot_calls_a_user(party, bot):
    bob = await party("bob", sounds=True)
    started = await bot.start("bob", displayName="The robot", context="order 7")
    assert (started["direction"], started["from"], started["context"]) == ("outgoing", BOT, "order 7")
    at_bob = await bob.incoming()
    await bot.until(started["id"], state="ringing")
    (await at_bob.answer()).succeeded()
    talking = await bot.until(started["id"], state="talking")
    assert talking["members"][0]["address"] == "bob@dev.local" and talking["answeredAt"]
    await at_bob.connected()
    await bot.tell(started["id"], "play", items=[{"music": True}])
    await hear_now({at_bob: {MUSIC}})
    (await at_bob.end()).succeeded()
    assert (await bot.until(started["id"], state="ended"))["ending"]["cause"] == "normal_clearing"


async def test_a_user_who_declines_or_does_not_exist(party, bot):
    bob = await party("bob")
    started = await bot.start("bob")
    at_bob = await bob.incoming()
    (await at_bob.reject()).succeeded()
    assert (await bot.until(started["id"], state="ended"))["ending"]["cause"] == "call_rejected"
    gone = await bot.start("nobody")
    assert (await bot.until(gone["id"], state="ended"))["ending"]["cause"] == "unallocated_number"
    refused = await bot.ask("POST", "/v1/calls", {"to": "bob@dev.local", "from": "alice@dev.local"})
    refused.refused(403, "call.not_owner")


# Races


async def test_a_hundred_equal_requests_at_once_make_one_call(party, bot):
    bob = await party("bob")
    key, wish = str(uuid.uuid4()), {"to": "bob@dev.local"}
    answers = await asyncio.gather(
        *(bot.ask("POST", "/v1/calls", wish, Idempotency_Key=key) for _ in range(100))
    )  # fmt: skip
    assert {(each.status, each.text) for each in answers} == {(201, answers[0].text)}
    assert sum("Idempotent-Replayed" not in each.headers for each in answers) == 1
    assert {each.headers["Location"] for each in answers} == {f"/v1/calls/{answers[0].body['id']}"}
    session = answers[0].body["id"]
    at_bob = await bob.incoming()
    assert [each["id"] for each in await bot.calls(state="ringing")] == [session]
    other = await bot.ask("POST", "/v1/calls", {"to": "alice@dev.local"}, Idempotency_Key=key)
    other.refused(422, "idempotency.key_reused")
    await bot.tell(session, "end")
    await at_bob.over()


async def test_an_application_with_too_many_keys_is_told_when_to_come_back_and_loses_none(own_gateway, party):
    own = own_gateway("--set", "applications.idempotency_keys=100")
    alice = await party("alice", base=own.http)
    async with Bot(own.http) as bot:
        call, session = await answered(bot, alice)
        commands = [f"/v1/calls/{session}/{each}" for each in ["mute", "unmute"] * 50]
        first, *_ = [
            await bot.ask("POST", path, Idempotency_Key=f"k{number}") for number, path in enumerate(commands)
        ]
        refused = await bot.ask("POST", commands[0], Idempotency_Key="more")
        refused.refused(429, "idempotency.limited")
        assert 86_000 < int(refused.headers["Retry-After"]) <= 86_401
        again = await bot.ask("POST", commands[0], Idempotency_Key="k0")
        assert again.text == first.text and again.headers["Idempotent-Replayed"] == "true"
        await bot.tell(session, "end")
        await call.over()


async def test_of_commands_for_one_version_one_wins(party, bot):
    alice = await party("alice")
    call, session = await answered(bot, alice)
    version = f'"{(await bot.show(session))["version"]}"'
    commands = ["hold", "mute"] * 10
    answers = await asyncio.gather(
        *(bot.ask("POST", f"/v1/calls/{session}/{each}", If_Match=version) for each in commands)
    )  # fmt: skip
    won = [each for each in answers if each.status == 200]
    assert len(won) == 1, [each.text for each in answers]
    for lost in (each for each in answers if each.status != 200):
        true = lost.refused(412, "call.version_mismatch")
        assert lost.headers["ETag"] == f'"{true["call"]["version"]}"' != version
    await bot.tell(session, "end")
    await call.over()


async def test_a_refused_command_is_carried_out_under_the_same_key_once_it_is_possible(party, bot):
    alice = await party("alice")
    call = await alice.dial("bot")
    session = (await bot.incoming())["id"]
    path, key = f"/v1/calls/{session}/hold", str(uuid.uuid4())
    (await bot.ask("POST", path, Idempotency_Key=key)).refused(409, "call.not_allowed")
    await bot.tell(session, "answer")
    await call.answered()
    late = await bot.ask("POST", path, Idempotency_Key=key, If_Match='"1"')
    late.refused(412, "call.version_mismatch")
    held = await bot.ask("POST", path, Idempotency_Key=key)
    assert held.succeeded()["state"] == "held" and "Idempotent-Replayed" not in held.headers
    again = await bot.ask("POST", path, Idempotency_Key=key, If_Match='"1"')
    assert again.text == held.text and again.headers["Idempotent-Replayed"] == "true"
    await bot.tell(session, "end")
    await call.over()
