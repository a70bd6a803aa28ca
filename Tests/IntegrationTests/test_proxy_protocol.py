"""The PROXY protocol with HAProxy as the one that writes it, before plain HTTP and before TLS: the client's address
counts, whoever it was that connected."""
import asyncio
import socket

import aiohttp
import pytest

from durability import configured
from peers.gateway import orbweaver
from peers.haproxy import HAProxy
from peers.spidr import SpidrPeer

USERS = ["alice", "bob"]
PROXY = "127.0.0.5"
WISH = {"subscribeRequest": {"service": ["call"]}}
WAYS = {
    "version 2, plain": ("send-proxy-v2", False),
    "version 2, TLS": ("send-proxy-v2 check-ssl verify none", True),
    "version 2 with TLVs": ("send-proxy-v2 proxy-v2-options crc32c,unique-id", False),
    "version 1, plain": ("send-proxy", False),
    "version 1, TLS": ("send-proxy check-ssl verify none", True),
}


def from_address(base: str, source: str, password: str = "dev") -> SpidrPeer:
    client = SpidrPeer(base, "alice", password)
    client._session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=False, force_close=True, local_addr=(source, 0))
    )  # fmt: skip
    return client


def settings(**listen: str) -> dict:
    return {"host": "127.0.0.1", "trusted_proxies": PROXY, "proxy_protocol": "required", **listen}


async def is_up(proxy: HAProxy, port: int):
    for _ in range(300):
        if await asyncio.to_thread(proxy.is_up, port):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the proxy's checks do not come through")


@pytest.mark.parametrize("way", WAYS)
async def test_behind_haproxy_limits_count_each_client(own_gateway, tmp_path, way):
    options, has_tls = WAYS[way]
    if has_tls:
        own = await asyncio.to_thread(own_gateway, "--set", f"listen.trusted_proxies={PROXY}",
                                      "--set", "listen.proxy_protocol=required")  # fmt: skip
        port = own.https_port
    else:
        own = await asyncio.to_thread(
            own_gateway.configured, *configured(tmp_path, USERS, listen=settings())
        )  # fmt: skip
        port = own.http_port
    with HAProxy(port, mode="tcp", server_options=f"{options} source {PROXY}") as proxy:
        await is_up(proxy, port)  # by LOCAL or UNKNOWN

        async def tries(source: str, password: str) -> int:
            client = from_address(proxy.http, source, password)
            async with client._session:
                # Nothing that a client says of itself counts.
                return (await client.request("POST", "/subscription", WISH, headers={"X-Forwarded-For": "::1"})).status

        statuses = [await tries("127.0.0.77", f"guess {n}") for n in range(12)]
        # Five in a row, and one more for each ten seconds.
        assert statuses[:5] == [403] * 5 and 429 in statuses[5:], statuses
        assert await tries("127.0.0.78", "dev") == 201
        async with SpidrPeer(proxy.http, "bob") as bob:
            await bob.register()  # its channel as well
        assert own.metric("orbweaver_connections_closed_total", reason="proxy_header") == 0


async def test_a_proxy_that_says_nothing_is_sent_away_and_the_log_says_why(own_gateway, tmp_path):
    own = await asyncio.to_thread(
        own_gateway.configured, *configured(tmp_path, USERS, listen=settings())
    )  # fmt: skip
    with HAProxy(own.http_port, mode="tcp", server_options=f"source {PROXY}") as proxy:
        await asyncio.sleep(1)
        assert not proxy.is_up(own.http_port)
    with socket.socket() as connection:
        connection.bind((PROXY, 0))
        connection.connect(("127.0.0.1", own.http_port))
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            connection.recv(100)
    assert own.metric("orbweaver_connections_closed_total", reason="proxy_header") > 1
    assert "does not start with a PROXY header" in own.log_tail()


async def test_the_health_check_of_the_machine_itself_speaks_as_its_proxy_must(own_gateway, tmp_path):
    own = await asyncio.to_thread(own_gateway, "--set", "listen.trusted_proxies=127.0.0.1", "--set", "tls.mode=off",
                                  "--set", "listen.proxy_protocol=required")  # fmt: skip
    for protocol, status in (("required", 0), ("off", 1)):
        options = (
            "--set", "tls.mode=off", "--set", "listen.host=127.0.0.1", "--set", f"listen.port={own.https_port}",
            "--set", "listen.trusted_proxies=127.0.0.1", "--set", f"listen.proxy_protocol={protocol}",
        )  # fmt: skip
        done = await asyncio.to_thread(orbweaver, "health", *options)
        assert done.returncode == status, done
