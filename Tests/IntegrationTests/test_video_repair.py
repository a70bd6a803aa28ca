"""What is left of video when packets get lost on the way to the gateway and on the way from it."""
import time

import pytest

from peers.detour import Detour
from peers.phone_page import PhonePage

FRAMES = """(async () => {
  const stats = [...(await orbweaver.phones.%s.call.pc.getStats()).values()].filter((entry) => entry.kind === 'video');
  const sum = (type, name) => stats.filter((entry) => entry.type === type).reduce((total, entry) => total + (entry[name] ?? 0), 0);
  return {
    encoded: sum('outbound-rtp', 'framesEncoded'),
    repeated: sum('outbound-rtp', 'retransmittedPacketsSent'),
    decoded: sum('inbound-rtp', 'framesDecoded'),
    asked: sum('inbound-rtp', 'nackCount'),
    keyFramesAsked: sum('inbound-rtp', 'pliCount'),
  };
})()"""


@pytest.mark.parametrize(("loss", "share"), [(0.02, 0.95), (0.05, 0.85)])
def test_what_is_lost_on_either_hop_comes_again(gateway, browser, loss, share):
    """The gateway has to repeat what it has acknowledged itself: a browser forgets what it knows to have arrived."""
    chromium = browser()
    alice, bob = PhonePage.open(chromium, gateway.http, "alice"), PhonePage.open(chromium, gateway.http, "bob")
    with Detour(gateway.media_ports, seed=1) as alices, Detour(gateway.media_ports, seed=2) as bobs:
        alice.takes(alices)
        bob.takes(bobs)
        alice.run("dial()")
        bob.wait_for_view("incoming")
        bob.run("answer()")
        for phone in (alice, bob):
            phone.wait_for_view("connected")
            phone.wait_for("report?.video?.framesDecoded > 30")
        for way in (alices, bobs):
            way.delay, way.loss = 0.02, loss
        before = {phone.name: phone.page.run(FRAMES % phone.name) for phone in (alice, bob)}
        end = time.monotonic() + 60
        while True:
            now = {phone.name: phone.page.run(FRAMES % phone.name) for phone in (alice, bob)}
            grown = {name: {key: now[name][key] - before[name][key] for key in now[name]} for name in now}
            if all(each["encoded"] >= 240 for each in grown.values()):
                break
            assert time.monotonic() < end, f"so few pictures were encoded in a minute: {grown}"
            time.sleep(0.5)
        for way in (alices, bobs):
            way.loss = 0
    told = {name: f"{grown[other]['encoded']} sent, {each}" for name, each, other in (("alice", grown["alice"], "bob"), ("bob", grown["bob"], "alice"))}
    print(told)
    for name, other in (("alice", "bob"), ("bob", "alice")):
        assert grown[name]["asked"] > 0, "nothing was lost, so nothing was shown"
        assert grown[name]["decoded"] >= share * grown[other]["encoded"], told
