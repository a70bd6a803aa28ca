"""`clients/python`: the wheel in a fresh environment, bots, answers that are lost, streams that break, refusals, and
webhooks."""
import asyncio
import importlib
import os
import re
import subprocess
import sys
import zipfile
from contextlib import aclosing
from datetime import datetime, timezone
from pathlib import Path

import pytest
import standardwebhooks

from party import hear_now
from party.tones import MUSIC
from peers import sdp
from peers.bot import DEMO_KEY
from peers.bot_server import BotServer
from peers.gateway import REPOSITORY, environment
from peers.proxy import CuttableWire
from peers.python_client import SOURCE
from test_public_events import call_the_bot
from test_webhooks import Receiver, Site

USER = ("alice@dev.local", "dev")


@pytest.fixture(scope="module")
def orbweaver(installed):
    """The module as it was installed."""
    sys.path.insert(0, str(installed.packages))
    try:
        module = importlib.import_module("orbweaver")
        assert Path(module.__file__).is_relative_to(installed.packages)
        yield module
    finally:
        sys.path.remove(str(installed.packages))


def program_of_the_readme() -> str:
    (program,) = re.findall(r"^```python\n(.*?)^```$", (SOURCE / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return program


def test_the_module_and_what_uses_it_are_typed(installed, tmp_path):
    assert "orbweaver/py.typed" in zipfile.ZipFile(installed.wheel).namelist()
    (tmp_path / "readme.py").write_text(program_of_the_readme())
    examples = sorted((REPOSITORY / "examples").glob("*.py"))
    for files in (["-p", "orbweaver"], [str(tmp_path / "readme.py")], *([str(each)] for each in examples)):
        checked = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *files],
            capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment(MYPYPATH=str(SOURCE)),
        )  # fmt: skip
        assert checked.returncode == 0, checked.stdout + checked.stderr


async def test_two_calls_are_connected(orbweaver, gateway, party):
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    async with orbweaver.Client(gateway.http, DEMO_KEY) as client:
        at_alice = await alice.dial("bot")
        first = await anext(client.incoming())
        await first.answer()
        await at_alice.answered()
        await at_alice.connected()
        second = await client.start_call("bob@dev.local")
        at_bob = await bob.incoming()
        (await at_bob.answer()).succeeded()
        await second.answered(20)
        await at_bob.connected()
        await first.connect(second)
        for call in (first, second):
            assert (await call.over(20)).cause == "left"
        await hear_now({at_alice: {"bob"}, at_bob: {"alice"}})
        (await at_bob.end()).succeeded()
        await at_alice.over()


async def test_the_server_of_a_stream_is_told_parameters(orbweaver, gateway, party):
    alice = await party("alice", sounds=True)
    async with orbweaver.Client(gateway.http, DEMO_KEY) as client, BotServer() as program:
        at_alice = await alice.dial("bot")
        call = await anext(client.incoming())
        await call.answer()
        await at_alice.answered()
        await call.stream(program.url, parameters={"from": call.snapshot.from_address})
        socket = await program.socket()
        assert (await socket.expect("start"))["parameters"] == {"from": "alice@dev.local"}
        await call.end()
        assert await socket.closed() == 1000
        await at_alice.over()


async def test_the_bot_of_the_readme(installed, gateway, party):
    program = program_of_the_readme()
    assert "http://127.0.0.1:8080" in program
    bot = await asyncio.create_subprocess_exec(
        installed.python, "-c", program.replace("http://127.0.0.1:8080", gateway.http),
        env=environment(PATH=os.environ["PATH"]),
    )  # fmt: skip
    try:
        alice = await party("alice", sounds=True)
        call = await alice.dial("bot")
        await call.answered()
        await call.connected()
        await hear_now({call: {MUSIC}})
        (await alice.media(call.session, type="dtmf", digits="5")).succeeded()
        await asyncio.sleep(1)
        (await alice.media(call.session, type="dtmf", digits="#")).succeeded()
        await call.over()
        assert bot.returncode is None, "it waits for the next call"
    finally:
        if bot.returncode is None:
            bot.kill()
        await bot.wait()


async def test_a_bot_takes_a_call_plays_gathers_and_hangs_up(orbweaver, gateway, party):
    alice = await party("alice", sounds=True)
    async with orbweaver.Client(gateway.http, DEMO_KEY) as client, aclosing(client.incoming()) as incoming:
        arriving = asyncio.ensure_future(anext(incoming))
        at_alice = await alice.dial("bot")
        call = await asyncio.wait_for(arriving, 20)
        shown = call.snapshot
        assert (shown.state, shown.direction, shown.from_address) == ("ringing", "incoming", "alice@dev.local")
        assert [each.address for each in shown.members] == ["alice@dev.local"]
        with pytest.raises(orbweaver.NotAllowed) as early:
            await call.hold()
        assert (early.value.status, early.value.code, early.value.state) == (409, "call.not_allowed", "ringing")
        assert "answer" in early.value.allowed and early.value.call["id"] == call.id and early.value.detail
        assert (await call.answer()).state == "talking"
        await at_alice.answered()
        await at_alice.connected()
        with pytest.raises(orbweaver.VersionMismatch) as late:
            await call.answer(at=shown.version)
        assert late.value.call["version"] > shown.version
        played = await asyncio.wait_for(call.play(orbweaver.tone("dial", 400), orbweaver.silence(100)), 20)
        assert (played.outcome, played.heard) == ("completed", 500)
        keys = call.gather(orbweaver.music(), maximum=4, terminators="#", first_timeout=20_000)
        gathering = asyncio.create_task(keys)
        await hear_now({at_alice: {MUSIC}})
        (await alice.media(at_alice.session, type="dtmf", digits="42#")).succeeded()
        assert await asyncio.wait_for(gathering, 20) == orbweaver.Gathered("42", "terminator")
        # A sound that would go on for ever ends with the call.
        playing = asyncio.create_task(call.play(orbweaver.music()))
        await hear_now({at_alice: {MUSIC}})
        (await at_alice.end()).succeeded()
        try:
            assert (await asyncio.wait_for(playing, 20)).outcome == "stopped"
        except orbweaver.CallEnded as ended:
            assert (ended.call, ended.cause) == (call.id, "normal_clearing")
        assert (await call.over(20)).cause == "normal_clearing"
        with pytest.raises(orbweaver.CallEnded):
            await call.answered(20)


async def test_a_bot_calls_and_waits_for_the_answer(orbweaver, gateway, party):
    alice = await party("alice")
    async with orbweaver.Client(gateway.http, DEMO_KEY) as client:
        parameter = orbweaver.Parameter("X-Order", "7")
        call = await client.start_call("alice@dev.local", parameters=[parameter], context="order 7")
        assert (call.state, call.snapshot.context) == ("ringing", "order 7")
        at_alice = await alice.incoming()
        with pytest.raises(TimeoutError):
            await call.answered(0.5)
        (await at_alice.answer()).succeeded()
        assert (await call.answered(20)).answered_at
        assert call.id in [each.id for each in await client.calls(direction="outgoing")]
        assert (await client.call(call.id)).snapshot.call == call.snapshot.call
        await call.end("Good bye")
        assert (await call.over(20)).cause == "normal_clearing"
        await at_alice.over()
        rejected = await client.start_call("alice@dev.local")
        (await (await alice.incoming()).reject()).succeeded()
        with pytest.raises(orbweaver.CallEnded):
            await rejected.answered(20)


class ForgetfulWire(CuttableWire):
    """Loses the answer to the first command on each of so many connections: the gateway has carried it out."""

    def __init__(self, target_port: int, count: int):
        super().__init__(target_port)
        self._left = count
        self.lost = 0

    async def _relay(self, near_reader: asyncio.StreamReader, near: asyncio.StreamWriter):
        if not self._left:
            await super()._relay(near_reader, near)
            return
        self._left -= 1
        far_reader, far = await asyncio.open_connection("127.0.0.1", self._target_port)
        pump = asyncio.create_task(self._pump(near_reader, far))
        assert (await far_reader.read(1 << 16)).startswith(b"HTTP/1.1 201")
        self.lost += 1
        near.transport.abort()
        await pump


async def test_a_command_whose_answers_are_lost_is_carried_out_once(orbweaver, gateway, party):
    alice = await party("alice")
    async with ForgetfulWire(gateway.http_port, 3) as wire:
        async with orbweaver.Client(f"http://127.0.0.1:{wire.port}", DEMO_KEY) as client:
            call = await client.start_call("alice@dev.local", context="lost three times")
            assert wire.lost == 3
            own = [each.id for each in await client.calls() if each.snapshot.context == "lost three times"]
            assert own == [call.id]
            await alice.incoming()
            await call.end()
            await call.over(20)


async def test_refusals_say_what_is_wrong(orbweaver, gateway):
    async with orbweaver.Client(gateway.http, DEMO_KEY) as client:
        with pytest.raises(orbweaver.NotFound) as unknown:
            await client.call("nothing/../else")
        assert unknown.value.code in ("call.not_found", "resource.not_found")
        with pytest.raises(orbweaver.Refused) as wrong:
            await client.start_call("not an address")
        assert wrong.value.status in (400, 422) and wrong.value.detail
    async with orbweaver.Client(gateway.http, "owk_" + "1" * 42) as client:
        with pytest.raises(orbweaver.NotAuthorized) as stranger:
            await client.calls()
        assert (stranger.value.status, stranger.value.code) == (401, "auth.invalid_token")
        for form in ("websocket", "sse"):
            with pytest.raises(orbweaver.NotAuthorized) as stranger:
                async for _ in client.events(form=form):
                    pass
            assert stranger.value.code in ("auth.invalid_token", "auth.rate_limited")
        with pytest.raises(orbweaver.NotAuthorized):
            await anext(client.incoming())
    async with CuttableWire(gateway.http_port) as wire:
        wire.cut()
        async with orbweaver.Client(f"http://127.0.0.1:{wire.port}", DEMO_KEY, attempts=2) as client:
            with pytest.raises(orbweaver.Unreachable):
                await client.calls()
    with pytest.raises(ValueError, match="not the address of a gateway"):
        orbweaver.Client("gateway.example.com", DEMO_KEY)


async def one_call(caller, callee):
    session = await caller.call(callee.user, sdp.offer())
    invitation = await callee.expect("call")
    (await callee.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await caller.expect("respondCallUpdate", session)
    await caller.end(session)
    await callee.expect("callEnd")


@pytest.mark.parametrize("form", ["websocket", "sse"])
async def test_a_stream_that_breaks_goes_on_behind_its_last_event(orbweaver, gateway, peer, form):
    alice, bob = await peer("alice"), await peer("bob")
    async with CuttableWire(gateway.http_port) as wire, orbweaver.Client(gateway.http, USER) as near:
        start = (await near.poll(wait=0)).next
        told, breaks = [], 0
        async with orbweaver.Client(f"http://127.0.0.1:{wire.port}", USER) as client:
            stream = client.events(form=form)

            async def read():
                nonlocal breaks
                async for event in stream:
                    told.append(event)
                    assert stream.cursor == event.id
                    if event.type in ("leg.ringing", "call.answered"):
                        # Whatever is on its way is lost, too.
                        wire.cut()
                        breaks += 1
                        asyncio.get_running_loop().call_later(0.3, wire.mend)

            async with asyncio.TaskGroup() as tasks:
                reading = tasks.create_task(read())
                await asyncio.wait_for(stream.connected.wait(), 20)
                for _ in range(3):
                    await one_call(alice, bob)
                async with asyncio.timeout(60):
                    while sum(event.type == "call.ended" for event in told) < 3:
                        await asyncio.sleep(0.05)
                reading.cancel()
        assert breaks >= 6
        kept, place = [], start
        while (page := await near.poll(place, wait=0)).events:
            kept += page.events
            place = page.next
        assert [event.rest for event in told] == [event.rest for event in kept]
        assert told[0].type == "leg.joined" and told[0].call and told[0].data["address"] == "alice@dev.local"
        # A reader that comes later has the same, and so has one that wants less.
        again = client_events(near.events(start, form=form), len(told))
        assert [event.id for event in await asyncio.wait_for(again, 20)] == [event.id for event in told]
        ends = client_events(near.events(start, ["call.ended"], [told[-1].call], form), 1)
        assert await asyncio.wait_for(ends, 20) == told[-1:]


async def client_events(stream, count: int) -> list:
    found = []
    async with aclosing(aiter(stream)) as events:
        async for event in events:
            found.append(event)
            if len(found) == count:
                return found


async def test_who_comes_with_a_cursor_of_another_log_is_told_so(orbweaver, gateway):
    async with orbweaver.Client(gateway.http, USER) as client:
        with pytest.raises(orbweaver.EventsGone) as gone:
            await client.poll("another-1", wait=0)
        assert gone.value.reason == "otherLog" and (await client.poll(gone.value.next, wait=0)).events == ()
        for form in ("websocket", "sse"):
            (gap,) = await asyncio.wait_for(client_events(client.events("another-1", form=form), 1), 20)
            assert (gap.type, gap.rest["reason"], gap.call) == ("stream.gap", "otherLog", None)


async def test_webhooks_of_the_gateway_are_verified(orbweaver, own_gateway, tmp_path, peer):
    site, receiver = Site(own_gateway, tmp_path, ["alice"]), Receiver()
    webhook, secret = site.add(receiver.url)
    assert site.command("test", "bots", webhook) == "the receiver has taken it"
    headers, body, _ = receiver.requests[-1]
    assert orbweaver.verify_webhook(secret, headers, body).type == "webhook.test"
    await call_the_bot(await peer("alice", base=site.gateway.http))
    await receiver.ended()
    headers, body, _ = receiver.requests[-1]
    event = orbweaver.verify_webhook(secret, headers, body)
    assert event.type == "call.ended" and event.call and headers["webhook-id"] == f"evt_{event.id}"
    spelled = {name.title(): value for name, value in headers.items()}
    assert orbweaver.verify_webhook(secret, spelled, body.decode()) == event
    signature = headers["webhook-signature"]
    for change, content in (
        ({}, body + b" "), ({"webhook-signature": "v1"}, body), ({"webhook-signature": "v1,&"}, body), ({}, b"\xff"),
        ({"webhook-timestamp": str(int(headers["webhook-timestamp"]) - 1)}, body), ({"webhook-id": "evt_1"}, body),
        ({"webhook-signature": "v2" + signature.removeprefix("v1")}, body), ({"webhook-id": ""}, body),
    ):  # fmt: skip
        with pytest.raises(orbweaver.WebhookInvalid):
            orbweaver.verify_webhook(secret, headers | change, content)
    # A signature that is right, of long ago.
    past = datetime.fromtimestamp(1_700_000_000, timezone.utc)
    old = {"webhook-timestamp": "1700000000", "webhook-id": headers["webhook-id"]}
    old["webhook-signature"] = standardwebhooks.Webhook(secret).sign(old["webhook-id"], past, body.decode())
    with pytest.raises(orbweaver.WebhookInvalid, match="too old"):
        orbweaver.verify_webhook(secret, old, body)
