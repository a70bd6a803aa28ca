"""Applications of `orbweaver app`: their addresses, sounds, fallbacks, limits and keys (docs/bots.md)."""
import asyncio
from contextlib import asynccontextmanager

import pytest

from durability import configured
from party import TONES, hear_now
from peers import sound
from peers.bot import Bot
from peers.gateway import orbweaver


@asynccontextmanager
async def application(own, options, name: str, *details: str):
    """One that is added to a gateway that runs, and a bot with its key."""
    added = await asyncio.to_thread(orbweaver, "app", "add", name, *details, *options)
    assert added.returncode == 0, added.stderr
    key = await asyncio.to_thread(orbweaver, "app", "key", "add", name, *options)
    assert key.returncode == 0 and key.stdout.startswith("owk_"), key.stderr
    async with Bot(own.http, key.stdout.strip()) as bot:
        yield bot


async def change(options, name: str, *details: str):
    changed = await asyncio.to_thread(orbweaver, "app", "change", name, *details, *options)
    assert changed.returncode == 0, changed.stderr


@pytest.fixture
def own(own_gateway, tmp_path):
    """A gateway with users and sounds of its own, and the options of its commands."""
    folder = tmp_path / "sounds"
    folder.mkdir()
    sound.tone(folder / "hello.wav", TONES["carol"], seconds=3)
    options = configured(tmp_path, ["alice", "bob"], media={"bind": "127.0.0.1", "folder": folder})
    return own_gateway.configured(*options), options


async def test_a_file_is_played_as_a_greeting_and_as_a_fallback(own, party):
    own, options = own
    alice = await party("alice", base=own.http, sounds=True)
    async with application(own, options, "box", "--address", "box@dev.local", "--decision-time", "60") as bot:
        call = await alice.dial("box")
        session = (await bot.incoming())["id"]
        await bot.tell(session, "answer")
        await call.answered()
        await bot.tell(session, "play", items=[{"file": "hello.wav"}], loops=0)
        await hear_now({call: {"carol"}})
        missing = await bot.ask("POST", f"/v1/calls/{session}/play", {"items": [{"file": "nothing.wav"}]})
        assert "file" in missing.refused(400, "request.invalid_value")["detail"]
        await bot.tell(session, "end")
        await call.over()
        # Nobody decides.
        await change(options, "box", "--decision-time", "0.2", "--fallback", "announce:hello.wav")
        call = await alice.dial("box")
        await call.answered()
        await hear_now({call: {"carol"}}, still=0)
        await call.over()


async def test_nobody_decides_in_time(own, party):
    own, options = own
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    details = ("--address", "*@bots.dev", "--decision-time", "0.3", "--fallback", "reject:busy")
    async with application(own, options, "lazy", *details) as bot:
        call = await alice.dial("any@bots.dev")
        await call.over()
        ended = (await bot.calls(state="ended"))[0]
        assert ended["to"] == "any@bots.dev" and ended["ending"]["cause"] in ("user_busy", "call_rejected")
        await change(options, "lazy", "--fallback", "forward:bob@dev.local")
        call = await alice.dial("other@bots.dev")
        at_bob = await bob.incoming()
        (await at_bob.answer()).succeeded()
        await call.answered()
        (await call.end()).succeeded()
        await at_bob.over()


async def test_an_application_has_so_many_calls_and_no_more(own, party):
    own, options = own
    await party("alice", base=own.http)
    bob = await party("bob", base=own.http)
    async with application(own, options, "few", "--address", "few@dev.local", "--maximum-calls", "2") as bot:
        first, second = await bot.start("alice"), await bot.start("bob")
        await bob.incoming()
        refused = await bot.ask("POST", "/v1/calls", {"to": "bob@dev.local"})
        refused.refused(429, "call.limited")
        await bot.tell(first["id"], "end")
        third = await bot.start("alice")
        for each in (second, third):
            await bot.tell(each["id"], "end")
        await change(options, "few", "--maximum-calls", "50", "--calls-per-second", "1")
        answers = [await bot.ask("POST", "/v1/calls", {"to": "nobody@dev.local"}) for _ in range(3)]
        assert [each.status for each in answers][-1] == 429, [each.text for each in answers]
        assert answers[-1].refused(429, "call.limited") and int(answers[-1].headers["Retry-After"]) >= 1


async def test_an_answer_is_the_same_after_a_kill(own, party):
    own, options = own
    await party("bob", base=own.http)
    async with application(own, options, "bot", "--address", "bot@dev.local") as bot:
        wish = {"to": "bob@dev.local", "context": "once"}
        first = await bot.ask("POST", "/v1/calls", wish, Idempotency_Key="k-1")
        first.succeeded(201)
        own.kill()
        await asyncio.to_thread(own.start)
        again = await bot.ask("POST", "/v1/calls", wish, Idempotency_Key="k-1")
        assert (again.status, again.text) == (201, first.text)
        assert again.headers["Idempotent-Replayed"] == "true" and again.headers["ETag"] == first.headers["ETag"]


async def test_keys_are_revoked_and_applications_removed_while_the_gateway_runs(own, party):
    own, options = own
    alice = await party("alice", base=own.http)
    async with application(own, options, "bot", "--address", "bot@dev.local", "--decision-time", "60") as bot:
        call = await alice.dial("bot")
        session = (await bot.incoming())["id"]
        await bot.tell(session, "answer")
        await call.answered()
        listed = await asyncio.to_thread(orbweaver, "app", "key", "list", "bot", *options)
        key = listed.stdout.split("\t")[0]
        second = await asyncio.to_thread(orbweaver, "app", "key", "add", "bot", "--expires-in", "1", *options)
        revoked = await asyncio.to_thread(orbweaver, "app", "key", "revoke", "bot", key, *options)
        assert revoked.returncode == 0, revoked.stderr
        (await bot.ask("GET", f"/v1/calls/{session}")).refused(401, "auth.invalid_token")
        async with Bot(own.http, second.stdout.strip()) as bot:
            assert (await bot.show(session))["state"] == "talking"
            removed = await asyncio.to_thread(orbweaver, "app", "remove", "bot", *options)
            assert removed.returncode == 0, removed.stderr
            await call.over()
            (await bot.ask("GET", "/v1/calls")).refused(401, "auth.invalid_token")
        shown = await asyncio.to_thread(orbweaver, "app", "show", "bot", *options)
        assert shown.returncode != 0 and "bot" in shown.stderr


async def test_a_bot_whose_key_was_revoked_does_not_lock_out_another_behind_its_address(own):
    own, options = own
    async with application(own, options, "good", "--address", "good@dev.local") as good:
        assert await good.calls() == []
        async with Bot(own.http, "owk_" + "A" * 42) as old:
            answers = [(await old.ask("GET", "/v1/calls")).status for _ in range(12)]
            assert answers[0] == 401 and answers[-1] == 429
            assert await good.calls() == []
            (await old.ask("GET", "/v1/calls")).refused(429, "auth.rate_limited")
            assert await good.calls() == []


async def test_where_media_goes_from_peer_to_peer_a_bot_is_told_so(own_gateway, tmp_path):
    options = configured(tmp_path, ["bob"], media={"mode": "direct"})
    own = own_gateway.configured(*options)
    async with application(own, options, "bot", "--address", "bot@dev.local") as bot:
        answer = await bot.ask("POST", "/v1/calls", {"to": "bob@dev.local"})
        assert "media.mode" in answer.refused(403, "service.not_provided")["detail"]
        assert "Retry-After" not in answer.headers and await bot.calls() == []


def test_commands_work_on_the_database_file_as_well(tmp_path):
    options = configured(tmp_path, ["alice"])

    def run(*words: str, fails: bool = False) -> str:
        done = orbweaver("app", *words, *options)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stderr if fails else done.stdout

    run("add", "bot", "--address", "bot@dev.local", "--fallback", "reject:busy", "--calls-per-second", "3")
    assert "addresses\tbot@dev.local\n" in run("show", "bot") and "callsPerSecond\t3\n" in run("show", "bot")
    run("change", "bot", "--decision-time", "2.5", "--scope", "media")
    assert "decisionTime\t2500\n" in run("show", "bot") and "scopes\tmedia\n" in run("show", "bot")
    assert "bot@dev.local" in run("add", "other", "--address", "bot@dev.local", fails=True)
    assert "domain" in run("add", "third", fails=True)
    key = run("key", "add", "bot").strip()
    name, ending, *_ = run("key", "list", "bot").split("\t")
    assert key.endswith(ending)
    run("key", "revoke", "bot", name)
    assert run("key", "list", "bot") == ""
    run("key", "revoke", "bot", name, fails=True)
    assert len(run("rotate", "bot", "--overlap", "60").strip()) == 64
    for seconds in ("2592001", str(2**62)):
        assert "2592000" in run("rotate", "bot", "--overlap", seconds, fails=True)
    assert "36500" in run("key", "add", "bot", "--expires-in", str(2**62), fails=True)
    assert "formerSecretUntil" in run("show", "bot")
