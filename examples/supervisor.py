"""A supervisor: brings the next caller together with $AGENT, and writes what both say into the WAV file $FILE. Nobody
hears the supervisor. Needs clients/python: pip install clients/python
"""
import asyncio
import os
import wave

from orbweaver import Call, Client
from websockets.asyncio.client import connect

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "owk_demo-key-of-orbweaver-that-everybody-knows")
AGENT, FILE = os.environ.get("AGENT", "alice@dev.local"), os.environ.get("FILE", "call.wav")


async def listen(call: Call) -> None:
    url = f"ws{BASE.removeprefix('http')}/v1/calls/{call.id}/stream?rate=48000"
    with wave.open(FILE, "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", "not compressed"))
        async with connect(url, additional_headers={"Authorization": f"Bearer {KEY}"}) as stream:
            async for message in stream:
                file.writeframes(message if isinstance(message, bytes) else b"")


async def main() -> None:
    async with Client(BASE, KEY) as client, asyncio.TaskGroup() as tasks:
        caller = await anext(client.incoming())
        await caller.answer()
        agent = await client.start_call(AGENT)
        await agent.answered()
        both = await caller.bridge(agent, bot="listen")
        await both.answered()
        tasks.create_task(listen(both))
        await both.until(lambda shown: len(shown.members) < 2)
        if both.state != "ended":
            await both.end()


asyncio.run(main())
