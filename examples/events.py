"""Prints what happens in the calls of the application, one JSON object per line. It keeps the id of the last event in
the file $CURSOR, and goes on behind it when the connection ends, or when it is started again.

Needs clients/python: pip install clients/python
"""
import asyncio
import json
import os
from pathlib import Path

from orbweaver import Client

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
KEY = os.environ.get("KEY", "owk_demo-key-of-orbweaver-that-everybody-knows")
CURSOR = Path(os.environ.get("CURSOR", "events.cursor"))


async def main() -> None:
    async with Client(BASE, KEY) as client:
        if not CURSOR.exists():
            CURSOR.write_text((await client.poll(wait=0)).next)
        async for event in client.events(since=CURSOR.read_text().strip()):
            print(json.dumps(event.rest), flush=True)
            CURSOR.write_text(event.id)


asyncio.run(main())
