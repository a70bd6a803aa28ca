"""The administration interface over TLS, and its events as server-sent events, with clients that are not ours."""
import asyncio
import itertools
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import sseclient

from durability import configured
from peers import sdp
from peers.gateway import Gateway, free_ports, orbweaver


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, Path]:
    """For the name `localhost`, and for no address."""
    files = {"certificate": tmp_path / "certificate.pem", "key": tmp_path / "key.pem"}
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-days", "90", "-subj", "/CN=localhost", "-newkey", "rsa:2048",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", files["key"], "-out", files["certificate"]],
        check=True, capture_output=True,
    )  # fmt: skip
    return files


class Admin:
    """A gateway whose administration interface has TLS: it listens on all addresses, not on loopback alone."""

    def __init__(self, folder: Path, certificate: dict[str, Path]):
        self.port, plain = free_ports(1), free_ports(1)
        self.trusted = str(certificate["certificate"])
        self.options = configured(
            folder, ["alice", "bob"], registration={"domain": "dev.local"}, tls=certificate,
            listen={"host": "127.0.0.1", "plain_port": plain}, admin={"host": "0.0.0.0", "port": self.port},
        )  # fmt: skip
        self.gateway = Gateway(
            arguments=["serve", *self.options, "--https-port", str(free_ports(1)), "--media-port", str(free_ports(1)),
                       "--set", "media.workers=1"],
            http_port=plain,
        )  # fmt: skip
        self.gateway.start()
        added = orbweaver("admin", "token", "add", "reader", "--role", "read-only", *self.options)
        assert added.returncode == 0, added.stderr
        self.token = added.stdout.strip()

    def get(self, path: str, host="localhost", verify: str | bool | None = None, scheme="https", **headers: str):
        return requests.get(
            f"{scheme}://{host}:{self.port}/admin/v1{path}", verify=self.trusted if verify is None else verify,
            headers={"Authorization": f"Bearer {self.token}"} | headers, timeout=20, stream="/events" in path,
        )  # fmt: skip

    def command(self, *arguments: str) -> subprocess.CompletedProcess:
        url = f"https://localhost:{self.port}"
        return orbweaver(*arguments, "--url", url, *self.options, ORBWEAVER_ADMIN_TOKEN=self.token)

    def events(self, query: str = "", **headers: str) -> Iterator[sseclient.Event]:
        with self.get("/events" + query, Accept="text/event-stream", **headers) as response:
            assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream")
            yield from sseclient.SSEClient(response).events()

    def until_the_end(self, query: str = "", **headers: str) -> list[sseclient.Event]:
        """The events up to the end of a call."""
        heard = []
        for event in self.events(query, **headers):
            heard.append(event)
            if event.event == "call.ended":
                break
        return heard


@pytest.fixture
def admin(tmp_path, certificate):
    one = Admin(tmp_path, certificate)
    yield one
    one.gateway.stop()
    one.gateway.discard()


def test_the_certificate_is_verified_and_a_wrong_name_is_refused(admin):
    assert admin.get("/health").json()["drain"] == "serving"
    assert admin.get("/health", Authorization="").status_code == 401
    with pytest.raises(requests.exceptions.SSLError, match="self.signed certificate"):
        admin.get("/health", verify=True)
    with pytest.raises(requests.exceptions.SSLError, match="127.0.0.1"):
        admin.get("/health", host="127.0.0.1")
    with pytest.raises(requests.exceptions.ConnectionError):
        admin.get("/health", scheme="http")


def test_a_command_verifies_the_certificate_unless_told_otherwise(admin):
    refused = admin.command("drain", "--status")
    assert refused.returncode == 1 and "CERTIFICATE_VERIFY_FAILED" in refused.stderr, refused.stderr
    assert admin.command("drain", "--status", "--insecure").stdout == "serving\n"


async def test_a_reader_of_server_sent_events_misses_nothing(admin, peer):
    alice, bob = await peer("alice", base=admin.gateway.http), await peer("bob", base=admin.gateway.http)
    reading = asyncio.create_task(asyncio.to_thread(admin.until_the_end))
    session = await alice.call("bob", sdp.offer())
    invitation = await bob.expect("call")
    (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
    await alice.expect("respondCallUpdate", session)
    await alice.end(session)
    await bob.expect("callEnd")
    # Who comes late hears all of it, too.
    heard = await asyncio.to_thread(admin.until_the_end, "?since=oldest")
    types = [event.event for event in heard]
    assert types[0] == "leg.joined" and "call.answered" in types or "leg.answered" in types, types
    for event in heard:
        content = json.loads(event.data)
        assert (content["id"], content["type"]) == (event.id, event.event)
    assert len({event.id for event in heard}) == len(heard)
    live = await reading
    assert [(each.id, each.data) for each in live] == [(each.id, each.data) for each in heard][-len(live):]
    # A reader that was cut off goes on behind what it has, as the standard has it, or by the parameter.
    known = heard[1].id
    for again in (
        await asyncio.to_thread(admin.until_the_end, f"?since={known}"),
        await asyncio.to_thread(lambda: admin.until_the_end(**{"Last-Event-ID": known})),
    ):
        assert [each.id for each in again] == [each.id for each in heard[2:]]
    # The next process has the same log.
    admin.gateway.kill()
    await asyncio.to_thread(admin.gateway.start)
    after = await asyncio.to_thread(admin.until_the_end, f"?since={known}")
    assert [(each.id, each.data) for each in after] == [(each.id, each.data) for each in heard[2:]]
    # A place of another log is that of one who knows nothing.
    (gap,) = await asyncio.to_thread(lambda: list(itertools.islice(admin.events("?since=another-0"), 1)))
    told = json.loads(gap.data)
    assert (gap.event, gap.id, told["reason"], told["calls"]) == ("stream.gap", told["id"], "otherLog", [])


def test_an_event_that_cannot_be_is_refused(admin):
    for path, headers in (("/events?since=x", {}), ("/events", {"Last-Event-ID": "x"}), ("/events?call=xyz", {})):
        refused = admin.get(path, Accept="text/event-stream", **headers)
        assert (refused.status_code, refused.json()["code"]) == (400, "request.invalid_parameter"), path
