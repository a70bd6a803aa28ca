"""`orbweaver call` and `orbweaver events tail --as-application`: calls from a shell, and what its status says."""
import asyncio
import json
import re
import signal
import subprocess

import pytest
import pytest_asyncio

from durability import configured
from party import TONES, hear_now
from peers import sound
from peers.bot import Bot
from peers.gateway import BINARY, environment, orbweaver
from test_public_events import polled


class Shell:
    """A gateway with the applications `caller` and `box`, and a folder with `hello.wav`, three seconds of a tone, and
    `noise.wav`, which is no WAV."""

    def __init__(self, own_gateway, folder):
        (folder / "sounds").mkdir()
        sound.tone(folder / "sounds/hello.wav", TONES["carol"], seconds=3)
        (folder / "sounds/noise.wav").write_bytes(bytes(range(256)) * 16)
        media = {"bind": "127.0.0.1", "folder": folder / "sounds"}
        options = configured(folder, ["alice"], media=media)
        scopes = ("calls:read", "calls:write", "media", "events")
        self.key = self._application(options, "caller", "caller@dev.local", scopes)
        self.box = self._application(options, "box", "box@dev.local", scopes)
        self.gateway = own_gateway.configured(*options)

    @staticmethod
    def _application(options, name: str, address: str, scopes) -> str:
        wanted = [word for scope in scopes for word in ("--scope", scope)]
        added = orbweaver("app", "add", name, "--address", address, "--decision-time", "60", *wanted, *options)
        assert added.returncode == 0, added.stderr
        return orbweaver("app", "key", "add", name, *options).stdout.strip()

    async def start(self, *arguments: str, key: str | None = None) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            BINARY, *arguments, "--gateway", self.gateway.http, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(ORBWEAVER_KEY=key or self.key),
        )  # fmt: skip

    async def call(self, to: str, *arguments: str) -> asyncio.subprocess.Process:
        return await self.start("call", "--to", to, *arguments)


async def ended(process: asyncio.subprocess.Process, status: int, *reasons: str) -> list[str]:
    """The lines that it has printed."""
    output, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == status, output.decode() + errors.decode()
    for reason in reasons:
        assert reason in errors.decode()
    assert bool(errors) == bool(status), errors.decode()
    return output.decode().splitlines()


@pytest_asyncio.fixture
async def shell(own_gateway, tmp_path) -> Shell:
    return Shell(own_gateway, tmp_path)


@pytest.fixture
def base(shell) -> str:
    return shell.gateway.http


async def test_an_answer_is_expected_and_everything_is_played(shell, base, party):
    alice = await party("alice", base=base, sounds=True)
    process = await shell.call("alice@dev.local", "--play", "hello.wav", "--name", "The robot")
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await hear_now({at_alice: {"carol"}}, still=0)
    lines = await ended(process, 0)
    assert lines[:2] == ["ringing", "talking"] and len(lines) == 3
    # Whole pieces of 20 ms.
    heard = re.fullmatch(r"played: (\d+) ms were heard", lines[2])
    assert heard and 2_980 <= int(heard[1]) <= 3_040, lines[2]
    await at_alice.over()
    # The callee does not stay for all of it.
    process = await shell.call("alice@dev.local", "--play", "hello.wav", "--play", "hello.wav")
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await hear_now({at_alice: {"carol"}}, still=0)
    (await at_alice.end()).succeeded()
    lines = await ended(process, 1, "expected an answer: the call is over: normal_clearing")
    assert lines == ["ringing", "talking", "ended: normal_clearing"]
    # What cannot be played is said, and the call ends.
    for file, reason in (
        ("nothing.wav", "is not in the media folder: nothing.wav"),
        ("noise.wav", "is damaged, or of a format that the gateway does not play: noise.wav"),
    ):
        process = await shell.call("alice@dev.local", "--play", file)
        at_alice = await alice.incoming()
        (await at_alice.answer()).succeeded()
        await ended(process, 1, reason)
        await at_alice.over()


async def test_what_another_command_stops_was_not_played(shell, base, party):
    alice = await party("alice", base=base, sounds=True)
    process = await shell.call("alice@dev.local", *["--play", "hello.wav"] * 10)
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await hear_now({at_alice: {"carol"}}, still=0)
    async with Bot(base, shell.key) as bot:
        # The same application stops it from elsewhere.
        [call] = await bot.calls(state="talking")
        await bot.tell(call["id"], "stop")
        shown = await bot.until(call["id"], playing=None)
        assert shown["played"]["outcome"] == "stopped" and shown["played"]["heardMilliseconds"] > 0
        await ended(process, 1, "expected an answer: another command stopped hello.wav, ", " ms were heard")
    await at_alice.over()


@pytest.mark.parametrize(("pressed", "status", "reason"), [("12", 0, []), ("13", 1, ["the callee pressed 13"])])
async def test_keys_are_expected(shell, base, party, pressed, status, reason):
    alice = await party("alice", base=base, sounds=True)
    process = await shell.call("alice@dev.local", "--play", "hello.wav", "--expect", "keys:12")
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await hear_now({at_alice: {"carol"}}, still=0)
    (await alice.media(at_alice.session, type="dtmf", digits=pressed)).succeeded()
    assert await ended(process, status, *reason) == ["ringing", "talking"]
    await at_alice.over()


async def test_keys_are_pressed(shell, base):
    async with Bot(base, shell.box) as box:
        process = await shell.call("box@dev.local", "--keys", "4,2", "--expect", "ended")
        session = (await box.incoming())["id"]
        await box.tell(session, "answer")
        await box.tell(session, "gather", maximum=2, firstTimeout=20_000, betweenTimeout=20_000)
        gathered: list[dict] = []
        async with asyncio.timeout(30):
            while not gathered:
                gathered = (await asyncio.to_thread(polled, base, shell.box, "oldest", types="gather.ended"))[0]
        assert [each["data"]["keys"] for each in gathered] == ["42"]
        await box.tell(session, "end")
        assert await ended(process, 0) == ["ringing", "talking", "ended: normal_clearing"]


async def test_an_end_is_expected(shell, base, party):
    alice = await party("alice", base=base)
    for expected, status in (("rejected", 0), ("call_rejected", 0), ("busy", 1)):
        process = await shell.call("alice@dev.local", "--expect", expected)
        (await (await alice.incoming()).reject()).succeeded()
        await ended(process, status, *["the call is over: call_rejected, it was not answered"] * status)
    await ended(await shell.call("nobody@dev.local", "--expect", "unknown"), 0)
    for expected, status in (("unanswered", 0), ("answered", 1)):
        process = await shell.call("alice@dev.local", "--expect", expected, "--timeout", "2")
        ringing = await alice.incoming()
        await ended(process, status, *["no_answer"] * status)
        await ringing.over()
    # It waits for keys that nobody presses.
    process = await shell.call("alice@dev.local", "--expect", "keys:1", "--timeout", "3")
    at_alice = await alice.incoming()
    (await at_alice.answer()).succeeded()
    await ended(process, 1, "expected the keys 1: nothing of it in 3 s: the call is talking")
    await at_alice.over()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_who_interrupts_it_ends_the_call(shell, base, party, number):
    alice = await party("alice", base=base)
    process = await shell.call("alice@dev.local")
    ringing = await alice.incoming()
    process.send_signal(number)
    await ended(process, 1, "interrupted")
    await ringing.over()


async def test_wrong_usage_and_refusals_are_explained(shell, base):
    for arguments, said in (
        (["--expect", "maybe"], "maybe is not answered, keys:DIGITS"), (["--timeout", "0"], "--timeout must be"),
        (["--keys", "12x"], "--keys must be"), (["--gateway", "gateway.example.com"], "no URL of the form"),
    ):  # fmt: skip
        wrong = await asyncio.to_thread(orbweaver, "call", "--to", "a@dev.local", *arguments, ORBWEAVER_KEY="owk_1")
        assert wrong.returncode in (1, 64) and said in wrong.stderr
    without = await asyncio.to_thread(orbweaver, "call", "--to", "alice@dev.local")
    assert without.returncode == 64 and "ORBWEAVER_KEY" in without.stderr
    await ended(await shell.start("call", "--to", "alice@dev.local", key="owk_" + "1" * 42), 1, "orbweaver: ")
    await ended(await shell.call("alice@dev.local", "--from", "alice@dev.local"), 1, "orbweaver: ")
    nobody = await asyncio.to_thread(
        orbweaver, "call", "--to", "a@dev.local", "--gateway", "http://127.0.0.1:1", ORBWEAVER_KEY=shell.key
    )
    assert nobody.returncode == 1 and "127.0.0.1:1" in nobody.stderr


async def test_a_tail_shows_the_calls_of_the_application(shell, base, party):
    alice = await party("alice", base=base)
    start = polled(base, shell.key)[1]

    async def one_call():
        process = await shell.call("alice@dev.local", "--expect", "rejected")
        (await (await alice.incoming()).reject()).succeeded()
        await ended(process, 0)

    async def read(tail: asyncio.subprocess.Process, count: int) -> list[dict]:
        async with asyncio.timeout(20):
            return [json.loads(await tail.stdout.readline()) for _ in range(count)]

    await one_call()
    kept = (await asyncio.to_thread(polled, base, shell.key, start))[0]
    tails = [await shell.start("events", "tail", "--as-application", "--since", start)]
    assert await read(tails[0], len(kept)) == kept and kept[-1]["type"] == "call.ended"
    await one_call()
    more = (await asyncio.to_thread(polled, base, shell.key, kept[-1]["id"]))[0]
    assert await read(tails[0], len(more)) == more
    tails.append(
        await shell.start("events", "tail", "--as-application", "--since", start, "--call", more[0]["call"])
    )
    assert await read(tails[1], len(more)) == more
    for tail in tails:
        tail.terminate()
        await tail.wait()
    await ended(await shell.start("events", "tail", "--as-application", key="owk_" + "1" * 42), 1, "orbweaver: ")
