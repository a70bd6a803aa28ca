"""What docs/bots.md has its readers type within sentences and tables, and the requests that it shows: each is run as it
stands, and has the effect that the document says. test_bots_document.py has its blocks."""
import asyncio
import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest_asyncio

from durability import configured
from party import TONES, PartyCall, hear_now
from peers import sound
from peers.bot import DEMO_KEY
from peers.bot_server import BotServer
from peers.documents import (
    block_with,
    changed,
    indented_objects,
    indented_requests,
    inline_code,
    inline_commands,
    shell_blocks,
)
from peers.gateway import BINARY, REPOSITORY, environment
from peers.stream import Stream
from test_bots import answered
from test_bots_document import BOTS, LISTING, SETTING, TAILING, TRYING
from test_public_events import polled
from test_readme import network  # noqa: F401  a fixture
from test_recordings import decoded, seconds, with_key
from test_streams import refused
from test_webhooks import OPEN, Receiver, asked

SERVING = "orbweaver serve"
DEFAULT_STREAM, MOST_STREAMS = "orbweaver app change bot --stream-url", "orbweaver app change bot --maximum-streams"
DECIDING = "orbweaver webhook add bot"
PLAYING, PROMPTING, EXPECTING, CONTINUING = "--play ", "--expect keys:", "--expect", "--since"
COMMANDS = [SERVING, DEFAULT_STREAM, MOST_STREAMS, DECIDING, PLAYING, PROMPTING, EXPECTING, CONTINUING]
"""How they begin. Each has a test."""
PARTS = ["orbweaver call", "--dev"]
"""What is said of commands that are run: each is in a block, or in another one of the document."""
OF_README = "scripts/run"
"""What `test_readme.py` runs."""


def command(begin: str) -> str:
    """The one that begins so; of two, the one that is nothing but that."""
    found = [each for each in inline_commands(BOTS) if each.startswith(begin)]
    found = [each for each in found if each == begin] or found
    assert len(found) == 1, f"{begin!r} begins {found}"
    return found[0]


def test_every_command_within_a_sentence_has_a_test():
    assert set(inline_commands(BOTS)) == {*map(command, COMMANDS), *PARTS, OF_README}
    for part in PARTS:
        longer = [*inline_commands(BOTS), *shell_blocks(BOTS)]
        assert [each for each in longer if f"{part} " in f"{each} " and each != part], part


def test_every_request_that_is_shown_has_a_test():
    assert [*streaming(), *recording()] == indented_requests(BOTS)
    assert (len(streaming()), len(recording()), len(indented_objects(BOTS))) == (3, 6, 3)


def streaming() -> list[tuple[str, str, str]]:
    return [each for each in indented_requests(BOTS) if each[1].endswith("/stream")]


def recording() -> list[tuple[str, str, str]]:
    return [each for each in indented_requests(BOTS) if "/record" in each[1]]


def shell_environment() -> dict[str, str]:
    return environment(PATH=f"{BINARY.parent}:{os.environ['PATH']}")


async def run(script: str, status: int = 0) -> subprocess.CompletedProcess:
    ended = await asyncio.to_thread(
        subprocess.run, ["bash", "-euc", script], capture_output=True, text=True, timeout=60, env=shell_environment()
    )
    assert ended.returncode == status, f"{script}\n{ended.stdout}{ended.stderr}"
    return ended


@asynccontextmanager
async def running(script: str) -> AsyncIterator[asyncio.StreamReader]:
    """What it prints, while it runs."""
    process = await asyncio.create_subprocess_exec(
        "bash", "-euc", script, stdout=asyncio.subprocess.PIPE, env=shell_environment(), start_new_session=True
    )
    try:
        yield process.stdout
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@pytest_asyncio.fixture
async def site(own_gateway, tmp_path):
    """A gateway with all that the document speaks of, the options of its commands, and the application `bot`."""
    for name in ("sounds", "recordings"):
        (tmp_path / name).mkdir()
    sound.tone(tmp_path / "sounds/hello.wav", TONES["carol"], seconds=3)
    options = configured(
        tmp_path, ["alice", "bob"], media={"bind": "127.0.0.1", "folder": tmp_path / "sounds"},
        recordings={"folder": tmp_path / "recordings"}, webhooks=OPEN,
        streams={"plain_ws": "on", "allowed_addresses": "127.0.0.0/8"},
    )  # fmt: skip
    own = await asyncio.to_thread(own_gateway.configured, *options)
    async with await with_key(own, options, "bot", "--address", "bot@dev.local", "--decision-time", "60") as bot:
        yield own, shlex.join(options), bot


def said(own, bot) -> str:
    """What the reader has typed before: where the gateway is, and the key."""
    block = changed(block_with(BOTS, SETTING), **{"http://127.0.0.1:8080": own.http, DEMO_KEY: bot.key})
    return block + "export ORBWEAVER_KEY=$KEY\n"


# The gateway


async def test_a_gateway_to_try_has_an_application(network):  # noqa: F811
    await asyncio.to_thread(network.start, f"exec {command(SERVING)}")
    await asyncio.to_thread(network.wait_until_ready, "http://127.0.0.1:8080", 300)
    setting, listing = block_with(BOTS, SETTING), block_with(BOTS, LISTING)
    assert json.loads(network.run(setting + listing))["items"] == []
    calling = listing.rstrip("\n") + " -H 'Content-Type: application/json' -d '{\"to\":\"nobody@dev.local\"}'"
    assert json.loads(network.run(setting + calling))["from"] == "bot@dev.local"
    without = json.loads(network.run(changed(setting, **{DEMO_KEY: DEMO_KEY[:-1] + "x"}) + listing))
    assert without["code"] == "auth.invalid_token", without


# A call from a shell


async def calls_alice(site, party, words: str) -> tuple[asyncio.Task, PartyCall]:
    """A call that `orbweaver call` places with these words more, and in which alice hears a file: the command, which
    goes on, and her end."""
    own, _, bot = site
    alice = await party("alice", base=own.http, sounds=True)
    script = f"{said(own, bot)}{TRYING} --gateway $BASE --to alice@dev.local {words}"
    process = asyncio.create_task(run(script))
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await hear_now({at_alice: {"carol"}}, still=0)
    return process, at_alice


async def test_a_file_is_played_to_its_end(site, party):
    process, at_alice = await calls_alice(site, party, changed(command(PLAYING), FILE="hello.wav"))
    *states, heard = (await process).stdout.splitlines()
    (printed,) = [each for each in inline_code(BOTS) if each.startswith("played: ")]
    found = re.fullmatch(re.sub(r"\d+", r"(\\d+)", printed), heard)
    assert states == ["ringing", "talking"] and found, heard
    told, real = int(re.search(r"\d+", printed)[0]), int(found[1])
    assert told == 3_000 and abs(real - told) <= 40, "whole pieces of 20 ms"
    await at_alice.over()


async def test_a_key_stops_the_files_that_are_the_prompt(site, party):
    playing = changed(command(PLAYING), FILE="hello.wav")
    process, at_alice = await calls_alice(site, party, f"{playing} {command(PROMPTING)}12")
    (await at_alice.party.media(at_alice.session, type="dtmf", digits="12")).succeeded()
    assert (await process).stdout.splitlines() == ["ringing", "talking"], "their length is not said"
    await at_alice.over()


async def test_each_outcome_can_be_expected(site):
    own, _, bot = site
    sentence = re.search(rf"`{EXPECTING}` takes (.*?)or another cause", (REPOSITORY / BOTS).read_text(), re.DOTALL)[1]
    outcomes = re.findall(r"`([\w:]+)`", sentence)
    assert len(outcomes) == 8 and "unknown" in outcomes
    script = f"{said(own, bot)}{TRYING} --gateway $BASE --to nobody@dev.local {command(EXPECTING)} "
    for outcome in outcomes:
        ended = await run(script + outcome, status=0 if outcome == "unknown" else 1)
        assert bool(ended.stderr) == (outcome != "unknown") and (not ended.stderr or "expected" in ended.stderr)
    assert "maybe is not answered" in (await run(script + "maybe", status=64)).stderr


async def test_the_events_of_the_application_are_printed_and_go_on_behind_one(site):
    own, _, bot = site
    tailing = said(own, bot) + block_with(BOTS, TAILING).rstrip("\n")
    async with running(tailing) as printed:
        first = asyncio.ensure_future(printed.readline())
        async with asyncio.timeout(30):
            while not first.done():  # it prints what happens once it is there
                await bot.start("nobody")
                await asyncio.wait([first], timeout=0.5)
    seen = json.loads(first.result())
    last = await bot.start("nobody")
    await bot.until(last["id"], state="ended")
    events = (await asyncio.to_thread(polled, own.http, bot.key, "oldest"))[0]
    behind = events[events.index(seen) + 1 :]
    async with running(f"{tailing} {command(CONTINUING)} {seen['id']}") as printed:
        async with asyncio.timeout(30):
            assert behind and [json.loads(await printed.readline()) for _ in behind] == behind


# Streams


async def test_streams_go_to_the_url_of_the_application_and_there_are_so_many(site, party):
    own, options, bot = site
    alice = await party("alice", base=own.http, sounds=True)
    async with BotServer(echoes=True) as program:
        await run(f"{changed(command(DEFAULT_STREAM), **{'…': shlex.quote(program.url)})} {options}")
        await run(f"{changed(command(MOST_STREAMS), **{'…': '2'})} {options}")
        call, session = await answered(bot, alice)
        await bot.tell(session, "stream", rate=16_000)
        await hear_now({call: {"alice"}})
        async with Stream(own.http, session, key=bot.key, listen="caller") as listener:
            await listener.expect("start")
            status, problem = await refused(own.http, session, bot.key, listen="caller")
            assert (status, problem["code"]) == (429, "call.limited")
        (await call.end()).succeeded()


async def test_the_gateway_connects_out_and_stops(site, party):
    own, _, bot = site
    alice = await party("alice", base=own.http, sounds=True)
    call, session = await answered(bot, alice)
    connecting, stopping, naming = streaming()
    async with BotServer(echoes=True) as program:
        body = json.loads(changed(connecting[2], **{"wss://bot.example.com/talk": program.url}))
        (await bot.ask(connecting[0], changed(connecting[1], **{"{id}": session}), body)).succeeded()
        socket = await program.socket()
        assert (await socket.expect("start"))["format"]["rate"] == body["rate"] == 16_000
        await hear_now({call: {"alice"}})
        (await bot.ask(stopping[0], changed(stopping[1], **{"{id}": session}), json.loads(stopping[2]))).succeeded()
        assert await socket.closed() == 1000
        await bot.until(session, stream=None)
        # It has not failed: what happens when a program is given up does not happen.
        assert body["fallback"] == "end" and (await bot.show(session))["state"] == "talking"
    async with BotServer(subprotocol=None) as program:
        body = json.loads(changed(naming[2], **{"wss://bot.example.com/talk": program.url}))
        (await bot.ask(naming[0], changed(naming[1], **{"{id}": session}), body)).succeeded()
        socket = await program.socket()

        def start() -> dict:
            return next((each["start"] for each in socket.told if each.get("event") == "start"), {})

        await call.until(start, "has a program that knows of the start")
        assert start()["customParameters"] == body["parameters"] == {"from": "alice@example.com", "tenant": "7"}
    (await call.end()).succeeded()


async def test_a_call_is_started_with_all_that_it_can_have(site, party):
    own, _, bot = site
    alice = await party("alice", base=own.http, sounds=True)
    members = {each for each in inline_code(BOTS) if re.match(r'"\w+": ', each)}
    assert {each.split('"')[1] for each in members} == {"earlyMedia", "stream", "record"}
    async with BotServer(echoes=True) as program:
        text = changed("{" + ", ".join(members) + "}", **{"…": json.dumps(program.url)})
        started = await bot.start("alice", **json.loads(text))
        at_alice = await alice.incoming()
        (await at_alice.answer()).succeeded()
        assert (await (await program.socket()).expect("start"))["call"] == started["id"]
        shown = await bot.recording_call()
        assert shown["id"] == started["id"] and len(shown["recordings"]) == 1
        await hear_now({at_alice: {"alice"}})
        (await at_alice.end()).succeeded()


# Webhooks


async def test_the_answers_of_a_webhook_decide(site, party):
    own, options, bot = site
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    answering, rejecting, transferring = indented_objects(BOTS)
    says: dict = {}
    receiver = Receiver(says=lambda event: says if asked(event) else {})
    url = {"https://bot.example.com/calls": receiver.url}
    added = (await run(f"{changed(command(DECIDING), **url)} {options}")).stdout
    assert len(added.split()) == 2, "its id and its key"

    says.update(answering)
    call = await alice.dial("bot")
    await call.answered()
    news = next(each for each in alice.heard if each.event == "respondCallUpdate")
    assert news.message["customParameters"] == answering["parameters"]
    (await call.end()).succeeded()

    says.clear()
    says.update(rejecting)
    await (await alice.dial("bot")).over()
    ends: list[dict] = []
    async with asyncio.timeout(20):
        while len(ends) < 2:
            ends = (await asyncio.to_thread(polled, own.http, bot.key, "oldest", types="call.ended"))[0]
    assert [each["data"]["cause"] for each in ends] == ["normal_clearing", "user_busy"]

    says.clear()
    says.update(json.loads(changed(json.dumps(transferring), **{"alice@example.com": "bob@dev.local"})))
    call = await alice.dial("bot")
    at_bob = await bob.incoming()
    (await at_bob.answer()).succeeded()
    await call.answered()
    (await at_bob.end()).succeeded()
    await call.over()
    # Each is one of those that are asked for, and no other is sent.
    assert [each["type"] for each in receiver.taken if asked(each)] == ["leg.invited"] * 3
    assert {each["type"] for each in receiver.taken} == {"leg.invited"} and not receiver.faults


# Recordings


async def test_a_recording_is_made_found_fetched_and_removed(site, party):
    own, _, bot = site
    alice = await party("alice", base=own.http, sounds=True)
    call, session = await answered(bot, alice)
    starting, pausing, listing, showing, fetching, removing = recording()

    async def ask(request: tuple[str, str, str], name: str = "", has_body: bool = False):
        method, path, rest = request
        for placeholder, value in (("{id}", session), ("{id of the call}", session), ("{recording}", name)):
            path = path.replace(placeholder, value)
        assert "{" not in path, path
        return await bot.ask(method, path, json.loads(rest) if has_body else None)

    (started,) = (await ask(starting, has_body=True)).succeeded()["recordings"]
    name, wanted = started["id"], json.loads(starting[2])
    assert (started["state"], started["tag"]) == ("recording", wanted["tag"])
    await asyncio.sleep(1.5)  # of what is said
    (paused,) = (await ask(pausing, has_body=True)).succeeded()["recordings"]
    assert paused["state"] == "paused"
    for early in (fetching, removing):
        (await ask(early, name)).refused(409, "recording.not_ended")
    (await call.end()).succeeded()
    await bot.stopped(name)
    assert [each["id"] for each in (await ask(listing)).succeeded()["items"]] == [name]
    shown = (await ask(showing, name)).succeeded()
    assert (shown["state"], shown["tag"]) == ("stopped", wanted["tag"])
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {bot.key}"}) as client:
        file = await client.request(fetching[0], own.http + fetching[1].replace("{recording}", name), timeout=60)
    samples = decoded(file.content)
    assert file.content[:4] == b"RIFF" and samples.shape[0] == wanted["channels"] == 2 and seconds(samples) > 0.5
    (await ask(removing, name)).succeeded()
    (await ask(showing, name)).refused(404, "recording.not_found")
