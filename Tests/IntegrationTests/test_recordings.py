"""Recordings of calls of applications (docs/bots.md, Recordings). The files are decoded by ffmpeg (PyAV)."""
import asyncio
import io
import json
import time
from pathlib import Path

import av
import httpx
import numpy
import pytest
import pytest_asyncio

from durability import configured
from party import TONES, hear_now
from party.tones import Ear, amplitudes, encoded
from peers import sound
from peers.bot import Bot
from peers.event_contract import checked
from peers.gateway import orbweaver
from peers.stream import Stream
from test_webhooks import OPEN, Receiver

RATE = 48_000
FAINT = 400
"""Of an amplitude of 8,000, which all tones have."""


def decoded(file: bytes) -> numpy.ndarray:
    """The samples of each channel."""
    with av.open(io.BytesIO(file)) as container:
        stream = container.streams.audio[0]
        assert stream.rate == RATE
        resampler = av.AudioResampler(format="s16p", layout=stream.layout, rate=RATE)
        frames = [each for frame in container.decode(stream) for each in resampler.resample(frame)]
        return numpy.concatenate([frame.to_ndarray() for frame in frames], axis=1)


def heard(samples: numpy.ndarray, start: float = 0.5, end: float | None = None) -> set[str]:
    """Whose tones are in at least one tenth of a second of the part."""
    part = samples[int(start * RATE) : None if end is None else int(end * RATE)]
    found = set()
    for place in range(0, len(part) - RATE // 10, RATE // 10):
        levels = amplitudes(part[place : place + RATE // 10].astype(float), tuple(TONES.values()))
        found |= {name for name, level in zip(TONES, levels, strict=True) if level > FAINT}
    return found


def seconds(samples: numpy.ndarray) -> float:
    return samples.shape[1] / RATE


class Recorder(Bot):
    """A bot that records."""

    async def record(self, call: str, **fields) -> str:
        """The name of a recording that has started."""
        return (await self.tell(call, "record", **fields))["recordings"][-1]["id"]

    @property
    def key(self) -> str:
        return self._headers["Authorization"].removeprefix("Bearer ")

    async def recording_call(self) -> dict:
        """The one call of the application that is recorded, as soon as there is one."""
        def recorded(calls: list[dict]) -> list[dict]:
            return [each for each in calls if any(one["state"] == "recording" for one in each.get("recordings", []))]

        return recorded(await self._until(lambda: self.calls(state="talking"), recorded, 20))[0]

    async def started(self, recording: str) -> float:
        """When it has, as the gateway tells it: seconds since 1970."""
        query = "since=oldest&types=recording.started&wait=0"

        async def ask() -> list[dict]:
            page = (await self.ask("GET", f"/v1/events?{query}", Accept="application/json")).succeeded()
            return [each for each in page["events"] if each["data"]["recording"] == recording]

        return (await self._until(ask, bool, 20))[0]["time"] / 1_000

    async def stopped(self, recording: str, timeout: float = 30) -> dict:
        """What is known of a recording once it is over."""

        async def ask() -> dict:
            return (await self.ask("GET", f"/v1/recordings/{recording}")).succeeded()

        return await self._until(ask, lambda shown: shown["state"] == "stopped", timeout)

    async def fetch(self, recording: str, **headers: str) -> httpx.Response:
        async with httpx.AsyncClient() as client:
            return await client.get(
                f"{self.base}/v1/recordings/{recording}/audio", headers={**self._headers, **headers}, timeout=60
            )

    async def file(self, recording: str) -> bytes:
        answer = await self.fetch(recording)
        assert answer.status_code == 200, answer.text
        return answer.content


async def with_key(own, options, name: str, *details: str) -> Recorder:
    added = await asyncio.to_thread(orbweaver, "app", "add", name, *details, *options)
    assert added.returncode == 0, added.stderr
    key = await asyncio.to_thread(orbweaver, "app", "key", "add", name, *options)
    assert key.returncode == 0, key.stderr
    return Recorder(own.http, key.stdout.strip())


def settings(folder: Path, calls: dict | None = None, webhooks: dict | None = None, **recordings) -> tuple[str, ...]:
    for name in ("sounds", "recordings"):
        (folder / name).mkdir()
    sound.tone(folder / "sounds" / "hello.wav", TONES["carol"], seconds=3)
    return configured(
        folder, ["alice", "bob"], media={"bind": "127.0.0.1", "folder": folder / "sounds"},
        recordings={"folder": folder / "recordings", **recordings}, **({"calls": calls} if calls else {}),
        **({"webhooks": webhooks} if webhooks else {}),
    )  # fmt: skip


@pytest_asyncio.fixture
async def site(own_gateway, tmp_path):
    options = settings(tmp_path)
    own = await asyncio.to_thread(own_gateway.configured, *options)
    async with await with_key(own, options, "box", "--address", "box@dev.local", "--decision-time", "60") as bot:
        yield own, options, bot


async def talking(own, bot: Recorder, party):
    """A call of alice, whose tone the bot hears, to the bot, whose tone alice hears: carol's."""
    alice = await party("alice", base=own.http, sounds=True)
    call = await alice.dial("box")
    session = (await bot.incoming())["id"]
    await bot.tell(session, "answer")
    await call.answered()
    await call.connected()
    await bot.tell(session, "play", items=[{"file": "hello.wav"}], loops=0)
    await hear_now({call: {"carol"}})
    return call, session


@pytest.mark.parametrize("format", ["wav", "ogg"])
async def test_who_is_heard_in_which_channel(site, party, format):
    own, _, bot = site
    call, session = await talking(own, bot, party)
    wanted = [
        ({"channels": 2}, [{"alice"}, {"carol"}]),
        ({}, [{"alice", "carol"}]),
        ({"sides": "own"}, [{"carol"}]),
        ({"sides": "other"}, [{"alice"}]),
    ]
    for fields, channels in wanted:
        recording = await bot.record(session, format=format, tag="order 7", **fields)
        assert (await bot.show(session))["recordings"][-1] == {"id": recording, "tag": "order 7", "state": "recording"}
        await asyncio.sleep(2.5)
        shown = await bot.tell(session, "record", action="stop")
        assert shown["recordings"][-1]["state"] == "stopped"
        known = await bot.stopped(recording)
        assert (known["reason"], known["format"], known["tag"]) == ("command", format, "order 7")
        file = await bot.file(recording)
        assert len(file) == known["bytes"]
        samples = decoded(file)
        assert samples.shape[0] == len(channels) == known["channels"]
        assert abs(seconds(samples) - known["milliseconds"] / 1_000) < 0.001 and seconds(samples) > 1.5
        assert [heard(channel) for channel in samples] == channels, fields
    await bot.tell(session, "mute")
    muted = await bot.record(session, format=format, channels=2)
    await asyncio.sleep(1.5)
    (await call.end()).succeeded()
    assert (await bot.stopped(muted))["reason"] == "callEnded"
    assert [heard(channel) for channel in decoded(await bot.file(muted))] == [{"alice"}, set()]
    listed = (await bot.ask("GET", f"/v1/recordings?session={session}")).succeeded()["items"]
    assert [each["id"] for each in listed] == [f"{session}-{number}" for number in range(1, 6)]


async def test_one_side_of_a_caller_who_sends_opus_is_recorded_packet_by_packet(site, party):
    own, _, bot = site
    call, session = await talking(own, bot, party)
    sent = set(encoded(TONES["alice"]))
    # A recording that silence may end is encoded anew by the gateway.
    for fields, is_own in [({}, True), ({"silence": 60_000}, False)]:
        began = time.monotonic()
        recording = await bot.record(session, format="ogg", sides="other", **fields)
        await asyncio.sleep(2.5)
        await bot.tell(session, "record", action="stop")
        known = await bot.stopped(recording)
        passed = time.monotonic() - began
        file = await bot.file(recording)
        with av.open(io.BytesIO(file)) as container:
            packets = [bytes(packet) for packet in container.demux(audio=0) if packet.size]
        # A packet of one byte stands for one that alice, who may be late, has not sent. The last one is the gateway's.
        content = [packet for packet in packets[:-1] if len(packet) > 1]
        as_sent = sum(packet in sent for packet in content)
        assert as_sent == (len(content) if is_own else 0), f"{as_sent} of {len(content)}, in {len(packets)}"
        # A tenth of what a punctual sender sends.
        assert len(content) >= 12
        samples = decoded(file)
        assert [heard(channel) for channel in samples] == [{"alice"}]
        assert abs(seconds(samples) - known["milliseconds"] / 1_000) < 0.001
        # A file of packets is as long as the time, whoever is late; samples are made in the cycles of the gateway.
        assert (1.5 if is_own else 0.7) < seconds(samples) < passed + 0.5
    (await call.end()).succeeded()


async def test_what_is_said_in_a_pause_is_not_in_the_file(site, party):
    own, _, bot = site
    call, session = await talking(own, bot, party)
    await bot.tell(session, "stop")
    await hear_now({call: set()})
    recording = await bot.record(session, format="wav", sides="own")
    await asyncio.sleep(1)
    paused = await bot.tell(session, "record", action="pause")
    assert paused["recordings"][-1]["state"] == "paused"
    again = (await bot.ask("POST", f"/v1/calls/{session}/record", {"action": "pause"})).refused(409, "call.not_allowed")
    assert "paused" in again["detail"]
    await bot.tell(session, "play", items=[{"file": "hello.wav"}], loops=0)
    await asyncio.sleep(1.5)
    await bot.tell(session, "stop")
    await hear_now({call: set()})
    await bot.tell(session, "record", action="resume")
    await asyncio.sleep(1)
    await bot.tell(session, "record", action="stop")
    known = await bot.stopped(recording)
    samples = decoded(await bot.file(recording))
    assert 1_000 <= known["milliseconds"] <= 5_000
    assert heard(samples[0], start=0) == set()
    (await call.end()).succeeded()


async def test_parts_of_a_file_are_fetched_and_put_together(site, party):
    own, _, bot = site
    call, session = await talking(own, bot, party)
    recording = await bot.record(session, format="wav")
    (await bot.ask("GET", f"/v1/recordings/{recording}/audio")).refused(409, "recording.not_ended")
    (await bot.ask("DELETE", f"/v1/recordings/{recording}")).refused(409, "recording.not_ended")
    await asyncio.sleep(1.5)
    (await call.end()).succeeded()
    size = (await bot.stopped(recording))["bytes"]
    whole = await bot.fetch(recording)
    assert whole.headers["content-type"] == "audio/wav" and whole.headers["accept-ranges"] == "bytes"
    tag = whole.headers["etag"]
    parts, step = b"", 50_000
    for start in range(0, size, step):
        part = await bot.fetch(recording, **{"Range": f"bytes={start}-{start + step - 1}", "If-Range": tag})
        assert part.status_code == 206
        assert part.headers["content-range"] == f"bytes {start}-{min(start + step, size) - 1}/{size}"
        parts += part.content
    assert parts == whole.content
    assert (await bot.fetch(recording, Range="bytes=-100")).content == whole.content[-100:]
    beyond = await bot.fetch(recording, Range=f"bytes={size}-")
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
    other = await bot.fetch(recording, **{"Range": "bytes=0-9", "If-Range": '"another"'})
    assert (other.status_code, other.content) == (200, whole.content)
    async with httpx.AsyncClient() as client:
        url = f"{own.http}/v1/recordings/{recording}/audio"
        head = await client.head(url, headers={**bot._headers, "Range": "bytes=0-9"})
        assert (head.status_code, head.headers["content-length"], head.content) == (200, str(size), b"")


async def test_a_recording_ends_when_it_is_long_enough_or_nobody_speaks(site, party):
    own, _, bot = site
    call, session = await talking(own, bot, party)
    short = await bot.record(session, format="ogg", maximum=1_000)
    known = await bot.stopped(short)
    assert (known["reason"], known["milliseconds"]) == ("maximum", 1_000)
    assert abs(seconds(decoded(await bot.file(short))) - 1) < 0.001
    await bot.until(session, recordings=[{"id": short, "state": "stopped"}])
    await bot.tell(session, "stop")
    await hear_now({call: set()})
    quiet = await bot.record(session, format="wav", sides="own", silence=1_000)
    known = await bot.stopped(quiet)
    assert known["reason"] == "silence" and 1_000 <= known["milliseconds"] < 3_000
    (await call.end()).succeeded()


async def test_the_others_hear_a_tone_that_is_not_in_the_file(site, party):
    own, _, bot = site
    call, session = await talking(own, bot, party)
    await bot.tell(session, "stop")
    await hear_now({call: set()})
    # A tone of 1 kHz counts as music here: it is below the tones of the parties.
    recording = await bot.record(session, format="wav", sides="own", beep=True)
    await call.until(lambda: bool(call.hears()), "hears the tone")
    await asyncio.sleep(1.5)
    (await call.end()).succeeded()
    await bot.stopped(recording)
    samples = decoded(await bot.file(recording))
    assert numpy.abs(samples[0]).max() < 100


async def test_a_call_that_is_started_is_recorded_from_the_answer_on(site, party):
    own, _, bot = site
    alice = await party("alice", base=own.http, sounds=True)
    started = await bot.start("alice", record={"format": "wav", "sides": "other", "tag": "mine"})
    assert started["recordings"] == []
    call = await alice.incoming()
    (await call.answer()).succeeded()
    session = started["id"]
    await bot.until(session, recordings=[{"id": f"{session}-1", "tag": "mine", "state": "recording"}])
    await call.connected()
    await asyncio.sleep(2)
    await bot.tell(session, "end")
    known = await bot.stopped(f"{session}-1")
    assert known["reason"] == "callEnded"
    assert heard(decoded(await bot.file(f"{session}-1"))[0]) == {"alice"}


async def test_events_tell_of_a_recording_and_its_file_is_there(site, party):
    own, _, bot = site

    async def events(since: str | None) -> tuple[list[dict], str]:
        query = "wait=0" + (f"&since={since}" if since else "")
        answer = (await bot.ask("GET", f"/v1/events?{query}", Accept="application/json")).succeeded()
        return [checked(each) for each in answer["events"]], answer["next"]

    _, place = await events(None)
    call, session = await talking(own, bot, party)
    recording = await bot.record(session, format="ogg", tag="order 7")
    for action in ("pause", "resume", "stop"):
        await asyncio.sleep(0.5)
        await bot.tell(session, "record", action=action)
    await bot.stopped(recording)
    (await call.end()).succeeded()
    await bot.until(session, state="ended")
    found: list[dict] = []
    end = time.monotonic() + 20
    while not any(each["type"] == "recording.stopped" for each in found):
        assert time.monotonic() < end
        more, place = await events(place)
        found += more
    told = [each for each in found if each["type"].startswith("recording.")]
    words = ("started", "paused", "resumed", "stopped")
    assert [each["type"] for each in told] == [f"recording.{word}" for word in words]
    shown = (await bot.ask("GET", f"/v1/recordings/{recording}")).succeeded()
    for each in told:
        assert each["call"] == shown["call"] and "sequence" not in each
        assert (each["data"]["recording"], each["data"]["session"]) == (recording, session)
        assert each["data"]["tag"] == "order 7"
    stopped = told[-1]["data"]
    assert stopped["reason"] == "command"
    assert (stopped["milliseconds"], stopped["bytes"]) == (shown["milliseconds"], shown["bytes"])
    assert 0 < told[1]["data"]["milliseconds"] == told[2]["data"]["milliseconds"] < stopped["milliseconds"]


async def test_events_of_a_recording_have_the_trace_of_the_call_also_as_webhooks_and_after_a_kill(
    own_gateway, tmp_path, party
):
    options = settings(tmp_path, webhooks=OPEN)
    own = await asyncio.to_thread(own_gateway.configured, *options)
    trace, receiver = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Receiver()

    async def told(recording: str, step: str) -> tuple[dict, dict]:
        """The header fields and the event of the step."""
        async with asyncio.timeout(30):
            while True:
                for headers, body, _ in receiver.requests:
                    event = json.loads(body)
                    if event["type"] == f"recording.{step}" and event["data"]["recording"] == recording:
                        return headers, event
                await asyncio.sleep(0.05)

    async with await with_key(own, options, "box", "--address", "box@dev.local") as bot:
        added = await asyncio.to_thread(orbweaver, "webhook", "add", "box", receiver.url, *options)
        assert added.returncode == 0, added.stderr
        alice = await party("alice", base=own.http, sounds=True)
        for ends_by_kill in (False, True):
            wish = {"to": "alice@dev.local", "record": {"tag": "order 7"}}
            session = (await bot.ask("POST", "/v1/calls", wish, traceparent=trace)).succeeded(201)["id"]
            call = await alice.incoming()
            (await call.answer()).succeeded()
            recording = (await bot.recording_call())["recordings"][-1]["id"]
            steps = [await told(recording, "started")]
            if ends_by_kill:
                own.kill()
                await asyncio.to_thread(own.start)
            else:
                (await call.end()).succeeded()
                await bot.until(session, state="ended")
            steps.append(await told(recording, "stopped"))
            for headers, event in steps:
                assert headers.get("traceparent") == event.get("traceparent") == trace
            assert event["data"]["reason"] == ("interrupted" if ends_by_kill else "callEnded")
        assert not receiver.faults, receiver.faults


@pytest.mark.parametrize("format", ["wav", "ogg"])
async def test_a_gateway_that_is_killed_leaves_a_file_up_to_the_last_second(site, party, format):
    own, _, bot = site
    _, session = await talking(own, bot, party)
    recording = await bot.record(session, format=format, channels=2)
    began = await bot.started(recording)
    # In the middle of a second, so that what is on its way to the file does not matter.
    await asyncio.sleep(max(0, began + 3.5 - time.time()))
    ended = time.time()
    own.kill()
    killed = time.time()
    await asyncio.to_thread(own.start)
    known = await bot.stopped(recording)
    assert known["reason"] == "interrupted"
    file = await bot.file(recording)
    samples = decoded(file)
    assert len(file) == known["bytes"]
    assert abs(seconds(samples) - known["milliseconds"] / 1_000) < 0.01
    # The event of its start may have taken a moment.
    assert ended - began - 1.0 < seconds(samples) < killed - began + 0.5
    assert [heard(channel) for channel in samples] == [{"alice"}, {"carol"}]


async def test_another_application_has_nothing_of_a_recording(site, party):
    own, options, bot = site
    call, session = await talking(own, bot, party)
    recording = await bot.record(session)
    await asyncio.sleep(0.5)
    (await call.end()).succeeded()
    await bot.stopped(recording)
    async with await with_key(own, options, "other", "--address", "other@dev.local") as other:
        for method, path in (("GET", ""), ("GET", "/audio"), ("DELETE", "")):
            answer = await other.ask(method, f"/v1/recordings/{recording}{path}")
            answer.refused(404, "recording.not_found")
        assert (await other.ask("GET", "/v1/recordings")).succeeded()["items"] == []
    async with Bot(own.http, "Basic YWxpY2U6ZGV2") as user:
        (await user.ask("GET", f"/v1/recordings/{recording}/audio")).refused(403, "auth.forbidden")
    async with Bot(own.http, None) as nobody:
        (await nobody.ask("GET", f"/v1/recordings/{recording}/audio")).refused(401, "auth.missing")
    # An application of the same name that comes later is another one.
    removed = await asyncio.to_thread(orbweaver, "app", "remove", "box", *options)
    assert removed.returncode == 0, removed.stderr
    async with await with_key(own, options, "box", "--address", "box@dev.local") as later:
        (await later.ask("GET", f"/v1/recordings/{recording}/audio")).refused(404, "recording.not_found")


async def test_a_removed_recording_is_gone_with_its_file(site, party, tmp_path):
    own, _, bot = site
    call, session = await talking(own, bot, party)
    recording = await bot.record(session)
    await asyncio.sleep(0.5)
    (await call.end()).succeeded()
    known = await bot.stopped(recording)
    files = [path.name for path in (tmp_path / "recordings").iterdir()]
    assert files == [f"{recording}.ogg"]
    assert (tmp_path / "recordings" / files[0]).stat().st_mode & 0o077 == 0
    assert (await bot.ask("DELETE", f"/v1/recordings/{recording}")).succeeded() == known
    (await bot.ask("GET", f"/v1/recordings/{recording}")).refused(404, "recording.not_found")
    assert not list((tmp_path / "recordings").iterdir())


@pytest.mark.parametrize("format", ["wav", "ogg"])
async def test_what_is_heard_before_the_answer_is_recorded_and_streamed(own_gateway, tmp_path, party, format):
    """Carol's tone is the early media of all callees here."""
    options = settings(tmp_path, calls={"early_media": "file:hello.wav"})
    own = await asyncio.to_thread(own_gateway.configured, *options)
    async with await with_key(own, options, "box", "--address", "box@dev.local", "--decision-time", "60") as bot:
        bob = await party("bob", base=own.http, sounds=True)
        started = await bot.start("bob", earlyMedia=True, record={"format": format, "sides": "other"})
        session, ear = started["id"], Ear()
        at_bob = await bob.incoming()
        shown = await bot.until(session, state="progressing")
        assert {"gather", "record", "stop", "end"} <= set(shown["allowed"]) and "play" not in shown["allowed"]
        refused = await bot.ask("POST", f"/v1/calls/{session}/play", {"items": [{"tone": "dial"}]})
        refused.refused(409, "call.not_allowed")

        def hear(data: bytes):
            ear.take(numpy.frombuffer(data, "<i2"))

        async with Stream(own.http, session, bot.key, rate=RATE, hear=hear) as stream:
            await stream.expect("start")
            await stream.until(lambda: ear.hears() == {"carol"}, "carol's tone before the answer")
            assert (await bot.show(session))["state"] == "progressing"
            recording = (await bot.show(session))["recordings"][0]
            assert recording["state"] == "recording"
            (await at_bob.answer()).succeeded()
            await bot.until(session, state="talking")
            await at_bob.connected()
            await stream.until(lambda: ear.hears() == {"bob"}, "bob after the answer")
            await asyncio.sleep(1)  # of which the recording has a part
            (await at_bob.end()).succeeded()
            assert (await stream.expect("end"))["reason"] == "callEnded"
        await bot.stopped(recording["id"])
        samples = decoded(await bot.file(recording["id"]))[0]
        assert heard(samples, start=0) == {"carol", "bob"}
        assert heard(samples, start=0, end=0.3) == {"carol"}


async def test_old_recordings_make_room(own_gateway, tmp_path, party):
    options = settings(tmp_path, age="3s", bytes=100_000_000)
    own = await asyncio.to_thread(own_gateway.configured, *options)
    async with await with_key(own, options, "box", "--address", "box@dev.local", "--decision-time", "60") as bot:
        call, session = await talking(own, bot, party)
        recording = await bot.record(session)
        await asyncio.sleep(0.5)
        (await call.end()).succeeded()
        await bot.stopped(recording)
        end = time.monotonic() + 30
        while (await bot.ask("GET", f"/v1/recordings/{recording}")).status == 200:
            assert time.monotonic() < end
            await asyncio.sleep(0.2)
        assert not list((tmp_path / "recordings").iterdir())


async def test_without_a_folder_nothing_is_recorded(party, gateway):
    alice = await party("alice")
    async with Bot(gateway.http) as bot:
        call = await alice.dial("bot")
        session = (await bot.incoming())["id"]
        await bot.tell(session, "answer")
        await call.answered()
        refused = (await bot.ask("POST", f"/v1/calls/{session}/record")).refused(403, "service.not_provided")
        assert "recordings.folder" in refused["detail"]
        wish = {"to": "alice@dev.local", "record": {}}
        (await bot.ask("POST", "/v1/calls", wish)).refused(403, "service.not_provided")
        (await call.end()).succeeded()
