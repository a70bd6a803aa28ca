"""docs/bots.md as a reader follows it, and the examples for a shell and in Python."""
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from durability import configured
from party import hear_now
from party.tones import MUSIC
from peers.bot import DEMO_KEY, Bot
from peers.documents import block_with, changed, python_block, shell_blocks
from peers.gateway import BINARY, REPOSITORY, environment
from test_public_events import polled
from test_recordings import decoded, heard, seconds, settings, with_key

BOTS = "docs/bots.md"
SETTING, NAMING, TAKING = "BASE=http", "CALL=$(", "/answer"
LISTING = 'curl -sS $BASE/v1/calls -H "Authorization: Bearer $KEY"\n'
GATHERING, ENDING, CALLING, ADDING = "/gather", "/end -H", "order 7", "orbweaver app add"
TRYING, TAILING = "orbweaver call", "orbweaver events tail"  # test_bots_commands.py has the latter
INSTALLING = "pip install"  # test_python_client.py does, without an index
BLOCKS = [SETTING, LISTING, NAMING, TAKING, GATHERING, ENDING, CALLING, TRYING, TAILING, INSTALLING, ADDING]


def test_every_block_of_commands_has_a_test():
    assert len(shell_blocks(BOTS)) == len(BLOCKS)


async def test_five_minutes(gateway, party):
    """But for the port, as printed."""
    blocks = shell_blocks(BOTS)
    said = changed(blocks[0], **{"http://127.0.0.1:8080": gateway.http})

    async def run(number: int, part: str) -> str:
        nonlocal said
        assert part in blocks[number]
        ended = await asyncio.to_thread(
            subprocess.run, ["bash", "-euo", "pipefail", "-c", said + blocks[number]], capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stdout + ended.stderr
        if part == NAMING:
            said += blocks[number]
        return ended.stdout

    def answers(text: str) -> list[dict]:
        """One after the other, without anything between."""
        found, decoder = [], json.JSONDecoder()
        while text := text.strip():
            value, end = decoder.raw_decode(text)
            found.append(value)
            text = text[end:]
        return found

    alice = await party("alice", sounds=True)
    call = await alice.dial("bot")
    async with Bot(gateway.http) as bot:
        session = (await bot.incoming())["id"]
        listed = answers(await run(1, LISTING))[0]["items"]
        assert session in [each["id"] for each in listed]
        # While it rings its name is kept; later blocks use it.
        await run(2, NAMING)
        said = said.replace(blocks[2], f"CALL={session}\n")
        taken, playing = answers(await run(3, TAKING))
        assert (taken["id"], taken["state"]) == (session, "talking") and playing["playing"] == {"waiting": 0}
        await call.answered()
        await call.connected()
        await hear_now({call: {MUSIC}})
        gathering, shown = answers(await run(4, GATHERING))
        assert gathering["gathering"] == shown["gathering"] == {"keys": ""}
        assert answers(await run(5, ENDING))[0]["state"] == "ended"
        await call.over()
        started = answers(await run(6, CALLING))[0]
        at_alice = await alice.incoming()
        assert started["direction"] == "outgoing" and started["context"] == "order 7"
        (await at_alice.reject()).succeeded()
        await bot.until(started["id"], state="ended")


async def test_the_echo_in_python(gateway, party):
    """But for the port, as printed."""
    script = changed(python_block(BOTS), **{"http://127.0.0.1:8080": gateway.http})
    alice = await party("alice", sounds=True)
    call = await alice.dial("bot")
    echo = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )  # fmt: skip
    try:
        await call.answered()
        await call.connected()
        assert json.loads(await asyncio.wait_for(echo.stdout.readline(), 20))["type"] == "start"
        await hear_now({call: {"alice"}})
        (await call.end()).succeeded()
        assert await asyncio.wait_for(echo.wait(), 20) == 0
    finally:
        if echo.returncode is None:
            echo.kill()


async def test_a_call_from_a_shell(gateway, party):
    said = changed(block_with(BOTS, SETTING), **{"http://127.0.0.1:8080": gateway.http})
    alice = await party("alice")
    process = await asyncio.create_subprocess_exec(
        "bash", "-euc", said + block_with(BOTS, TRYING), stdout=asyncio.subprocess.PIPE,
        env=environment(PATH=f"{BINARY.parent}:{os.environ['PATH']}"),
    )  # fmt: skip
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, output) == (0, b"ringing\ntalking\n")
    await at_alice.over()


def test_an_application_of_ones_own(tmp_path):
    options = " ".join(configured(tmp_path, ["alice"]))
    script = block_with(BOTS, ADDING).replace("\n", f" {options}\n")
    ended = subprocess.run(
        ["bash", "-euc", script], capture_output=True, text=True, timeout=60,
        env=environment(PATH=f"{BINARY.parent}:{os.environ['PATH']}"),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    secret, key = ended.stdout.split()
    assert len(secret) == 64 and key.startswith("owk_")


def test_examples_are_short():
    programs = sorted(each for each in (REPOSITORY / "examples").iterdir() if each.suffix in (".sh", ".py"))
    lines = {each.name: len(each.read_text().splitlines()) for each in programs}
    sharing = [each.name for each in programs if ". \"$(dirname \"$0\")/bot.sh\"" in each.read_text()]
    for name in sharing:  # what it shares is part of it
        lines[name] += lines["bot.sh"]
    assert len(lines) >= 8 and len(sharing) >= 4 and max(lines.values()) <= 40, lines


def test_every_example_is_run_by_a_test():
    tests = "".join(each.read_text() for each in Path(__file__).parent.glob("test_*.py"))
    programs = {each.name for each in (REPOSITORY / "examples").iterdir() if each.suffix in (".sh", ".py")}
    run = {name for name in programs if re.search(rf'(?:xample\(\s*"|/|, "|\["){re.escape(name)}"', tests)}
    assert run | {"bot.sh"} == programs, "bot.sh is run by those that source it"


class Example:
    """One that runs until its call is over."""

    def __init__(self, name: str, base: str, **variables: str):
        self._command = ["sh", str(REPOSITORY / "examples" / name)]
        self._variables = environment(BASE=base, PATH=os.environ["PATH"], **variables)

    async def __aenter__(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            *self._command, env=self._variables, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        return self._process

    async def __aexit__(self, failure, *_):
        if failure:
            self._process.kill()
        assert await asyncio.wait_for(self._process.wait(), 20) == 0 or failure


async def test_the_menu_is_heard_chosen_from_and_left(gateway, party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    async with Example("menu.sh", gateway.http, AGENT="bob@dev.local") as menu:
        call = await alice.dial("bot")
        await call.answered()
        await call.connected()
        await hear_now({call: {MUSIC}})
        # The gateway presses the keys in the caller's place.
        (await alice.media(call.session, type="dtmf", digits="2")).succeeded()
        assert await asyncio.wait_for(menu.stdout.readline(), 20) == b"chosen: 2\n"
        at_bob = await bob.incoming()
        (await at_bob.answer()).succeeded()
        await hear_now({call: {"bob"}, at_bob: {"alice"}})
        (await at_bob.end()).succeeded()
        await call.over()


async def test_keys_come_back_from_the_echo(gateway, party):
    alice = await party("alice", sounds=True)
    async with Example("echo.sh", gateway.http) as echo:
        call = await alice.dial("bot")
        await call.answered()
        await call.connected()
        (await alice.media(call.session, type="dtmf", digits="5")).succeeded()
        assert await asyncio.wait_for(echo.stdout.readline(), 20) == b"5\n"
        (await call.end()).succeeded()


async def test_the_bridge_brings_caller_and_agent_together(gateway, party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    async with Example("bridge.sh", gateway.http, AGENT="bob@dev.local") as bridge:
        call = await alice.dial("bot")
        await call.answered()
        await call.connected()
        at_bob = await bob.incoming()
        await hear_now({call: {MUSIC}})
        (await at_bob.answer()).succeeded()
        await at_bob.connected()
        assert await asyncio.wait_for(bridge.stdout.readline(), 20) == b"bridged with bob@dev.local\n"
        await hear_now({call: {"bob"}, at_bob: {"alice"}})
        (await at_bob.end()).succeeded()
        await call.over()


async def test_the_bridge_ends_a_call_that_the_agent_declines(gateway, party):
    alice, bob = await party("alice", sounds=True), await party("bob")
    async with Example("bridge.sh", gateway.http, AGENT="bob@dev.local") as bridge:
        call = await alice.dial("bot")
        await call.answered()
        at_bob = await bob.incoming()
        (await at_bob.reject()).succeeded()
        assert await asyncio.wait_for(bridge.stdout.readline(), 20) == b"not bridged\n"
        await call.over()


@asynccontextmanager
async def python_example(name: str, installed, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """One that goes on for as long as the test needs it."""
    process = await asyncio.create_subprocess_exec(
        str(installed.python), str(REPOSITORY / "examples" / name), env=environment(**variables),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_two_callers_hear_themselves_from_the_echo_in_python(installed, gateway, party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    async with python_example("echo.py", installed, BASE=gateway.http) as echo:

        async def printed(type: str) -> dict:
            async with asyncio.timeout(20):
                while (message := json.loads(await echo.stdout.readline()))["type"] != type:
                    pass
            return message

        calls = {}
        for person in (alice, bob):
            call = calls[person.name] = await person.dial("bot")
            await call.answered()
            await call.connected()
            assert (await printed("start"))["from"] == person.user
        await hear_now({call: {name} for name, call in calls.items()})
        for call in calls.values():
            (await call.end()).succeeded()
            assert (await printed("end"))["reason"] == "callEnded"
        # It takes the next call.
        again = await alice.dial("bot")
        await again.answered()
        await again.connected()
        await hear_now({again: {"alice"}})
        (await again.end()).succeeded()


async def test_the_supervisor_hears_both_and_is_not_heard(installed, gateway, party, tmp_path):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    file = tmp_path / "call.wav"
    async with python_example(
        "supervisor.py", installed, BASE=gateway.http, AGENT="bob@dev.local", FILE=str(file)
    ) as supervisor:
        call = await alice.dial("bot")
        await call.answered()
        await call.connected()
        at_bob = await bob.incoming()
        (await at_bob.answer()).succeeded()
        await at_bob.connected()
        await hear_now({call: {"bob"}, at_bob: {"alice"}})
        await asyncio.sleep(2)  # of what is written
        (await at_bob.end()).succeeded()
        await call.over()
        assert await asyncio.wait_for(supervisor.wait(), 20) == 0
    samples = decoded(file.read_bytes())
    assert seconds(samples) > 1
    assert heard(samples[0], start=0) == {"alice", "bob"}


async def test_the_voicemail_keeps_what_was_said_and_lists_it(installed, own_gateway, party, tmp_path):
    options = settings(tmp_path)
    own = await asyncio.to_thread(own_gateway.configured, *options)
    alice = await party("alice", base=own.http, sounds=True)
    async with await with_key(own, options, "box", "--address", "box@dev.local", "--decision-time", "60") as bot:
        async with python_example("voicemail.py", installed, BASE=own.http, KEY=bot.key) as voicemail:
            messages: list[str] = []
            for _ in range(2):
                call = await alice.dial("box")
                await call.answered()
                await call.connected()
                await bot.recording_call()
                await asyncio.sleep(2)  # of what is said
                (await call.end()).succeeded()
                lines = [await asyncio.wait_for(voicemail.stdout.readline(), 20) for _ in range(len(messages) + 1)]
                listed = [line.decode().split()[-1] for line in lines]
                assert listed[:-1] == messages
                messages = listed
        for message in messages:
            recording = message.removeprefix(f"{own.http}/v1/recordings/").removesuffix("/audio")
            samples = decoded(await bot.file(recording))
            assert seconds(samples) > 1 and heard(samples[0]) == {"alice"}


class Tail:
    """One of events, until it is stopped. It keeps its cursor in a file."""

    def __init__(self, command: list[str], base: str, cursor: Path):
        self._command = command
        self._variables = environment(BASE=base, CURSOR=str(cursor), PATH=os.environ["PATH"])
        self._cursor = cursor

    async def __aenter__(self) -> "Tail":
        self._process = await asyncio.create_subprocess_exec(
            *self._command, env=self._variables, stdout=asyncio.subprocess.PIPE, limit=1 << 20, start_new_session=True
        )
        async with asyncio.timeout(20):
            while not (self._cursor.exists() and self._cursor.read_text().strip()):
                await asyncio.sleep(0.05)
        return self

    async def until_the_end_of_a_call(self) -> list[dict]:
        found: list[dict] = []
        async with asyncio.timeout(30):
            while not found or found[-1]["type"] != "call.ended":
                found.append(json.loads(await self._process.stdout.readline()))
        # Its cursor is written behind what it says.
        async with asyncio.timeout(20):
            while self._cursor.read_text().strip() != found[-1]["id"]:
                await asyncio.sleep(0.05)
        return found

    async def __aexit__(self, *_):
        os.killpg(self._process.pid, signal.SIGKILL)  # a shell and its pipeline
        await self._process.wait()


@pytest.mark.parametrize("name", ["events.sh", "events.py"])
async def test_a_tail_of_events_misses_nothing_while_it_does_not_run(name, installed, own_gateway, peer, tmp_path):
    gateway = own_gateway()
    program = str(REPOSITORY / "examples" / name)
    command = ["sh", program] if name.endswith(".sh") else [str(installed.python), program]
    alice = await peer("alice", base=gateway.http)

    async def call(context: str):
        async with Bot(gateway.http) as bot:
            started = await bot.start("alice", context=context)
            await alice.expect("call")
            await bot.tell(started["id"], "end")
            await alice.expect("callEnd")
            return started["call"]

    before = polled(gateway.http, DEMO_KEY)[1]
    told = []
    async with Tail(command, gateway.http, tmp_path / "cursor") as tail:
        first = await call("seen as it happens")
        told += await tail.until_the_end_of_a_call()
    second = await call("while nobody looks")
    async with Tail(command, gateway.http, tmp_path / "cursor") as tail:
        told += await tail.until_the_end_of_a_call()
    assert told == polled(gateway.http, DEMO_KEY, before)[0]
    assert [each["call"] for each in told if each["type"] == "call.ended"] == [first, second]
