"""An application that controls its calls over `/v1`: the few lines of HTTP that a bot is."""
import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

DEMO_KEY = "owk_demo-key-of-orbweaver-that-everybody-knows"
"""Of the application of `--dev`, which is called at bot@dev.local."""


@dataclass
class BotAnswer:
    status: int
    headers: Mapping[str, str]
    body: dict
    text: str

    def succeeded(self, status: int = 200) -> dict:
        assert self.status == status, f"{self.status} {self.text}"
        return self.body

    def refused(self, status: int, code: str) -> dict:
        assert (self.status, self.body.get("code")) == (status, code), f"{self.status} {self.text}"
        assert self.headers["Content-Type"] == "application/problem+json"
        return self.body


class Bot:
    def __init__(self, base: str, key: str | None = DEMO_KEY, source: str | None = None):
        """`key`: a key or a token, or what the header `Authorization` says, or nothing. `source`: its address."""
        scheme = "" if key is None or " " in key else "Bearer "
        self.base = base
        self._headers = {} if key is None else {"Authorization": scheme + key}
        self._connector = aiohttp.TCPConnector(limit=0, local_addr=(source, 0) if source else None)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> "Bot":
        self._session = aiohttp.ClientSession(connector=self._connector)
        return self

    async def __aexit__(self, *_):
        await self._session.close()

    async def ask(self, method: str, path: str, body: object = None, **headers: str | None) -> BotAnswer:
        """`headers` with `_` for `-`."""
        more = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        async with self._session.request(
            method, self.base + path, json=body, headers={**self._headers, **more}
        ) as answer:
            text = await answer.text()
            parsed = await answer.json(content_type=None) if text else {}
            return BotAnswer(answer.status, answer.headers.copy(), parsed, text)

    async def start(self, to: str, **fields) -> dict:
        wish = {"to": f"{to}@dev.local" if "@" not in to else to, **fields}
        return (await self.ask("POST", "/v1/calls", wish)).succeeded(201)

    async def calls(self, **filters: str) -> list[dict]:
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        return (await self.ask("GET", f"/v1/calls?{query}")).succeeded()["items"]

    async def show(self, call: str) -> dict:
        return (await self.ask("GET", f"/v1/calls/{call}")).succeeded()

    async def tell(self, call: str, command: str, **fields) -> dict:
        return (await self.ask("POST", f"/v1/calls/{call}/{command}", fields or None)).succeeded()

    async def incoming(self, timeout: float = 20) -> dict:
        """The call that rings here."""
        return (await self._until(lambda: self.calls(state="ringing", direction="incoming"), bool, timeout))[0]

    async def until(self, call: str, timeout: float = 20, **wanted: object) -> dict:
        """Waits until the call has these members."""
        def is_wanted(shown: dict) -> bool:
            return all(shown.get(name) == each for name, each in wanted.items())

        return await self._until(lambda: self.show(call), is_wanted, timeout)

    async def _until(self, ask, is_wanted, timeout: float):
        end = time.monotonic() + timeout
        while not is_wanted(found := await ask()):
            assert time.monotonic() < end, f"still {found}"
            await asyncio.sleep(0.05)
        return found
