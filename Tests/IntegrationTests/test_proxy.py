"""Two gateways behind a load balancer: one of them is restarted, and nobody notices."""
import asyncio
import json
from base64 import b64encode
from collections import Counter

import aiohttp

from peers.gateway import Gateway
from peers.haproxy import HAProxy
from peers.waiting import until

PATIENCE = 30


class Clients:
    """Subscribe again and again, each time on a connection of their own, as clients do that come and go."""

    NAMES = ("alice", "bob", "carol", "dave")

    def __init__(self, base: str):
        self._base = base
        self.outcomes: Counter = Counter()
        self._answers: Counter = Counter()

    async def __aenter__(self) -> "Clients":
        self._tasks = [asyncio.create_task(self._come_and_go(name)) for name in self.NAMES]
        return self

    async def __aexit__(self, *_):
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def have_come(self, count: int):
        """Waits for so many more answers to each, whatever they say: what was under way before has been answered."""
        wanted = {name: self._answers[name] + count for name in self.NAMES}
        await until(lambda: all(self._answers[name] >= wanted[name] for name in self.NAMES))

    async def _come_and_go(self, name: str):
        url = f"{self._base}/rest/version/1/user/{name}@dev.local/subscription"
        body = json.dumps({"subscribeRequest": {"service": ["call"], "forceLogOut": "true"}})
        headers = {
            "Authorization": "Basic " + b64encode(f"{name}@dev.local:dev".encode()).decode(),
            "Content-Type": "application/json",
        }
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            while True:
                try:
                    async with session.post(
                        url, data=body, headers=headers, timeout=aiohttp.ClientTimeout(PATIENCE)
                    ) as answer:
                        text = await answer.text()
                        self.outcomes["subscribed" if answer.status == 201 else f"{answer.status} {text}"] += 1
                except aiohttp.ClientError as error:
                    self.outcomes[f"{error!r}"] += 1
                self._answers[name] += 1
                await asyncio.sleep(0.005)


async def test_a_gateway_is_restarted_behind_a_balancer_and_no_request_is_refused(own_gateway):
    settings = ("--set", "drain.announce=10s", "--set", "drain.deadline=30s")
    stays: Gateway = own_gateway(*settings)
    goes: Gateway = own_gateway(*settings)
    with HAProxy(stays.http_port, goes.http_port) as proxy:
        await until(lambda: proxy.is_up(stays.http_port) and proxy.is_up(goes.http_port))
        async with Clients(proxy.http) as clients:
            await clients.have_come(12)
            assert goes.metric("orbweaver_http_requests_total", status="2xx") > 10, "the balancer sends clients to both"
            goes.terminate()
            await until(lambda: not proxy.is_up(goes.http_port))
            assert goes.is_running and goes.readiness() == 503  # it had the time to say so
            await clients.have_come(12)
            goes.terminate()  # nobody comes any more; the rest of the announcement is of no use
            assert await goes.ended() == 0
            await clients.have_come(12)
            goes.start()
            await until(lambda: proxy.is_up(goes.http_port))
            await clients.have_come(12)
            assert goes.metric("orbweaver_subscriptions_active") > 0, "clients come back to it"
        assert set(clients.outcomes) == {"subscribed"}, clients.outcomes
