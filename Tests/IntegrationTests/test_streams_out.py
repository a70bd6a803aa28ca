"""Audio streams that the gateway opens, and programs that listen (docs/bots.md, *Audio streams*)."""
import asyncio
import functools
import json
import ssl
import subprocess
from pathlib import Path

import pytest
import pytest_asyncio

from durability import configured
from party import MUSIC, hear_now
from peers.bot import Bot
from peers.bot_server import SUBPROTOCOL, BotServer
from peers.echo_bot import EchoBot
from peers.gateway import orbweaver
from peers.stream import Stream
from test_bots import answered
from test_streams import refused, tone


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


# What is heard


@pytest.mark.parametrize(("encoding", "rate"), [("l16", 16_000), ("l16", 48_000), ("pcmu", 8_000)])
async def test_an_echo_of_a_program_that_the_gateway_connects_to(party, bot, encoding, rate):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with BotServer(echoes=True) as program:
        headers = [{"name": "Authorization", "value": "Bearer secret"}, {"name": "X-Order", "value": "7"}]
        shown = await bot.tell(session, "stream", url=program.url, format=encoding, rate=rate, headers=headers)
        assert shown["stream"] in ("connecting", "open")
        socket = await program.socket()
        assert (socket.path, socket.socket.subprotocol) == ("/talk?x=1", SUBPROTOCOL)
        assert (socket.headers["Authorization"], socket.headers["X-Order"]) == ("Bearer secret", "7")
        start = await socket.expect("start")
        assert start["format"] == {"encoding": encoding, "rate": rate, "channels": 1}
        assert (start["call"], start["from"], start["reconnected"]) == (session, "alice@dev.local", False)
        await bot.until(session, stream="open")
        await hear_now({call: {"alice"}})
        (await alice.media(call.session, type="dtmf", digits="5")).succeeded()
        assert (await socket.expect("keys"))["keys"] == "5"
        # There is one at a time, whoever connects.
        again = await bot.ask("POST", f"/v1/calls/{session}/stream", {"url": program.url})
        assert "already" in again.refused(409, "call.not_allowed")["detail"]
        assert (await refused(bot.base, session))[0] == 409
        (await call.end()).succeeded()
        assert (await socket.expect("end"))["reason"] == "callEnded" and await socket.closed() == 1000
        await asyncio.sleep(1)
        assert len(program.handshakes) == 1


async def test_a_call_is_started_with_a_stream(party, bot):
    alice = await party("alice", sounds=True)
    async with BotServer() as program:
        started = await bot.start("alice", stream={"url": program.url})
        incoming = await alice.incoming()
        await asyncio.sleep(0.5)
        assert not program.handshakes
        (await incoming.answer()).succeeded()
        socket = await program.socket()
        await socket.expect("start")
        await incoming.connected()
        await socket.play(tone("carol", 20))
        await hear_now({incoming: {"carol"}})
        await bot.tell(started["id"], "end")
        assert await socket.closed() == 1000


@pytest.mark.parametrize(
    ("dialect", "is_start", "place"),
    [
        ("orbweaver", {"type": "start"}, ["parameters"]),
        ("twilio", {"event": "start"}, ["start", "customParameters"]),
        ("asterisk-json", {"event": "MEDIA_START"}, ["channel_variables"]),
    ],
)
async def test_a_program_is_told_the_parameters_of_its_order_and_of_the_caller(party, bot, dialect, is_start, place):
    alice = await party("alice", sounds=True)
    sent = [{"name": "tenant", "value": "of the caller"}, {"name": "X-Shop", "value": "7"}]
    call, session = await answered(bot, alice, customParameters=sent)
    own = {"from": (await bot.show(session))["from"], "tenant": "acme"}

    def starts(word: str) -> bool:
        return json.loads(word).items() >= is_start.items()

    async with EchoBot(dialect, parameters=own).talks(bot, session, "out") as program:
        await program.told(starts)
        (await call.end()).succeeded()
        assert await program.ended() == 1000
    (start,) = (json.loads(word) for word in program.words if starts(word))
    assert functools.reduce(dict.get, place, start) == {"from": "alice@dev.local", "tenant": "acme", "X-Shop": "7"}


async def test_a_call_that_is_started_tells_its_program_parameters_and_wrong_ones_are_refused(party, bot):
    alice = await party("alice", sounds=True)
    wrong = [
        ({"from": 7}, "parameters.from", "must be a text"),
        ([{"name": "from", "value": "alice"}], "parameters", "must be an object of at most 64 texts"),
        ({f"n{number}": "" for number in range(65)}, "parameters", "must be an object of at most 64 texts"),
        ({"from": 8_189 * "x"}, "parameters", "must have at most 8192 bytes"),
    ]
    async with BotServer() as program:
        for parameters, field, rule in wrong:
            wish = {"to": "alice@dev.local", "stream": {"url": program.url, "parameters": parameters}}
            refused = (await bot.ask("POST", "/v1/calls", wish)).refused(400, "request.invalid_value")
            assert refused["detail"] == f'The field "stream.{field}" {rule}.'
        started = await bot.start("alice", stream={"url": program.url, "parameters": {"from": 8_188 * "x"}})
        incoming = await alice.incoming()
        (await incoming.answer()).succeeded()
        socket = await program.socket()
        assert (await socket.expect("start"))["parameters"] == {"from": 8_188 * "x"}
        wish = {"url": program.url, "parameters": {"from": None}}
        refused = await bot.ask("POST", f"/v1/calls/{started['id']}/stream", wish)
        assert '"parameters.from" must be a text' in refused.refused(400, "request.invalid_value")["detail"]
        await bot.tell(started["id"], "end")
        assert await socket.closed() == 1000
        assert len(program.handshakes) == 1


@pytest.mark.parametrize(("dialect", "subprotocol"), [("orbweaver", SUBPROTOCOL), ("twilio", None)])
async def test_the_opening_handshake_has_the_trace_of_the_call(party, bot, dialect, subprotocol):
    alice = await party("alice", sounds=True)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    async with BotServer(subprotocol=subprotocol) as program:
        for number, given in enumerate((trace, None), 1):
            wish = {"to": "alice@dev.local", "stream": {"url": program.url, "dialect": dialect}}
            started = (await bot.ask("POST", "/v1/calls", wish, traceparent=given)).succeeded(201)
            incoming = await alice.incoming()
            (await incoming.answer()).succeeded()
            socket = await program.socket(number)
            assert socket.headers.get("traceparent") == given
            await bot.tell(started["id"], "end")
            await incoming.over()


async def test_a_stream_has_the_trace_of_the_command_that_opens_it(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with BotServer() as program:
        wish = {"url": program.url}
        (await bot.ask("POST", f"/v1/calls/{session}/stream", wish, traceparent=trace)).succeeded()
        for number in (1, 2):
            socket = await program.socket(number)
            assert socket.headers.get("traceparent") == trace
            assert (await socket.expect("start"))["traceparent"] == trace
            await bot.until(session, stream="open")
            # A socket that is opened again is of the same stream.
            if number == 1:
                program.abort()
        await bot.tell(session, "stream", action="stop")
        # Another command has another trace, or none.
        await bot.tell(session, "stream", **wish)
        assert (await program.socket(3)).headers.get("traceparent") is None
        (await call.end()).succeeded()


async def test_a_large_message_comes_in_one_piece_and_a_larger_one_ends_the_socket(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with BotServer() as program:
        await bot.tell(session, "stream", url=program.url, retryTime=0)
        socket = await program.socket()
        await socket.socket.send(tone("carol", 16).astype("<i2").tobytes())
        await socket.say(type="mark", name="end")
        assert (await socket.expect("marked", timeout=40))["heard"] == 16_000
        await socket.socket.send(bytes(600_000))
        assert await socket.closed() == 1009
        await bot.until(session, stream=None)
    (await call.end()).succeeded()


async def test_the_application_ends_the_stream_and_so_does_the_program(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with BotServer(echoes=True) as program:
        await bot.tell(session, "stream", url=program.url, fallback="end")
        await hear_now({call: {"alice"}})
        # One that the gateway opens can be ended, on hold as well; without one none can be opened there.
        assert "stream" in (await bot.tell(session, "hold"))["allowed"]
        assert "stream" in (await bot.tell(session, "resume"))["allowed"]
        assert "stream" not in await bot.tell(session, "stream", action="stop")
        assert (await program.sockets[0].expect("end"))["reason"] == "stopped"
        assert await program.sockets[0].closed() == 1000
        await hear_now({call: set()})
        await bot.tell(session, "stream", url=program.url, fallback="end", absence="music")
        second = await program.socket(2)
        await second.expect("start")
        await second.socket.close(1000)
        await bot.until(session, stream=None)
        await hear_now({call: {MUSIC}})
        assert (await bot.show(session))["state"] == "talking" and len(program.handshakes) == 2
        nothing = await bot.ask("POST", f"/v1/calls/{session}/stream", {"action": "stop"})
        nothing.refused(409, "call.not_allowed")
    (await call.end()).succeeded()


# A program that is lost


async def test_the_gateway_comes_back_to_a_program_that_was_lost(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    program = BotServer(echoes=True)
    await program.up()
    await bot.tell(session, "stream", url=program.url, absence="music")
    first = await (await program.socket()).expect("start")
    await hear_now({call: {"alice"}})
    program.abort()
    second = await (await program.socket(2)).expect("start")
    assert (second["stream"], second["reconnected"]) == (first["stream"], True) and second["at"] >= 1_000
    await hear_now({call: {"alice"}})
    # Away for a while: the waits become longer.
    await program.down()
    await bot.until(session, stream="waiting")
    await hear_now({call: {MUSIC}})
    await asyncio.sleep(2)
    await program.up()
    third = await (await program.socket(3)).expect("start")
    assert third["reconnected"] is True and third["at"] > second["at"]
    await hear_now({call: {"alice"}})
    await program.down(1000)
    (await call.end()).succeeded()


@pytest.mark.parametrize("fallback", ["none", "end"])
async def test_a_program_that_never_comes_is_given_up(party, bot, fallback):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with BotServer(status=503) as program:
        await bot.tell(session, "stream", url=program.url, retryTime=3_000, fallback=fallback)
        if fallback == "end":
            await call.over()
            await bot.until(session, state="ended")
        else:
            await bot.until(session, stream="waiting")
            await bot.until(session, stream=None)
            assert (await bot.show(session))["state"] == "talking"
            (await call.end()).succeeded()
        times = program.handshakes
        assert 3 <= len(times) <= 5
        assert times[-1] - times[0] <= 4
        await asyncio.sleep(3)
        assert len(program.handshakes) == len(times)


async def test_the_fallback_of_the_application_is_for_streams_as_well(own_gateway, tmp_path, party):
    options = configured(tmp_path, ["alice"], streams={"plain_ws": "on", "allowed_addresses": "127.0.0.0/8"})
    added = await asyncio.to_thread(
        orbweaver, "app", "add", "bot", "--address", "bot@dev.local", "--fallback", "answer:echo", *options
    )
    assert added.returncode == 0, added.stderr
    key = (await asyncio.to_thread(orbweaver, "app", "key", "add", "bot", *options)).stdout.strip()
    own = await asyncio.to_thread(own_gateway.configured, *options)
    alice = await party("alice", base=own.http, sounds=True)
    async with Bot(own.http, key) as bot, BotServer(status=404) as program:
        call, session = await answered(bot, alice)
        await bot.tell(session, "stream", url=program.url, fallback="application")
        await hear_now({call: {"alice"}})
        # What is wrong with the request is not tried again.
        assert len(program.handshakes) == 1
        (await call.end()).succeeded()


async def test_a_stream_without_a_url_goes_to_the_applications_program_and_there_are_so_many(
    own_gateway, tmp_path, party
):
    options = configured(
        tmp_path, ["alice", "bob"], streams={"plain_ws": "on", "allowed_addresses": "127.0.0.0/8"}
    )

    async def app(*arguments: str) -> str:
        done = await asyncio.to_thread(orbweaver, "app", *arguments, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    async with BotServer(echoes=True) as program:
        await app("add", "bot", "--address", "bot@dev.local", "--stream-url", program.url, "--maximum-streams", "2")
        shown = dict(line.split("\t") for line in (await app("show", "bot")).splitlines())
        assert (shown["streamURL"], shown["maximumStreams"]) == (program.url, "2")
        key = await app("key", "add", "bot")
        own = await asyncio.to_thread(own_gateway.configured, *options)
        alice = await party("alice", base=own.http, sounds=True)
        bob = await party("bob", base=own.http, sounds=True)
        async with Bot(own.http, key) as bot:
            call, session = await answered(bot, alice)
            await bot.tell(session, "stream", rate=8_000)
            assert (await (await program.socket()).expect("start"))["format"]["rate"] == 8_000
            await hear_now({call: {"alice"}})
            async with Stream(own.http, session, key=key, listen="caller") as listener:
                await listener.expect("start")
                status, problem = await refused(own.http, session, key, listen="caller")
                assert (status, problem["code"]) == (429, "call.limited")
                wish = {"to": "bob@dev.local", "stream": {}}
                (await bot.ask("POST", "/v1/calls", wish)).refused(429, "call.limited")
            # The place of the listener is free once the gateway has noticed that it is gone.
            async with asyncio.timeout(20):
                while (started := await bot.ask("POST", "/v1/calls", wish)).status == 429:
                    await asyncio.sleep(0.05)
            at_bob = await bob.incoming()
            (await at_bob.answer()).succeeded()
            assert (await (await program.socket(2)).expect("start"))["call"] == started.succeeded(201)["id"]
            await at_bob.connected()
            await hear_now({call: {"alice"}, at_bob: {"bob"}})
            await bot.tell(started.body["id"], "end")
            # Without a URL of its own the application has to give one.
            await app("change", "bot", "--stream-url", "")
            await bot.tell(session, "stream", action="stop")
            nowhere = await bot.ask("POST", f"/v1/calls/{session}/stream", {"rate": 8_000})
            nowhere.refused(400, "request.missing_field")
            await bot.tell(session, "stream", url=program.url)
            await hear_now({call: {"alice"}})
            (await call.end()).succeeded()


# Who is connected to


async def test_a_program_that_must_not_be_reached_is_given_up_at_once(own_gateway, tmp_path, party):
    """Without --dev: neither loopback nor ws: is permitted, and a redirect there is not followed."""
    options = configured(tmp_path, ["alice"])
    added = await asyncio.to_thread(orbweaver, "app", "add", "bot", "--address", "bot@dev.local", *options)
    assert added.returncode == 0, added.stderr
    key = (await asyncio.to_thread(orbweaver, "app", "key", "add", "bot", *options)).stdout.strip()
    own = await asyncio.to_thread(own_gateway.configured, *options)
    alice = await party("alice", base=own.http)
    async with Bot(own.http, key) as bot, BotServer() as program:
        call, session = await answered(bot, alice)
        for url in [
            program.url, f"wss://127.0.0.1:{program.port}/", f"wss://localhost:{program.port}/",
            f"wss://[::ffff:127.0.0.1]:{program.port}/", "wss://169.254.169.254/latest", "wss://[::1]/",
        ]:  # fmt: skip
            await bot.tell(session, "stream", url=url)
            await bot.until(session, timeout=5, stream=None)
        assert not program.handshakes
        (await call.end()).succeeded()


async def test_redirects_are_not_followed(party, bot):
    alice = await party("alice")
    call, session = await answered(bot, alice)
    async with BotServer() as target, BotServer(status=302) as program:
        respond = program._request

        def redirect(connection, request):
            response = respond(connection, request)
            response.headers["Location"] = target.url
            return response

        await program.down()
        program._request = redirect
        await program.up()
        await bot.tell(session, "stream", url=program.url)
        await bot.until(session, stream=None)
        assert len(program.handshakes) == 1 and not target.handshakes
    (await call.end()).succeeded()


def certificate(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """A certificate for that name, which is its own authority."""
    path, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
         f"subjectAltName=DNS:{name}", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", key,
         "-out", path],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    return path, context


async def test_tls_with_a_certificate_that_has_to_be_right(own_gateway, tmp_path, party):
    path, right = certificate(tmp_path, "localhost")
    (tmp_path / "again").mkdir()
    # That of another host is trusted, and that of this host is not.
    other, of_other = certificate(tmp_path, "other")
    wrong = [of_other, certificate(tmp_path / "again", "localhost")[1]]
    path.write_bytes(path.read_bytes() + other.read_bytes())
    options = configured(
        tmp_path, ["alice"], streams={"authority_file": path, "allowed_addresses": ["127.0.0.0/8", "::1"]}
    )
    added = await asyncio.to_thread(orbweaver, "app", "add", "bot", "--address", "bot@dev.local", *options)
    assert added.returncode == 0, added.stderr
    key = (await asyncio.to_thread(orbweaver, "app", "key", "add", "bot", *options)).stdout.strip()
    own = await asyncio.to_thread(own_gateway.configured, *options)
    alice = await party("alice", base=own.http, sounds=True)
    async with Bot(own.http, key) as bot:
        call, session = await answered(bot, alice)
        for context in wrong:
            async with BotServer(tls=context) as program:
                await bot.tell(session, "stream", url=program.url)
                await bot.until(session, timeout=10, stream=None)
                assert not program.handshakes
        async with BotServer(echoes=True, tls=right) as program:
            await bot.tell(session, "stream", url=program.url)
            await hear_now({call: {"alice"}})
            (await call.end()).succeeded()
            assert await program.sockets[0].closed() == 1000


# Listeners


async def test_listeners_hear_the_caller_or_the_call_and_say_nothing(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with (
        Stream(bot.base, session) as speaker,
        Stream(bot.base, session, listen="caller") as one,
        Stream(bot.base, session, listen="call", rate=8_000) as both,
    ):
        assert (await one.expect("start"))["reconnected"] is False
        assert (await both.expect("start"))["format"]["rate"] == 8_000
        await speaker.play(tone("carol", 30))
        await hear_now({call: {"carol"}})
        counts = len(one.frames), len(both.frames)
        await asyncio.sleep(2)
        assert {size for _, size in one.frames} == {640} and {size for _, size in both.frames} == {320}
        for before, listener in zip(counts, (one, both), strict=True):
            assert 50 <= len(listener.frames) - before <= 115
        (await alice.media(call.session, type="dtmf", digits="7")).succeeded()
        for each in (speaker, one, both):
            assert (await each.expect("keys"))["keys"] == "7"
        await one.play(tone("dave", 1))
        assert (await one.expect("refused"))["code"] == "unsupported"
        await one.say(type="end")
        assert (await one.expect("refused"))["code"] == "unsupported"
        await hear_now({call: {"carol"}})
        (await call.end()).succeeded()
        for each in (one, both):
            assert (await each.expect("end"))["reason"] == "callEnded" and await each.closed() == 1000


async def test_a_call_has_sixteen_listeners(party, bot):
    alice = await party("alice")
    call, session = await answered(bot, alice)
    listeners = [Stream(bot.base, session, listen="call") for _ in range(16)]
    for each in listeners:
        await each.__aenter__()
    status, problem = await refused(bot.base, session, listen="call")
    assert (status, problem["code"]) == (409, "call.not_allowed") and "16" in problem["detail"]
    await listeners[0].__aexit__()
    async with asyncio.timeout(20):
        while True:
            try:
                async with Stream(bot.base, session, listen="call") as again:
                    await again.expect("start")
                break
            except Exception as error:  # noqa: BLE001
                assert "409" in str(error), error
                await asyncio.sleep(0.1)
    (await call.end()).succeeded()
    for each in listeners[1:]:
        assert await each.closed() == 1000
        await each.__aexit__()
