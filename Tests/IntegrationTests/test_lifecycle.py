"""How the program starts, stops, and explains what it does not like."""
import asyncio
from pathlib import Path

import pytest

from peers import raw, sdp
from peers.gateway import Gateway, orbweaver
from peers.spidr import SpidrPeer


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
            assert (end["statusCode"], end["cause"], end["endedBy"]) == (503, "normal_temporary_failure", "gateway") and end["reasonText"]
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


async def test_it_takes_nothing_new_while_it_drains(own_gateway, contract):
    """A client that does not answer the close frame keeps it waiting, but not for ever."""
    own: Gateway = own_gateway()
    async with SpidrPeer(own.http, "alice", contract=contract) as alice:
        await alice.register(listen=False)
        alice.subscription, deaf = None, await asyncio.to_thread(raw.open_websocket, own.http_port, alice.channel)
        with deaf:
            own.terminate()
            await asyncio.sleep(0.5)
            assert own.is_running
            assert own.readiness() in (503, None)  # unready, or not even listening any more
            assert deaf.recv(100) == b"\x88\x02\x03\xe9"  # close, 1001
            assert await own.ended() == 0


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
    ended = orbweaver("check-config", str(write(tmp_path, "tls:\n  mode: off\nmedia:\n  mode: direct\n")), directory=tmp_path)
    assert ended.returncode == 0, ended.stderr


def test_environment_variables_are_checked_like_the_file(tmp_path):
    path = write(tmp_path, "tls:\n  mode: off\n")
    ended = orbweaver("check-config", str(path), directory=tmp_path, ORBWEAVER_MEDIA_MODE="sideways")
    assert ended.returncode != 0
    assert "ORBWEAVER_MEDIA_MODE" in ended.stderr + ended.stdout


@pytest.mark.parametrize("command", [[], ["serve"], ["check-config"], ["user"], ["user", "add"], ["version"]], ids=" ".join)
def test_every_command_has_a_help_that_teaches(command):
    shown = orbweaver(*command, "--help")
    assert shown.returncode == 0
    assert "USAGE" in shown.stdout and len(shown.stdout.splitlines()) >= 5, shown.stdout


def test_the_version_is_told():
    shown = orbweaver("version")
    assert shown.returncode == 0 and any(character.isdigit() for character in shown.stdout)
