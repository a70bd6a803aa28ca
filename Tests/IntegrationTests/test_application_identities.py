"""An application that is removed and made again under the same name is another one, which has nothing of the former."""
import asyncio
import json
import time
from pathlib import Path

import requests

from durability import configured
from peers.event_contract import checked
from peers.gateway import orbweaver
from test_public_events import credentials, kept, polled
from test_recordings import with_key
from test_webhooks import OPEN, Receiver

DETAILS = ("--address", "box@dev.local", "--decision-time", "60")


async def command(*arguments: str, status: int = 0) -> str:
    done = await asyncio.to_thread(orbweaver, *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout.strip()


async def told(base: str, who, since: str, kind: str) -> list[dict]:
    """The events behind a place, as soon as one of this type is among them."""
    end = time.monotonic() + 20
    while True:
        found, _ = await asyncio.to_thread(polled, base, who, since)
        if any(each["type"] == kind for each in found):
            return found
        assert time.monotonic() < end, found
        await asyncio.sleep(0.05)


def streamed_to_the_end(base: str, key: str, since: str) -> list[dict]:
    """The events that a reader is sent until the gateway ends the stream."""
    headers, query = {"Authorization": f"Bearer {key}"}, {"since": since}
    with requests.get(f"{base}/v1/events", headers=headers, params=query, stream=True, timeout=60) as response:
        assert response.status_code == 200, response.text
        return [checked(json.loads(line)) for line in response.iter_lines() if line]


async def both_recordings_are_over(path: Path):
    end = time.monotonic() + 20
    while [kind for _, kind in kept(path, "application box")].count("recording.stopped") < 2:
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


async def test_an_application_that_is_made_again_has_nothing_of_the_former_one(own_gateway, tmp_path, party):
    (tmp_path / "recordings").mkdir()
    options = configured(
        tmp_path, ["alice"], media={"bind": "127.0.0.1"}, recordings={"folder": tmp_path / "recordings"}, webhooks=OPEN
    )
    own = await asyncio.to_thread(own_gateway.configured, *options)
    alice, receiver = await party("alice", base=own.http, sounds=True), Receiver()
    async with await with_key(own, options, "box", *DETAILS) as former:
        _, start = await asyncio.to_thread(polled, own.http, former.key)
        reading = asyncio.create_task(asyncio.to_thread(streamed_to_the_end, own.http, former.key, start))
        webhook = (await command("webhook", "add", "box", receiver.url, *options)).split("\t")[0]
        call = await alice.dial("box")
        session = (await former.incoming())["id"]
        await former.tell(session, "answer")
        await call.answered()
        await call.connected()
        recordings = [await former.record(session, format="wav")]
        await former.tell(session, "record", action="stop")
        await former.stopped(recordings[0])
        recordings.append(await former.record(session, format="ogg"))
        (await former.ask("POST", f"/v1/calls/{session}/mute", Idempotency_Key="k-1")).succeeded()
        seen = await told(own.http, former.key, start, "recording.stopped")
        assert {"leg.joined", "call.answered", "recording.started"} <= {each["type"] for each in seen}
        of_the_former = {each["call"] for each in seen}
        await receiver.has(len(seen))
        await command("app", "remove", "box", *options)
        async with await with_key(own, options, "box", *DETAILS) as later:
            await call.over()
            (await former.ask("GET", "/v1/calls")).refused(401, "auth.invalid_token")
            # All that was told of the former one is in the log.
            await told(own.http, credentials("alice"), start, "call.ended")
            await both_recordings_are_over(tmp_path / "users.sqlite")
            for place in (start, "oldest"):
                assert (await asyncio.to_thread(polled, own.http, later.key, place))[0] == []
            assert await later.calls() == []
            (await later.ask("GET", f"/v1/calls/{session}")).refused(404, "call.not_found")
            (await later.ask("POST", f"/v1/calls/{session}/end")).refused(404, "call.not_found")
            assert (await later.ask("GET", "/v1/recordings")).succeeded()["items"] == []
            for recording in recordings:
                for method, path in (("GET", ""), ("GET", "/audio"), ("DELETE", "")):
                    answer = await later.ask(method, f"/v1/recordings/{recording}{path}")
                    answer.refused(404, "recording.not_found")
            assert await command("webhook", "list", "box", *options) == ""
            await command("webhook", "test", "box", webhook, *options, status=1)
            # The former one's key for a request was used for another request, which would be refused.
            wish = {"to": "alice@dev.local"}
            started = await later.ask("POST", "/v1/calls", wish, Idempotency_Key="k-1")
            assert "Idempotent-Replayed" not in started.headers
            session = started.succeeded(201)["id"]
            ring = await alice.incoming()
            await later.tell(session, "end")
            await ring.over()
            heard = await told(own.http, later.key, "oldest", "call.ended")
            assert not of_the_former & {each["call"] for each in heard}
            # The former one's reader is sent away, although there is an application of that name.
            assert {each["call"] for each in await asyncio.wait_for(reading, 60)} == of_the_former
            await receiver.ended()
            assert {each["call"] for each in receiver.taken} == of_the_former
    receiver.close()
