"""Credentials for TURN servers, as coturn judges them."""
import asyncio
import subprocess
from contextlib import contextmanager

import pytest
from aioice import stun, turn

from peers.gateway import Gateway, free_ports
from peers.spidr import SpidrPeer

SECRET = "north"


@contextmanager
def coturn(port: int):
    process = subprocess.Popen(
        [
            "turnserver", "-n", "--no-cli", "--no-tls", "--no-dtls", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1",
            f"--listening-port={port}", "--use-auth-secret", f"--static-auth-secret={SECRET}", "--realm=test",
            "--log-file=stdout",
            "--allow-loopback-peers", "--pidfile=/dev/null",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait()


class Silent(asyncio.DatagramProtocol):
    pass


async def allocate(port: int, username: str, password: str):
    """Asks for an allocation; raises if the server refuses it."""
    for attempt in range(50):
        try:
            transport, _ = await turn.create_turn_endpoint(
                Silent, server_addr=("127.0.0.1", port), username=username, password=password
            )
            transport.close()
            return
        except (stun.TransactionTimeout, ConnectionError):
            if attempt == 49:
                raise
            await asyncio.sleep(0.1)


async def test_coturn_takes_the_credentials_of_a_subscription(own_gateway, contract, tmp_path):
    (tmp_path / "secret").write_text(SECRET + "\n")
    own: Gateway = own_gateway("--set", f"turn.secret_file={tmp_path}/secret")
    async with SpidrPeer(own.http, "alice", contract=contract) as alice:
        wishes = {"expires": 3600, "service": ["call"], "notificationType": "WebSocket"}
        without = (await alice.request("POST", "/subscription", {"subscribeRequest": wishes})).succeeded()
        assert "turnCredentials" not in without["subscriptionParams"]
        granted = (
            await alice.request("POST", "/subscription", {"subscribeRequest": wishes | {"useTurn": "true"}})
        ).succeeded()
        assert granted["subscriptionParams"]["turnActive"] is True
        credentials = granted["subscriptionParams"]["turnCredentials"]
        for subscription in (without, granted):
            (await alice.request("DELETE", subscription["subscription"])).succeeded()
    port = free_ports(1)
    with coturn(port):
        await allocate(port, **credentials)
        with pytest.raises(stun.TransactionFailed):
            await allocate(port, credentials["username"], "guessed")
