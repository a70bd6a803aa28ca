"""Waiting for what a test cannot be told of."""
import asyncio
import time
from collections.abc import Callable


async def until(is_met: Callable[[], bool], timeout: float = 30):
    """Asks in a thread of its own until the answer is yes; `timeout` in seconds."""
    end = time.monotonic() + timeout
    while not await asyncio.to_thread(is_met):
        assert time.monotonic() < end, f"it has not come to that in {timeout} s"
        await asyncio.sleep(0.05)
