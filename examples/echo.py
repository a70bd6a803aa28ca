"""An echo: whoever calls hears what they say, from a program on a WebSocket. It takes calls until it is stopped.
Needs clients/python: pip install clients/python
"""
import asyncio
import os
from contextlib import suppress

from orbweaver import Call, CallEnded, Client, NotAllowed
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "owk_demo-key-of-orbweaver-that-everybody-knows")


async def echo(call: Call) -> None:
    await call.answer()
    url = f"ws{BASE.removeprefix('http')}/v1/calls/{call.id}/stream?rate=48000"
    async with connect(url, additional_headers={"Authorization": f"Bearer {KEY}"}) as stream:
        async for message in stream:
            if isinstance(message, bytes):
                await stream.send(message)
            else:
                print(message, flush=True)


async def take(call: Call) -> None:
    with suppress(CallEnded, NotAllowed, InvalidStatus, ConnectionClosed):  # the caller has left
        await echo(call)


async def main() -> None:
    async with Client(BASE, KEY) as client, asyncio.TaskGroup() as calls:
        async for call in client.incoming():
            calls.create_task(take(call))


asyncio.run(main())
