"""Bots that do not behave in the dialects of Twilio and of Asterisk, whichever side opens the socket, as
`test_stream_faults.py` has them in the gateway's own dialect: nonsense, crumbs, an hour at once, audio of another rate,
pieces of odd lengths, sockets that are not read. Twilio has no word for what is wrong, so that such a bot is told
nothing, and what it sends too early waits. Asterisk has `ERROR`, and `MEDIA_XOFF` and `MEDIA_XON` (docs/bots.md,
*Audio streams*)."""
import asyncio
import contextlib
import itertools
import re

import numpy
import pytest
import pytest_asyncio
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from party import TONES, hear_now
from peers.bot import Bot
from peers.codecs import PCMU, encode
from peers.stream import Stream
from peers.talker import Talker, mark
from peers.waiting import until
from test_connections import resident_megabytes
from test_stream_callers import WAYS
from test_stream_faults import FEW_MEGABYTES, calls, takes_another
from test_streams import tone
from test_twilio_library import mu_law

DIALECTS = ["twilio", "asterisk", "asterisk-json"]
REFUSED = "orbweaver_stream_messages_refused_total"
NONSENSE = {
    "twilio": [
        "hello", "[]", "{}", '{"event": 7}', '{"event": "sing"}', '{"event": "mark"}', '{"event": "media"}',
        '{"event": "media", "media": {"payload": "&"}}', '{"event": "clear", "streamSid": "MZ0"}', bytes(160),
    ],
    "asterisk": [
        "hello", "{", "{}", '{"command": 7}', '{"command": "SING"}', "media_start", "MARK_MEDIA " + 256 * "i",
    ],
}  # fmt: skip
NONSENSE["asterisk-json"] = NONSENSE["asterisk"]


@pytest_asyncio.fixture
async def bot(gateway):
    async with Bot(gateway.http) as bot:
        yield bot


@pytest.mark.parametrize("fallback", ["none", "end"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_cannot_be_read_is_refused_and_a_bot_of_nothing_else_is_given_up(
    gateway, party, bot, dialect, way, fallback
):
    talker = Talker(dialect, fallback=fallback)
    async with calls(party, bot) as (call, session):
        async with talker.talks(bot, session, way):
            await talker.starts()
            await talker.play(mu_law("carol", 40))
            await hear_now({call: {"carol"}})
            known, before = len(talker.words), gateway.metric(REFUSED)
            for number, message in enumerate(NONSENSE[dialect], 1):
                await talker.send(message)
                if dialect != "twilio":
                    assert "error_text" in await talker.has("ERROR", number)
            expected = before + len(NONSENSE[dialect])
            await until(lambda: gateway.metric(REFUSED) == expected)
            if dialect == "twilio":
                assert len(talker.words) == known, "it has no word for that"
            # A message that is understood starts the count anew.
            await talker.mark("good")
            await hear_now({call: {"carol"}})
            for _ in range(100):
                await talker.send("nonsense")
            assert await talker.ended() == 1008
            if dialect == "twilio":
                assert '"event":"stop"' in talker.words[-1]
            if fallback == "end":
                await call.over()
                await bot.until(session, state="ended")
            else:
                await bot.until(session, stream=None)
        if fallback == "none":
            await takes_another(bot, call, session)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dialect", ["twilio", "asterisk"])
async def test_audio_that_comes_byte_by_byte_is_heard_as_if_it_had_come_in_one_piece(party, bot, dialect, way):
    talker = Talker(dialect)
    async with calls(party, bot) as (call, session), talker.talks(bot, session, way):
        await talker.starts()
        # The crumbs have all come when it is their turn.
        await talker.play(mu_law("dave", 20))
        crumbs = mu_law("carol", 3)
        for place in range(len(crumbs)):
            await talker.play(crumbs[place : place + 1])
        await talker.mark("crumbs")
        await hear_now({call: {"dave"}}, still=0)
        await hear_now({call: {"carol"}}, timeout=40, still=0)
        await talker.marked("crumbs")
        await hear_now({call: set()})
        assert not talker.named("ERROR")
        (await call.end()).succeeded()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dialect", ["asterisk", pytest.param("asterisk-json", marks=pytest.mark.nightly)])
async def test_of_an_hour_in_the_dialect_of_asterisk_a_minute_is_taken_and_the_rest_is_refused(
    gateway, party, bot, dialect, way
):
    """In that of Twilio all of it waits (`test_stream_faults.py`)."""
    talker = Talker(dialect, format="l16", rate=16_000)
    async with calls(party, bot) as (call, session):
        async with talker.talks(bot, session, way):
            await talker.starts()
            # As much as a message may have.
            piece, before = tone("dave", 16).astype("<i2").tobytes(), resident_megabytes(gateway)
            for _ in range(3_600 // 16):
                await talker.play(piece)
            await talker.has("MEDIA_XOFF")
            assert "were not taken" in await talker.has("ERROR", timeout=60)
            assert resident_megabytes(gateway) - before < FEW_MEGABYTES
            await hear_now({call: {"dave"}})
            status = await talker.status()
            assert status["queue_full"] is True and 1_500 < status["queue_length"] <= 3_000
            await talker.clear()
            await talker.has("MEDIA_XON")
            await hear_now({call: set()})
            if way == "out":
                await bot.tell(session, "stream", action="stop")
        await bot.until(session, stream=None)
        await takes_another(bot, call, session)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dialect", ["twilio", "asterisk"])
async def test_audio_of_three_times_the_rate_is_heard_slowly(gateway, party, bot, dialect, way):
    """24,000 samples a second sent as if they were 8,000: a tone is heard at a third of its frequency, for three times
    as long."""
    talker = Talker(dialect)
    async with calls(party, bot) as (call, session), talker.talks(bot, session, way):
        await talker.starts()
        before = gateway.metric(REFUSED)
        samples = 8_000 * numpy.sin(2 * numpy.pi * 3 * TONES["carol"] * numpy.arange(24_000) / 24_000)
        second = b"".join(encode(samples.astype(numpy.int16), PCMU))
        for _ in range(30):
            await talker.play(second)
        await talker.mark("slow")
        await hear_now({call: {"carol"}})
        if dialect == "asterisk":
            await talker.has("MEDIA_XOFF")
            await talker.command("PAUSE_MEDIA")
            status = await talker.status()
            assert status["media_paused"] is True and status["queue_full"] is True
            waiting = 20 * status["queue_length"]
            assert 40_000 < waiting <= 60_000
            errors = talker.named("ERROR")
            lost = [int(re.search(r"(\d+) ms of audio were not taken", each)[1]) for each in errors]
            # The rest was heard. Each number is whole milliseconds.
            assert lost and 0 < sum(lost) <= 90_000 - waiting + len(lost) + 20
        else:
            assert gateway.metric(REFUSED) == before, "it waits"
            assert not talker.named("mark")
        await talker.clear()
        if dialect == "asterisk":
            await talker.has("MEDIA_XON")
        else:
            await talker.marked("slow")
        await hear_now({call: set()})
        # A bot that keeps to its rate is heard as if nothing had been.
        await talker.play(mu_law("dave", 20))
        await hear_now({call: {"dave"}})
        (await call.end()).succeeded()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("dialect", "terms"), [("twilio", {}), ("asterisk", {"format": "l16", "rate": 16_000})], ids=["twilio", "asterisk"]
)
async def test_pieces_of_odd_lengths_are_put_together(party, bot, dialect, terms, way):
    """Also within a sample of 16 bits, half of which is left out at the end."""
    talker = Talker(dialect, **terms)

    def said(name: str, seconds: float) -> bytes:
        return tone(name, seconds).astype("<i2").tobytes() if terms else mu_law(name, seconds)

    async with calls(party, bot) as (call, session), talker.talks(bot, session, way):
        await talker.starts()
        data, place = said("carol", 10), 0
        for length in itertools.cycle([1, 3, 641, 639, 7, 1_279]):
            await talker.play(data[place : place + length])
            place += length
            if place >= len(data):
                break
        await talker.mark("odd")
        await hear_now({call: {"carol"}})
        await talker.marked("odd")
        await talker.play(b"\x7f")
        if dialect == "asterisk":
            await talker.send("STOP_MEDIA_BUFFERING rest")
            await talker.told(lambda word: word == "MEDIA_BUFFERING_COMPLETED rest")
        else:
            await talker.mark("rest")
            await talker.marked("rest")
        # What comes then is not put together with it: that would be noise.
        await talker.play(said("dave", 10))
        await hear_now({call: {"dave"}})
        assert not talker.named("ERROR")
        (await call.end()).succeeded()


async def floods(socket: Connection, dialect: str):
    """Sets marks, which are answered at once, until the socket is lost: whoever does not read that is cut off."""
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(150):
            for number in itertools.count():
                await socket.send(mark(dialect, f"{number:0>250}"))
                await asyncio.sleep(0)  # so that the loss is noticed


@pytest.mark.parametrize("dialect", ["twilio", "asterisk"])
async def test_a_bot_that_does_not_read_what_it_asks_for_is_cut_off_and_the_call_goes_on(party, bot, dialect):
    async with calls(party, bot) as (call, session):
        async with Stream(bot.base, session, reads=False, dialect=dialect) as stream:
            await floods(stream.socket, dialect)
            await bot.until(session, stream="waiting")
        await takes_another(bot, call, session)


@pytest.mark.parametrize(("dialect", "subprotocols"), [("twilio", None), ("asterisk", ["media"])])
async def test_a_server_that_does_not_read_what_it_asks_for_is_cut_off_and_connected_to_again(
    party, bot, dialect, subprotocols
):
    sockets: list[ServerConnection] = []

    async def talk(socket: ServerConnection):
        socket.transport.pause_reading()
        sockets.append(socket)
        await socket.wait_closed()

    quiet = {"ping_interval": None, "compression": None}
    async with calls(party, bot) as (call, session):
        async with serve(talk, "127.0.0.1", 0, subprotocols=subprotocols, **quiet) as server:
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            await bot.tell(session, "stream", url=url, dialect=dialect)
            await bot.until(session, stream="open")
            await until(lambda: len(sockets) == 1)
            await floods(sockets[0], dialect)
            await until(lambda: len(sockets) == 2, timeout=60)
            assert "stream" not in await bot.tell(session, "stream", action="stop")
            await takes_another(bot, call, session)
            assert len(sockets) == 2
            for each in sockets:  # they would not read the answer to their close
                each.transport.abort()
                await each.wait_closed()
