"""Media over IPv6 alone: the gateway has no other address for it."""
import re
import socket
from collections.abc import Callable

import pytest

from party.tones import TONES, heard_in
from peers.detour import routable
from peers.gstreamer import GStreamer
from peers.page_sound import PageEar, speak_in_tone
from peers.phone_page import PhonePage, in_both_browsers
from peers.pion import Pion
from peers.wrtc import Wrtc
from scenarios import name_of, talk

LOOPBACK = "::1"


@pytest.fixture
def routed() -> str:
    """For Firefox and libnice, which never use loopback."""
    try:
        return routable(socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 address but loopback")


@pytest.mark.parametrize("stack", [Wrtc, Pion, None], ids=name_of)
async def test_a_media_stack_talks_over_ipv6(own_gateway, party, stack):
    await talks(own_gateway, party, LOOPBACK, stack)


async def test_gstreamer_talks_over_ipv6(own_gateway, party, routed):
    await talks(own_gateway, party, routed, GStreamer)


async def talks(own_gateway, party, address: str, stack: Callable | None):
    gateway = own_gateway("--set", f"media.bind={address}")
    alice, bob = [await party(name, base=gateway.http, stack=stack, sounds=True) for name in ("alice", "bob")]
    await talk(alice, bob)
    for each in (alice, bob):
        (call,) = each.calls.values()
        assert addresses((call.descriptions or [call.invitation.sdp])[-1]) == {address}


def addresses(description: str) -> set[str]:
    """Of its candidates."""
    return set(re.findall(r"^a=candidate:\S+ \d+ \S+ \d+ (\S+)", description, re.MULTILINE))


@in_both_browsers
def test_a_browser_hears_and_sees_over_ipv6(own_gateway, browser, routed):
    gateway = own_gateway("--set", f"media.bind={routed}")
    one = browser()
    alice, bob = PhonePage.open(one, gateway.http, "alice"), PhonePage.open(one, gateway.http, "bob")
    for phone in (alice, bob):
        speak_in_tone(phone, TONES[phone.name])
    alice.run("dial()")
    bob.wait_for_view("incoming")
    bob.run("answer()")
    for phone, other in ((alice, bob), (bob, alice)):
        phone.wait_for_view("connected")
        PageEar(phone).hears(heard_in, {other.name})
        phone.wait_for("report?.video?.framesDecoded > 10")
        assert addresses(phone.run("call.pc.currentRemoteDescription.sdp")) == {routed}
    alice.run("hangUp()")
    bob.wait_for_view("ended")
    for phone in (alice, bob):
        phone.unregister()
        assert phone.page.errors == []
