"""A voicemail: whoever calls hears a tone, and is recorded for at most two minutes, or until five seconds of silence.
Then the messages are listed. Needs clients/python, and a gateway with a folder for recordings (docs/bots.md).
"""
import asyncio
import os
from contextlib import suppress

from orbweaver import Call, CallEnded, Client, NotAllowed, tone

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "owk_demo-key-of-orbweaver-that-everybody-knows")


async def take(client: Client, call: Call) -> None:
    place = (await client.poll(wait=0)).next
    await call.answer()
    await call.play(tone("dial", 500))
    recording = await call.record(sides="other", maximum=120_000, silence=5_000, beep=True, tag="message")
    async for event in client.events(since=place, types=["recording.stopped"]):
        if event.data["recording"] == recording:
            break
    with suppress(NotAllowed):  # the caller has left
        await call.end("Thank you")
    for each in (await client.connection.get("/v1/recordings", state="stopped", tag="message"))["items"]:
        print(f"{each['milliseconds']} ms: {BASE}/v1/recordings/{each['id']}/audio", flush=True)


async def answer(client: Client, call: Call) -> None:
    with suppress(CallEnded, NotAllowed):  # the caller has left before there was anything to record
        await take(client, call)


async def main() -> None:
    async with Client(BASE, KEY) as client, asyncio.TaskGroup() as calls:
        async for call in client.incoming():
            calls.create_task(answer(client, call))


asyncio.run(main())
