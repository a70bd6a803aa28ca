"""A webrtcbin that plays a tone, shows a colour, and says what it hears and sees.

Its lines are those of peers/process_media.py.

PyGObject frees what Python no longer names, also while webrtcbin uses it: promises, replies, descriptions are kept."""
import base64
import json
import re
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

CODECS = {
    "opus": ("audio", "OPUS", 48000, "opusenc frame-size=20 ! rtpopuspay"),
    "PCMU": ("audio", "PCMU", 8000, "mulawenc ! rtppcmupay"),
    "PCMA": ("audio", "PCMA", 8000, "alawenc ! rtppcmapay"),
    "VP8": ("video", "VP8", 90000, "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=10 ! rtpvp8pay picture-id-mode=2"),
    "VP9": ("video", "VP9", 90000, "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=10 ! rtpvp9pay picture-id-mode=2"),
    "H264": (
        "video", "H264", 90000,
        "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=10 ! video/x-h264,profile=constrained-baseline"
        " ! rtph264pay config-interval=-1 aggregate-mode=zero-latency",
    ),
}
STATES = ("new", "connecting", "connected", "disconnected", "failed", "closed")
EVENTS = "application/x-rtp,media=audio,encoding-name=TELEPHONE-EVENT,clock-rate=8000,payload=110"
DIGITS = "0123456789*#ABCD"
kept = []


def keep(thing):
    kept.append(thing)
    return thing


def tell(**fields):
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


class Peer:
    def __init__(self, tone, colour, audio, video, digits=False):
        """`digits`: whether it offers telephone events (RFC 4733)."""
        self.tone, self.colour, self.codecs = tone, colour, {"audio": audio, "video": video}
        self.has_digits, self.digits = digits, None
        self.pipeline = Gst.Pipeline.new("peer")
        self.bin = Gst.ElementFactory.make("webrtcbin", "bin")
        self.bin.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.pipeline.add(self.bin)
        self.bin.connect("pad-added", self.on_pad)
        self.bin.connect("notify::connection-state", lambda *_: tell(event="state", **{"is": self.state()}))
        self.kinds = []
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::element", self.on_message)
        self.pipeline.set_state(Gst.State.PLAYING)

    def state(self):
        return STATES[int(self.bin.get_property("connection-state"))]

    # Descriptions

    def offer(self, directions):
        if self.has_digits and "audio" not in self.kinds:
            return self.offer_digits(directions)
        for kind in directions:
            self.source(kind, 96 + len(self.kinds) if kind == "video" else None)
        return self.describe("create-offer", "offer")

    def offer_digits(self, directions):
        """webrtcbin offers what comes to its pad, which is one codec, so it is offered before there is a pad."""
        assert list(directions) == ["audio"]
        both = Gst.Caps.from_string(f"{self.caps('audio', 111)};{EVENTS}")
        self.bin.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.SENDRECV, both)
        offer = self.describe("create-offer", "offer")
        self.source("audio", None)
        return offer

    def answer(self, sdp, directions):
        self.set("set-remote-description", GstWebRTC.WebRTCSDPType.OFFER, sdp)
        for section in re.split(r"(?=^m=)", sdp, flags=re.M)[1:]:
            kind = section[2 : section.index(" ")]
            if kind in directions and kind not in self.kinds:
                numbers = re.findall(rf"^a=rtpmap:(\d+) {self.codecs[kind]}/", section, re.M | re.I)
                if self.codecs[kind] == "H264":  # mode 1 is what its payloader makes
                    mode = r"^a=fmtp:%s .*packetization-mode=1"
                    modes = [each for each in numbers if re.search(mode % each, section, re.M)]
                    numbers = modes or numbers
                self.source(kind, int(numbers[0]) if numbers else None)
        return self.describe("create-answer", "answer")

    def describe(self, action, kind):
        promise = keep(Gst.Promise.new())
        self.bin.emit(action, None, promise)
        description = keep(keep(self.replied(promise)).get_value(kind))
        done = keep(Gst.Promise.new())
        self.bin.emit("set-local-description", description, done)
        self.replied(done)
        context = GLib.MainContext.default()
        while int(self.bin.get_property("ice-gathering-state")) != 2:
            context.iteration(False)
            GLib.usleep(5_000)
        return keep(keep(self.bin.get_property("local-description")).sdp).as_text()

    def set(self, action, kind, text):
        _, sdp = GstSdp.SDPMessage.new_from_text(text)
        description = keep(GstWebRTC.WebRTCSessionDescription.new(kind, keep(sdp)))
        promise = keep(Gst.Promise.new())
        self.bin.emit(action, description, promise)
        self.replied(promise)

    def replied(self, promise):
        promise.wait()
        reply = keep(promise.get_reply())
        if reply is not None and reply.has_field("error"):
            raise ValueError(reply.get_value("error").message)
        return reply

    # Media

    def source(self, kind, number):
        """Adds what it sends of a kind."""
        if kind in self.kinds:
            return
        self.kinds.append(kind)
        _, encoding, _, chain = CODECS[self.codecs[kind]]
        if kind == "audio":
            number = {"PCMU": 0, "PCMA": 8}.get(encoding, number or 111)
            begin = f"audiotestsrc is-live=true wave=sine freq={self.tone} volume=0.25 ! audioconvert ! audioresample"
        else:
            luma, blue, red = self.colour
            begin = (
                f"videotestsrc is-live=true pattern=solid-color foreground-color={argb(luma, blue, red)}"
                " ! video/x-raw,format=I420,width=320,height=240,framerate=10/1"
            )
        caps = self.caps(kind, number)
        end = f'capsfilter caps="{caps}"'
        if self.has_digits and kind == "audio":
            # webrtcbin does not take another format on its pad, and sends what is in the packets.
            setter = f'capssetter join=false replace=true caps="{caps}"'
            end = f"mux. rtpdtmfsrc name=digits pt=110 ! mux. rtpdtmfmux name=mux ! {setter} ! {end}"
        made = Gst.parse_bin_from_description(f"{begin} ! queue ! {chain} pt={number} ! {end}", True)
        self.pipeline.add(made)
        if self.has_digits and kind == "audio":
            self.digits = made.get_by_name("digits").get_static_pad("src")
            made.get_static_pad("src").link(self.bin.request_pad_simple("sink_0"))
        else:
            assert made.link(self.bin), f"webrtcbin takes no {kind}"
        made.sync_state_with_parent()

    def caps(self, kind, number):
        _, encoding, rate, _ = CODECS[self.codecs[kind]]
        caps = f"application/x-rtp,media={kind},encoding-name={encoding},clock-rate={rate},payload={number}"
        return caps + (",encoding-params=(string)2" if encoding == "OPUS" else "")

    def press(self, digits):
        for digit in digits:
            for fields in ({"start": True, "number": DIGITS.index(digit), "volume": 10}, {"start": False}):
                event = Gst.Structure.new_empty("dtmf-event")
                for name, value in {"type": 1, "method": 1, **fields}.items():
                    event.set_value(name, value)
                assert self.digits.send_event(Gst.Event.new_custom(Gst.EventType.CUSTOM_UPSTREAM, event))
                GLib.usleep(300_000)

    def on_message(self, _, message):
        event = message.get_structure()
        if event.get_name() == "dtmf-event":
            tell(event="digit", **{"is": DIGITS[event.get_value("number")]})

    def on_pad(self, _, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        if pad.get_current_caps().get_structure(0).get_string("encoding-name") == "TELEPHONE-EVENT":
            return self.listen_for_digits(pad)
        decoder = Gst.ElementFactory.make("decodebin", None)
        decoder.connect("pad-added", self.on_decoded)
        self.pipeline.add(decoder)
        decoder.sync_state_with_parent()
        pad.link(decoder.get_static_pad("sink"))

    def listen_for_digits(self, pad):
        made = Gst.parse_bin_from_description("rtpdtmfdepay ! fakesink sync=false async=false", True)
        self.pipeline.add(made)
        made.sync_state_with_parent()
        pad.link(made.get_static_pad("sink"))

    def on_decoded(self, _, pad):
        if pad.get_current_caps().get_structure(0).get_name().startswith("audio"):
            raw = "audio/x-raw,format=S16LE,rate=48000,channels=1,layout=interleaved"
            chain, take = f"audioconvert ! audioresample ! {raw}", self.hear
        else:
            chain, take = "videoconvert ! videoscale ! video/x-raw,format=I420,width=32,height=32", self.look
        end = "appsink name=end emit-signals=true sync=false drop=true max-buffers=50"
        made = Gst.parse_bin_from_description(f"queue ! {chain} ! {end}", True)
        made.get_by_name("end").connect("new-sample", take)
        self.pipeline.add(made)
        made.sync_state_with_parent()
        pad.link(made.get_static_pad("sink"))

    def hear(self, sink):
        tell(event="sound", data=base64.b64encode(content(sink)).decode())
        return Gst.FlowReturn.OK

    def look(self, sink):
        planes = content(sink)
        blue, red = planes[1024 : 1024 + 256], planes[1024 + 256 :]
        tell(event="picture", blue=sum(blue) / 256, red=sum(red) / 256)
        return Gst.FlowReturn.OK


def content(sink):
    buffer = sink.emit("pull-sample").get_buffer()
    return buffer.extract_dup(0, buffer.get_size())


def argb(luma, blue, red):
    """BT.601, limited range."""
    y, u, v = 1.164 * (luma - 16), blue - 128, red - 128
    colours = (y + 1.596 * v, y - 0.392 * u - 0.813 * v, y + 2.017 * u)
    return (255 << 24) + sum(max(0, min(255, round(each))) << shift for each, shift in zip(colours, (16, 8, 0)))


class Lines:
    """Requests come one after the other on the main loop."""

    def __init__(self):
        self.loop, self.peer = GLib.MainLoop(), None
        wanted = GLib.IOCondition.IN | GLib.IOCondition.HUP
        GLib.io_add_watch(GLib.IOChannel.unix_new(0), GLib.PRIORITY_DEFAULT, wanted, self.read)

    def read(self, *_):
        line = sys.stdin.readline()
        if not line:
            self.loop.quit()
            return False
        request = json.loads(line)
        number = request.pop("id")
        try:
            tell(id=number, **(self.do(**request) or {}))
        except Exception as error:
            tell(id=number, error=f"{type(error).__name__}: {error}")
        return True

    def do(self, do, sdp=None, directions=None, provisional=False, **fields):
        if do == "begin":
            self.peer = Peer(**fields)
        elif do == "offer":
            return {"sdp": self.peer.offer(directions)}
        elif do == "answer":
            return {"sdp": self.peer.answer(sdp, directions)}
        elif do == "accept":
            kind = GstWebRTC.WebRTCSDPType.PRANSWER if provisional else GstWebRTC.WebRTCSDPType.ANSWER
            self.peer.set("set-remote-description", kind, sdp)
        elif do == "press":
            self.peer.press(fields["digits"])
        else:
            raise NotImplementedError(f"webrtcbin cannot {do}")


if __name__ == "__main__":
    Gst.init(None)
    Lines().loop.run()
