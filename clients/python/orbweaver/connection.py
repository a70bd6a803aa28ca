"""How the gateway is asked: credentials, requests that are sent again, refusals."""
import asyncio
import random
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeAlias
from uuid import uuid4

import httpx

from .errors import Unreachable, refusal

Credentials: TypeAlias = str | tuple[str, str]
"""A key or a token of an application, or a bearer token of a user; or the address and the password of a user, who may
read events only."""


def delays(longest: float = 10.0) -> Iterator[float]:
    """Seconds to wait before each further attempt: twice as long each time, and never the same for two programs."""
    delay = 0.2
    while True:
        yield delay * random.uniform(0.5, 1.0)
        delay = min(2 * delay, longest)


class Connection:
    """One gateway and one set of credentials."""

    def __init__(self, base: str, credentials: Credentials, timeout: float, attempts: int):
        self.base = base.rstrip("/")
        self._attempts = attempts
        if isinstance(credentials, str):
            authorization = f"Bearer {credentials}"
        else:
            encoded = httpx.BasicAuth(*credentials)
            authorization = next(encoded.auth_flow(httpx.Request("GET", self.base))).headers["Authorization"]
        self.headers = {"Authorization": authorization}
        # Commands are few and short. Streams of events keep a connection each.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self.http = httpx.AsyncClient(base_url=self.base, headers=self.headers, timeout=timeout, limits=limits)

    async def __aenter__(self) -> Self:
        await self.http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.__aexit__(kind, failure, trace)

    async def get(self, path: str, timeout: float | None = None, **query: str | int | None) -> dict[str, Any]:
        """The JSON object of an answer. Raises `Refused`, or `Unreachable` after the last attempt."""
        asked = {name: value for name, value in query.items() if value is not None}
        extensions = {} if timeout is None else {"timeout": timeout}
        return await self._ask("GET", path, params=asked, headers={"Accept": "application/json"}, **extensions)

    async def post(
        self, path: str, body: Mapping[str, Any], version: int | None = None, idempotency_key: str | None = None
    ) -> dict[str, Any]:
        """The same for a command. It is carried out once, however often it has to be sent: all attempts have the same
        `Idempotency-Key`. With a `version` it is carried out only if the call still has it."""
        headers = {"Idempotency-Key": idempotency_key or str(uuid4())}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        return await self._ask("POST", path, json=body, headers=headers)

    async def _ask(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        waits = delays()
        for attempt in range(self._attempts):
            try:
                response = await self.http.request(method, path, **request)
                break
            except httpx.TransportError as failure:
                if attempt == self._attempts - 1:
                    reason = str(failure) or type(failure).__name__
                    raise Unreachable(f"{self.base} does not answer: {reason}") from failure
            await asyncio.sleep(next(waits))
        if response.is_error:
            raise refusal(response.status_code, response.content)
        answer: dict[str, Any] = response.json()
        return answer
