"""How the program starts, stops, and explains what it does not like."""
import asyncio
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from durability import configured
from peers import raw, sdp
from peers.gateway import Gateway, orbweaver, write_configuration
from peers.spidr import SpidrPeer
from peers.waiting import until


async def test_sigterm_during_a_call_tells_everybody_and_ends_cleanly(own_gateway, contract):
    own: Gateway = own_gateway()
    alice, bob = SpidrPeer(own.http, "alice", contract=contract), SpidrPeer(own.https, "bob", contract=contract)
    async with alice, bob:
        await alice.register()
        await bob.register()
        at_alice = await alice.call("bob", sdp.offer())
        invitation = await bob.expect("call")
        (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
        await alice.expect("respondCallUpdate", at_alice)
        own.terminate()  # whatever is still on its way comes first
        await bob.expect("callCancel")
        for party, session in ((alice, at_alice), (bob, invitation.session)):
            end = (await party.expect("callEnd", session)).message["sessionParams"]
            assert (end["statusCode"], end["cause"], end["endedBy"]) == (
                503,
                "normal_temporary_failure",
                "gateway",
            ) and end["reasonText"]
            assert await party.closed() == 1001  # come back, somewhere else
            party.subscription = None
        assert await own.ended() == 0


async def test_sigterm_without_calls_ends_at_once(own_gateway, contract):
    own: Gateway = own_gateway()
    async with SpidrPeer(own.http, "alice", contract=contract) as alice:
        await alice.register()
        own.terminate()
        assert await alice.closed() == 1001
        alice.subscription = None
        assert await own.ended(timeout=10) == 0


async def test_a_client_that_does_not_answer_the_close_does_not_keep_it_for_ever(own_gateway, contract):
    own: Gateway = own_gateway()
    async with SpidrPeer(own.http, "alice", contract=contract) as alice:
        await alice.register(listen=False)
        alice.subscription, deaf = None, await asyncio.to_thread(raw.open_websocket, own.http_port, alice.channel)
        with deaf:
            own.terminate()
            assert await asyncio.to_thread(deaf.recv, 100) == b"\x88\x02\x03\xe9"  # close, 1001
            assert own.is_running  # it waits for the answer
            await until(lambda: own.readiness() is None)  # and listens no more
            assert await own.ended() == 0


async def test_before_it_drains_it_says_so_and_serves_on(own_gateway, contract):
    own: Gateway = own_gateway("--set", "drain.announce=60s", "--set", "drain.deadline=120s")
    alice, bob = SpidrPeer(own.http, "alice", contract=contract), SpidrPeer(own.https, "bob", contract=contract)
    async with alice, bob:
        await alice.register()
        own.terminate()
        await until(lambda: own.readiness() == 503)
        # Everything is as before: whoever comes all the same is served.
        await bob.register()
        at_alice = await alice.call("bob", sdp.offer())
        invitation = await bob.expect("call")
        (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
        await alice.expect("respondCallUpdate", at_alice)
        assert own.readiness() == 503
        own.terminate()  # who asks twice is in a hurry
        for party, session in ((alice, at_alice), (bob, invitation.session)):
            end = (await party.expect("callEnd", session)).message["sessionParams"]
            assert (end["statusCode"], end["endedBy"]) == (503, "gateway")
            assert await party.closed() == 1001
            party.subscription = None
        assert await own.ended() == 0


async def test_while_calls_go_on_it_takes_nothing_new_and_ends_with_the_last(own_gateway, contract):
    own: Gateway = own_gateway(
        "--set", "drain.calls=wait", "--set", "drain.deadline=300s", "--set", "calls.completion_time=1s"
    )
    alice, bob = SpidrPeer(own.http, "alice", contract=contract), SpidrPeer(own.https, "bob", contract=contract)
    carol = SpidrPeer(own.http, "carol", contract=contract)
    async with alice, bob, carol:
        for party in (alice, bob, carol):
            await party.register()
        at_alice = await alice.call("bob", sdp.offer())
        invitation = await bob.expect("call")
        (await bob.answer(invitation.session, sdp.answer(invitation.sdp))).succeeded()
        await alice.expect("respondCallUpdate", at_alice)
        own.terminate()
        assert await carol.closed() == 1001  # nothing keeps her here
        carol.subscription = None
        assert own.readiness() == 503
        subscribe = {"subscribeRequest": {"expires": 3600, "service": ["call"]}}
        (await carol.request("POST", "/subscription", subscribe)).refused(
            503, 503, "subscribeResponse", "service.draining"
        )
        (await alice.start("carol@dev.local", sdp.offer())).refused(503, 503, "callControlResponse", "service.draining")
        # The call goes on: it can be asked for, held and ended by its own.
        (await alice.operate(at_alice, "audit")).succeeded()
        assert (await bob.state(invitation.session)).succeeded()["state"] == "ANSWERED"
        await alice.end(at_alice)
        end = (await bob.expect("callEnd", invitation.session)).message["sessionParams"]
        assert end["endedBy"] != "gateway"
        for party in (alice, bob):
            assert await party.closed() == 1001
            party.subscription = None
        assert await own.ended() == 0


async def test_it_is_not_ready_while_nobody_can_log_in(tmp_path, contract):
    """The database of users is damaged while the gateway runs, and put right again. Nothing may be written meanwhile:
    what the write-ahead log has would no longer fit the file that is put back."""
    database = tmp_path / "users.sqlite"
    options = write_configuration(tmp_path, auth={"revalidation": "100ms", "remember": "off"})
    added = orbweaver(
        "user", "add", "zoe@dev.local", "--password-stdin", *options, directory=tmp_path, standard_input="secret\n"
    )
    assert added.returncode == 0, added.stderr
    own = Gateway.configured(*options).start()
    try:
        async with SpidrPeer(own.http, "zoe", "secret", contract) as zoe:
            await zoe.register()
            whole = database.read_bytes()
            os.truncate(database, 0)
            extend = {"subscribeRequest": {"service": ["call"]}}

            async def is_refused() -> bool:
                answer = await zoe.request("PUT", zoe.subscription, extend)
                return answer.status == 503 and "auth.unavailable" in answer.text

            end = asyncio.get_running_loop().time() + 30
            while own.readiness() == 200:
                await is_refused()
                assert asyncio.get_running_loop().time() < end, own.log_tail()
                await asyncio.sleep(0.1)
            assert await is_refused()
            database.write_bytes(whole)
            await until(lambda: own.readiness() == 200)  # nobody but the balancer asks
            (await zoe.extend()).succeeded()
            zoe.subscription = None
        own.stop()
    finally:
        own.discard()


def test_the_line_for_newcomers_comes_when_it_is_ready(tmp_path):
    own = Gateway("--set", "log.level=warning")
    own.start()
    try:
        # Standard output is a file here, and nothing has ended yet.
        assert (
            f"Orbweaver is running. Open http://127.0.0.1:{own.http_port}/ for two phones on one page.\n"
            in own.log_path.read_text()
        )
        own.stop()
    finally:
        own.discard()


def test_a_damaged_database_is_explained_at_start(tmp_path):
    options = write_configuration(tmp_path)
    (tmp_path / "users.sqlite").write_text("this is no database. " * 100)
    for command in (["serve"], ["user", "list"]):
        ended = orbweaver(*command, *options, directory=tmp_path)
        assert ended.returncode == 1
        said = ended.stderr.strip().splitlines()[-1]
        assert said == (
            f"orbweaver: {tmp_path / 'users.sqlite'} is not an SQLite database: "
            "correct storage.path, or put a backup in its place"
        ), said


@pytest.mark.parametrize("row", ["user1000@dev.local", "record 250"], ids=["user", "callRecord"])
def test_a_damaged_page_is_explained_at_start(tmp_path, row):
    """One in the middle of the file. Everything else can be read; the gateway reads no records before it is asked."""
    options = configured(tmp_path, [f"user{number}" for number in range(2000)])
    path, size = tmp_path / "users.sqlite", 4096
    with closing(sqlite3.connect(path)) as database:
        with database:
            database.executemany(
                "INSERT INTO callRecord (user, id, isOpen, endedAt, record) VALUES ('user1@dev.local', ?, 0, 1, '{}')",
                [(f"record {number}",) for number in range(500)])
        assert database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
        assert database.execute("PRAGMA page_size").fetchone() == (size,)
    content = path.read_bytes()
    page = content.index(row.encode()) // size * size
    assert size < page < len(content) - size
    path.write_bytes(content[:page] + b"\xaa" * size + content[page + size:])
    ended = orbweaver("serve", *options, directory=tmp_path)
    assert ended.returncode == 1
    said = ended.stderr.strip().splitlines()[-1]
    assert re.fullmatch(rf"orbweaver: {path} is damaged( \(.+\))?: put a backup in its place", said), said
    path.write_bytes(content)
    own = Gateway.configured(*options).start()
    try:
        own.stop()
    finally:
        own.discard()


def test_a_database_without_users_is_said_at_start(tmp_path):
    own = Gateway.configured(*write_configuration(tmp_path)).start()
    try:
        assert "warning" in own.log_tail() and "the database has no users" in own.log_tail()
        own.stop()
    finally:
        own.discard()


async def test_a_device_comes_back_after_a_restart(own_gateway, contract):
    """Nothing of a --dev gateway survives: the old channel is gone, and a client is told to subscribe again."""
    first: Gateway = own_gateway()
    async with SpidrPeer(first.http, "alice", contract=contract) as alice:
        await alice.register()
        path, alice.subscription = alice.subscription, None
        first.terminate()
        await alice.closed()
        assert await first.ended() == 0
        second: Gateway = own_gateway()
        alice.base = second.http
        answer = await alice.request("PUT", path, {"subscribeRequest": {"service": ["call"], "expires": 3600}})
        answer.refused(404, 39, "subscribeResponse", "subscription.not_found")
        await alice.register()


# Configuration


def write(directory: Path, text: str) -> Path:
    path = directory / "orbweaver.yaml"
    path.write_text(text)
    return path


def test_without_a_certificate_it_does_not_start_by_accident(tmp_path):
    database = f"storage:\n  path: {tmp_path / 'orbweaver.sqlite'}\n"
    ended = orbweaver("serve", "--config", str(write(tmp_path, database)), directory=tmp_path)
    assert ended.returncode != 0
    complaint = ended.stderr + ended.stdout
    assert "certificate" in complaint and "tls.mode" in complaint, complaint


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("media:\n  advertize: [192.0.2.1]\n", 2, "advertise"),
        ("tls:\n  mode: off\nmediaa:\n  mode: direct\n", 3, "media"),
        ("\n\nmedia:\n  mode: sideways\n", 4, "media.mode"),
    ],
    ids=["unknown key", "unknown section", "bad value"],
)
def test_a_bad_configuration_is_refused_with_file_line_and_nearest_key(tmp_path, text, line, key):
    path = write(tmp_path, text)
    for command in (["check-config", str(path)], ["serve", "--config", str(path)]):
        ended = orbweaver(*command, directory=tmp_path)
        assert ended.returncode != 0
        complaint = ended.stderr + ended.stdout
        assert f"{path.name}:{line}" in complaint and key in complaint, complaint


def test_a_good_configuration_is_accepted(tmp_path):
    ended = orbweaver(
        "check-config", str(write(tmp_path, "tls:\n  mode: off\nmedia:\n  mode: direct\n")), directory=tmp_path
    )
    assert ended.returncode == 0, ended.stderr


def test_environment_variables_are_checked_like_the_file(tmp_path):
    path = write(tmp_path, "tls:\n  mode: off\n")
    ended = orbweaver("check-config", str(path), directory=tmp_path, ORBWEAVER_MEDIA_MODE="sideways")
    assert ended.returncode != 0
    assert "ORBWEAVER_MEDIA_MODE" in ended.stderr + ended.stdout


@pytest.mark.parametrize(
    "command",
    [[], ["serve"], ["check-config"], ["user"], ["user", "add"], ["backup"], ["restore"], ["version"]],
    ids=" ".join,
)
def test_every_command_has_a_help_that_teaches(command):
    shown = orbweaver(*command, "--help")
    assert shown.returncode == 0
    assert "USAGE" in shown.stdout and len(shown.stdout.splitlines()) >= 5, shown.stdout


def test_the_version_is_told():
    shown = orbweaver("version")
    assert shown.returncode == 0 and any(character.isdigit() for character in shown.stdout)
