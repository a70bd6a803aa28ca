"""The demo page as the tests use it."""
import json

import pytest

from . import event_log
from .chromium import Chromium, Page
from .detour import Detour

in_both_browsers = pytest.mark.parametrize(
    "browser", ["chromium", pytest.param("firefox", marks=pytest.mark.alone)], indirect=True
)
"""A test whose `browser()` is Chromium once, and Firefox once."""
in_both_browsers_at_night = pytest.mark.parametrize(
    "browser", ["chromium", pytest.param("firefox", marks=[pytest.mark.alone, pytest.mark.nightly])], indirect=True
)
"""The same, in Firefox at night only: by day, it is the page of another test that shows what Firefox makes of it."""

_TAKE_A_DETOUR = """() => {
  if (window.detour) return;
  const set = RTCPeerConnection.prototype.setRemoteDescription;
  const udp = /^(a=candidate:\\S+ \\d+ udp \\d+) (\\S+) (\\d+)(.*\\r\\n)/gim;
  const there = (line, start, address, port, rest) =>
    address === window.detour.host ? `${start} ${address} ${window.detour.ports[port]}${rest}` : '';
  RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
    return set.call(this, { type, sdp: sdp.replace(udp, there) });
  };
}"""


class PhonePage:
    """One phone of the demo page; `window.orbweaver.phones` is its handle for scripts."""

    def __init__(self, page: Page, name: str):
        self.page, self.name = page, name
        page.wait_for("window.orbweaver !== undefined")

    @classmethod
    def open(cls, browser: Chromium, base: str, name: str) -> "PhonePage":
        """A page with this phone alone, registered."""
        phone = cls(browser.page(f"{base}/?phones={name}"), name)
        phone.run("register()")
        phone.wait_for_view("ready")
        return phone

    def run(self, expression: str):
        """Evaluates `phone.<expression>`."""
        return self.page.run(f"orbweaver.phones.{self.name}.{expression}")

    def wait_for(self, expression: str, timeout: float = 60):
        return self.page.wait_for(f"orbweaver.phones.{self.name}.{expression}", timeout)

    def wait_for_view(self, view: str):
        """`offline`, `ready`, `outgoing`, `incoming`, `connected`, `ended` or `failed`."""
        self.wait_for(f"view === '{view}'")

    def unregister(self):
        """Ends the registration. What the page was told is noted, to be held against the event log of its gateway."""
        told = self.run(
            "client.snapshot && (({ notifications, client }) => "
            "({ port: location.port, subscription: client.snapshot.subscription, notifications }))"
            f"(orbweaver.phones.{self.name})"
        )
        if told and told["notifications"]:
            # A phone that registered again has another channel; the latest notification comes first.
            channel = told["notifications"][0].get("notificationChannelId")
            for message in told["notifications"]:
                if message.get("notificationChannelId") == channel:
                    event_log.hear(int(told["port"]), told["subscription"].rsplit("/", 1)[1], message)
        self.run("unregister()")

    def takes(self, detour: Detour):
        """Its media goes by the detour, from the next description of the gateway's on."""
        self.page.run(f"({_TAKE_A_DETOUR})()")
        self.page.run(f"void (window.detour = {json.dumps({'host': detour.host, 'ports': detour.ports})})")

    def press(self, action: str):
        self.page.click(f"#phone-{self.name} [data-action={action}]")

    def says(self, part: str = "scene") -> str:
        """The text of a part of the phone."""
        return self.page.run(f"document.querySelector('#phone-{self.name} .{part}').innerText")

    def leg(self) -> dict:
        """What `getStats` says about the leg, now."""
        return self.page.run(
            f"import('/demo/leg-report.js').then(({{ reportLeg }}) => reportLeg(orbweaver.phones.{self.name}.call.pc))"
        )

    def loudest_frequency(self) -> float:
        """In the sound that arrives, in Hz, to about 12 Hz."""
        return self.page.run(
            f"""(async () => {{
              const context = new AudioContext();
              const analyser = new AnalyserNode(context, {{ fftSize: 4096, smoothingTimeConstant: 0 }});
              context.createMediaStreamSource(orbweaver.phones.{self.name}.call.remoteStream).connect(analyser);
              await new Promise((resolve) => setTimeout(resolve, 1000));
              const levels = new Float32Array(analyser.frequencyBinCount);
              analyser.getFloatFrequencyData(levels);
              await context.close();
              return levels.indexOf(Math.max(...levels)) * context.sampleRate / analyser.fftSize;
            }})()"""
        )
