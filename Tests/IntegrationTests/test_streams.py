"""Audio streams: a program on a WebSocket is the voice and the ear of its leg (docs/bots.md, *Audio streams*)."""
import asyncio
import base64
import json
import time

import numpy
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from durability import configured
from party import MUSIC, TONES, hear_now
from party.tones import Ear
from peers.bot import DEMO_KEY, Bot
from peers.gateway import orbweaver
from peers.stream import Stream, echo
from peers.stream_contract import held
from robots import DOMAIN
from test_bots import answered


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


def tone(name: str, seconds: float, rate: int = 16_000) -> numpy.ndarray:
    """The tone of a person, at the rate of a stream."""
    times = numpy.arange(int(seconds * rate)) / rate
    return (8_000 * numpy.sin(2 * numpy.pi * TONES[name] * times)).astype(numpy.int16)


async def refused(base: str, call: str, key: str | None = DEMO_KEY, **query: str) -> tuple[int, dict]:
    """Status and problem of a request to open a stream that is refused."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with pytest.raises(InvalidStatus) as caught:
        async with connect(Stream(base, call, **query).uri, additional_headers=headers, proxy=None):
            pass
    response = caught.value.response
    return response.status_code, json.loads(response.body)


# What is heard


@pytest.mark.parametrize(
    ("encoding", "rate", "size"),
    [("l16", 8_000, 320), ("l16", 16_000, 640), ("l16", 24_000, 960), ("l16", 48_000, 1_920), ("pcmu", 8_000, 160),
     ("pcma", 8_000, 160)],
)  # fmt: skip
async def test_an_echo_in_each_format(party, bot, encoding, rate, size):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session, echoes=True, format=encoding, rate=rate) as stream:
        start = await stream.expect("start")
        assert start["format"] == {"encoding": encoding, "rate": rate, "channels": 1}
        assert (start["call"], start["from"], start["to"]) == (session, "alice@dev.local", "bot@dev.local")
        assert (start["at"], start["reconnected"]) == (0, False)
        await hear_now({call: {"alice"}})
        frames = len(stream.frames)
        await asyncio.sleep(2)
        # 20 ms each. A gateway without a processor leaves some out, and catches up on a few.
        assert {length for _, length in stream.frames} == {size}
        assert 50 <= len(stream.frames) - frames <= 115
        (await call.end()).succeeded()
        assert (await stream.expect("end"))["reason"] == "callEnded"
        assert await stream.closed() == 1000


async def test_a_stream_has_the_sound_and_the_keys_of_an_application_before_it_answers(robots):
    base, ear = robots.gateway.http, Ear()

    def hear(data: bytes):
        ear.take(numpy.frombuffer(data, "<i2"))

    async with Bot(base, robots.keys["alice"]) as alice, Bot(base, robots.keys["bob"]) as bob:
        at_alice = (await alice.start(f"bob@{DOMAIN}", earlyMedia=True))["id"]
        at_bob = (await bob.incoming())["id"]
        await bob.tell(at_bob, "progress", items=[{"music": True}])
        shown = await alice.until(at_alice, state="progressing")
        assert "gather" in shown["allowed"] and "keys" not in shown["allowed"]
        async with Stream(base, at_alice, robots.keys["alice"], rate=48_000, hear=hear) as stream:
            await stream.expect("start")
            await stream.until(lambda: ear.hears() == {MUSIC}, "the music before the answer")
            prompted = {"maximum": 2, "prompt": {"items": [{"tone": "dial"}]}}
            answer = await alice.ask("POST", f"/v1/calls/{at_alice}/gather", prompted)
            assert answer.refused(409, "call.not_allowed")["state"] == "progressing"
            await alice.tell(at_alice, "gather", maximum=2, firstTimeout=20_000)
            await bob.tell(at_bob, "keys", keys="42")
            assert [(await stream.expect("keys"))["keys"] for _ in range(2)] == ["4", "2"]
            await alice.until(at_alice, gathering=None)
            await bob.tell(at_bob, "answer")
            assert (await alice.until(at_alice, state="talking"))["stream"] == "open"
            await alice.tell(at_alice, "end")
            assert (await stream.expect("end"))["reason"] == "callEnded" and await stream.closed() == 1000


async def test_the_trace_of_the_request_that_started_the_call_is_in_the_start(party, bot):
    alice = await party("alice")
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    for given in [trace, None]:
        wish = {"to": "alice@dev.local"}
        started = (await bot.ask("POST", "/v1/calls", wish, traceparent=given)).succeeded(201)
        call = await alice.incoming()
        (await call.answer()).succeeded()
        await bot.until(started["id"], state="talking")
        async with Stream(bot.base, started["id"]) as stream:
            assert (await stream.expect("start")).get("traceparent") == given
        await bot.tell(started["id"], "end")
        await call.over()


async def test_an_echo_of_packets_of_opus(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session, echoes=True, format="opus") as stream:
        assert (await stream.expect("start"))["format"] == {"encoding": "opus", "rate": 48_000, "channels": 1}
        await hear_now({call: {"alice"}})
        frames = len(stream.frames)
        await asyncio.sleep(2)
        assert 50 <= len(stream.frames) - frames <= 115
        # What others hear of it besides is decoded here.
        await bot.tell(session, "play", items=[{"tone": "dial"}])
        await hear_now({call: {MUSIC}})
        await bot.tell(session, "stop")
        await hear_now({call: {"alice"}})
        await stream.say(type="clear")
        await stream.expect("cleared")
        (await call.end()).succeeded()
        assert await stream.closed() == 1000


async def test_what_was_heard_is_told_and_can_be_dropped(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session) as stream:
        await stream.play(tone("carol", 2))
        await stream.say(type="mark", name="first")
        await hear_now({call: {"carol"}}, still=0)
        assert (await stream.expect("marked"))["heard"] == 2_000
        await stream.expect("drained")
        await hear_now({call: set()})
        await stream.play(tone("dave", 30))
        await stream.say(type="mark", name="second")
        await hear_now({call: {"dave"}}, still=0)
        await stream.say(type="clear")
        marked, cleared = await stream.expect("marked"), await stream.expect("cleared")
        assert (marked["name"], marked["cleared"]) == ("second", True)
        assert 2_000 < cleared["heard"] == marked["heard"] < 20_000
        await hear_now({call: set()})
        await stream.play(tone("erin", 30))
        await stream.say(type="pause")
        await hear_now({call: set()})
        await stream.say(type="resume")
        await hear_now({call: {"erin"}}, still=0)
    (await call.end()).succeeded()


async def test_a_list_goes_before_the_stream(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session, echoes=True) as stream:
        await hear_now({call: {"alice"}})
        await bot.tell(session, "play", items=[{"tone": "dial"}])
        await hear_now({call: {MUSIC}})
        await bot.tell(session, "stop")
        await hear_now({call: {"alice"}})
        await bot.tell(session, "mute")
        await hear_now({call: set()})
        await bot.tell(session, "unmute")
        await hear_now({call: {"alice"}})
        await bot.tell(session, "hold")
        await call.until(lambda: call.remotely_held and "alice" not in call.hears(), "hears itself no more")
        await bot.tell(session, "resume")
        await hear_now({call: {"alice"}})
        assert stream.code is None
    (await call.end()).succeeded()


async def test_keys_in_both_directions_and_the_end(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session) as stream:
        (await alice.media(call.session, type="dtmf", digits="59")).succeeded()
        assert (await stream.expect("keys"))["keys"] == "5" and (await stream.expect("keys"))["keys"] == "9"
        gathering = await bot.tell(session, "gather", maximum=2, firstTimeout=20_000)
        assert gathering["gathering"] == {"keys": ""}
        (await alice.media(call.session, type="dtmf", digits="7")).succeeded()
        await stream.expect("keys", keys="7")
        await bot.until(session, gathering={"keys": "7"})
        await stream.say(type="keys", keys="12#")
        await stream.socket.send('{"type": "keys", "keys": "x"}')
        assert (await stream.expect("refused"))["code"] == "invalid_value"
        await stream.say(type="end")
        assert (await stream.expect("end"))["reason"] == "callEnded" and await stream.closed() == 1000
    await call.over()
    assert (await bot.until(session, state="ended"))["ending"]["cause"] == "normal_clearing"


async def test_the_stream_follows_the_leg_into_another_call(party, bot):
    """Alice connects the bot, which she talks to, with Bob."""
    alice, bob = await party("alice", sounds=True), await party("bob", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session, echoes=True) as stream:
        await hear_now({call: {"alice"}})
        (await call.transfer("bob")).succeeded()
        at_bob = await bob.incoming()
        (await at_bob.answer()).succeeded()
        await hear_now({at_bob: {"bob"}})
        assert stream.code is None
        (await at_bob.end()).succeeded()
        await stream.closed()


# Other dialects: the messages are those of the documents of Twilio and Asterisk


async def test_an_echo_for_twilio(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    uri = Stream(bot.base, session, dialect="twilio").uri
    heard: list[dict] = []
    async with connect(uri, additional_headers={"Authorization": f"Bearer {DEMO_KEY}"}, proxy=None) as socket:

        async def read():
            async for text in socket:
                message = held("twilioGateway", text)
                if message["event"] == "media":
                    played = {"payload": message["media"]["payload"]}
                    back = json.dumps({"event": "media", "streamSid": message["streamSid"], "media": played})
                    held("twilioBot", back)
                    await echo(socket, back)
                heard.append(message)

        reader = asyncio.create_task(read())
        await hear_now({call: {"alice"}})
        connected, start = heard[:2]
        assert (connected["event"], connected["protocol"]) == ("connected", "Call")
        assert start["start"]["mediaFormat"] == {"encoding": "audio/x-mulaw", "sampleRate": 8_000, "channels": 1}
        stream = start["streamSid"]
        assert stream.startswith("MZ") and start["start"]["callSid"].startswith("CA")
        media = [message for message in heard if message["event"] == "media"]
        assert [int(each["media"]["chunk"]) for each in media] == list(range(1, len(media) + 1))
        assert {len(base64.b64decode(each["media"]["payload"])) for each in media} == {160}
        mark = json.dumps({"event": "mark", "streamSid": stream, "mark": {"name": "here"}})
        held("twilioBot", mark)
        await socket.send(mark)
        (await alice.media(call.session, type="dtmf", digits="4")).succeeded()
        await told(heard, lambda each: each["event"] == "mark" and each["mark"]["name"] == "here")
        await told(heard, lambda each: each["event"] == "dtmf" and each["dtmf"]["digit"] == "4")
        (await call.end()).succeeded()
        await told(heard, lambda each: each["event"] == "stop")
        await reader
    numbers = [int(each["sequenceNumber"]) for each in heard[1:]]
    assert numbers == list(range(1, len(heard)))


async def test_an_echo_for_asterisk(party, bot):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    uri = Stream(bot.base, session, dialect="asterisk", format="l16", rate="8000").uri
    heard: list[str] = []
    headers = {"Authorization": f"Bearer {DEMO_KEY}"}
    async with connect(uri, additional_headers=headers, subprotocols=["media"], proxy=None) as socket:
        assert socket.subprotocol == "media"

        async def read():
            async for message in socket:
                if isinstance(message, bytes):
                    await echo(socket, message)
                else:
                    heard.append(message)

        reader = asyncio.create_task(read())
        await hear_now({call: {"alice"}})
        assert heard[0].startswith("MEDIA_START ") and "format:slin " in heard[0]
        assert "optimal_frame_size:320 " in heard[0]
        await socket.send("MARK_MEDIA here")
        await socket.send("GET_STATUS")
        await told(heard, lambda each: each == "MEDIA_MARK_PROCESSED here")
        await told(heard, lambda each: each.startswith("STATUS "))
        await socket.send("HANGUP")
        await reader
    await call.over()


async def told(heard: list, is_wanted, timeout: float = 20):
    async with asyncio.timeout(timeout):
        while not any(map(is_wanted, heard)):
            await asyncio.sleep(0.02)


# One stream


@pytest.mark.parametrize(("absence", "heard"), [("silence", set()), ("music", {MUSIC})])
async def test_a_program_that_is_gone_may_come_back(party, bot, absence, heard):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    async with Stream(bot.base, session, echoes=True, absence=absence) as stream:
        name = (await stream.expect("start"))["stream"]
        await hear_now({call: {"alice"}})
        status, problem = await refused(bot.base, session)
        assert (status, problem["code"]) == (409, "call.not_allowed") and "already" in problem["detail"]
        stream.socket.transport.abort()
        await bot.until(session, stream="waiting")
    await hear_now({call: heard})
    async with Stream(bot.base, session, echoes=True, absence=absence) as stream:
        again = await stream.expect("start")
        assert (again["stream"], again["reconnected"]) == (name, True) and again["at"] >= 1_000
        await hear_now({call: {"alice"}})
    # A socket that is closed in good order has ended the stream: what comes next is another one.
    await bot.until(session, stream=None)
    await hear_now({call: heard})
    async with Stream(bot.base, session, echoes=True, absence=absence) as stream:
        anew = await stream.expect("start")
        assert anew["stream"] != name and (anew["reconnected"], anew["at"]) == (False, 0)
        await hear_now({call: {"alice"}})
        stream.socket.transport.abort()
        await bot.until(session, stream="waiting")
    async with Stream(bot.base, session, echoes=True, format="pcmu") as stream:
        other = await stream.expect("start")
        assert other["stream"] not in (name, anew["stream"]) and other["reconnected"] is False
        await hear_now({call: {"alice"}})
    (await call.end()).succeeded()


@pytest.mark.parametrize("fallback", ["none", "end"])
async def test_a_program_that_has_connected_itself_is_given_up_when_it_does_not_come_back(party, bot, fallback):
    alice = await party("alice", sounds=True)
    call, session = await answered(bot, alice)
    terms = {"retryTime": 15_000, "fallback": fallback}
    async with Stream(bot.base, session, echoes=True, **terms) as stream:
        opened = time.monotonic()
        await hear_now({call: {"alice"}})
        stream.socket.transport.abort()
        await bot.until(session, stream="waiting")
    async with Stream(bot.base, session, echoes=True, **terms) as stream:
        assert (await stream.expect("start"))["reconnected"] is True
        await hear_now({call: {"alice"}})
        stream.socket.transport.abort()
        await bot.until(session, stream="waiting")
    # Neither socket was there for ten seconds, so that the time has begun with the first one.
    if fallback == "end":
        await bot.until(session, timeout=40, state="ended")
        await call.over()
    else:
        await bot.until(session, timeout=40, stream=None)
    assert time.monotonic() - opened >= 14.5
    if fallback == "none":
        assert (await bot.show(session))["state"] == "talking"
        # A program may still connect; one that closes its socket in good order is not waited for.
        async with Stream(bot.base, session, echoes=True, fallback="end", retryTime=0) as stream:
            await hear_now({call: {"alice"}})
        await bot.until(session, stream=None)
        await asyncio.sleep(1)
        assert (await bot.show(session))["state"] == "talking"
        (await call.end()).succeeded()


async def test_a_call_has_a_stream_in_the_states_in_which_it_plays(party, bot):
    alice = await party("alice")
    call = await alice.dial("bot")
    session = (await bot.incoming())["id"]
    status, problem = await refused(bot.base, session)
    assert (status, problem["code"], problem["state"]) == (409, "call.not_allowed", "ringing")
    assert "stream" not in problem["allowed"]
    assert "stream" in (await bot.tell(session, "answer"))["allowed"]
    await call.answered()
    async with Stream(bot.base, session) as stream:
        await stream.expect("start")
        # It is the only one, and not the gateway's to end.
        assert "stream" not in (await bot.show(session))["allowed"]
    assert "stream" in (await bot.until(session, stream=None))["allowed"]
    assert "stream" not in (await bot.tell(session, "hold"))["allowed"]
    await bot.tell(session, "end")
    await call.over()
    status, problem = await refused(bot.base, session)
    assert (status, problem["code"], problem["state"]) == (409, "call.not_allowed", "ended")
    assert problem["allowed"] == []


async def test_what_a_stream_cannot_be_is_said(party, bot):
    alice = await party("alice")
    call, session = await answered(bot, alice)
    for query, word in [
        ({"format": "mp3"}, "format"), ({"rate": "44100"}, "16000"), ({"format": "opus", "rate": "8000"}, "48000"),
        ({"dialect": "twilio", "format": "opus"}, "opus"),
        ({"rate": "fast"}, "rate"), ({"format": "pcmu", "rate": "16000"}, "8000"), ({"dialect": "latin"}, "dialect"),
        ({"dialect": "twilio", "format": "l16"}, "twilio"), ({"absence": "noise"}, "absence"),
        ({"speed": "2"}, "speed"), ({"bargeIn": "1"}, "bargeIn"), ({"media": "some"}, "media"),
        ({"retryTime": "-1"}, "retryTime"), ({"fallback": "sing"}, "fallback"),
    ]:  # fmt: skip
        status, problem = await refused(bot.base, session, **query)
        assert (status, problem["code"]) == (400, "request.invalid_parameter"), query
        assert word in problem["detail"], problem
    plain = await bot.ask("GET", f"/v1/calls/{session}/stream")
    assert "WebSocket" in plain.refused(426, "request.upgrade_required")["detail"]
    assert plain.headers["Upgrade"] == "websocket"
    (await call.end()).succeeded()


async def test_a_stream_is_for_the_application_of_the_call(own_gateway, tmp_path, party):
    options = configured(tmp_path, ["alice"])
    keys = {}
    for name in ("bot", "rival"):
        added = await asyncio.to_thread(orbweaver, "app", "add", name, "--address", f"{name}@dev.local", *options)
        assert added.returncode == 0, added.stderr
    for name, scopes in (("bot", []), ("rival", []), ("deaf", ["--scope", "calls:write"])):
        if name == "deaf":
            await asyncio.to_thread(orbweaver, "app", "add", name, "--address", "deaf@dev.local", *scopes, *options)
        key = await asyncio.to_thread(orbweaver, "app", "key", "add", name, *options)
        keys[name] = key.stdout.strip()
    own = await asyncio.to_thread(own_gateway.configured, *options)
    alice = await party("alice", base=own.http)
    async with Bot(own.http, keys["bot"]) as bot:
        call, session = await answered(bot, alice)
        for key, expected in [
            (None, (401, "auth.missing")), ("owk_" + "A" * 42, (401, "auth.invalid_token")),
            (keys["rival"], (404, "call.not_found")), (keys["deaf"], (403, "auth.forbidden")),
        ]:  # fmt: skip
            status, problem = await refused(own.http, session, key)
            assert (status, problem["code"]) == expected, key
        # A browser cannot send the header.
        uri = Stream(own.http, session).uri + "access_token=" + keys["bot"]
        async with connect(uri, proxy=None) as socket:
            assert json.loads(await socket.recv())["type"] == "start"
        (await call.end()).succeeded()
