"""Small descriptions for tests that need no media: what a browser would send, shortened."""
import re
from itertools import count

FINGERPRINT = ":".join(f"{value:02X}" for value in range(32))

_sessions = count(4611731400430051336)
TRANSPORT = (
    "a=rtcp:9 IN IP4 0.0.0.0\r\n"
    "a=candidate:1 1 udp 2122260223 127.0.0.1 50000 typ host generation 0\r\n"
    "a=ice-ufrag:{ufrag}\r\na=ice-pwd:Jq7Wp0kZ1hLr5vXb9TnYc3Ed\r\n"
    f"a=fingerprint:sha-256 {FINGERPRINT}\r\n"
    "a=setup:{setup}\r\na=rtcp-mux\r\n"
)  # fmt: skip
AUDIO = (
    "a=rtpmap:111 opus/48000/2\r\na=rtcp-fb:111 transport-cc\r\na=fmtp:111 minptime=10;useinbandfec=1\r\n"
    "a=rtpmap:0 PCMU/8000\r\na=rtpmap:110 telephone-event/48000\r\n"
)
VIDEO = (
    "a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\n"
    "a=rtcp-fb:96 ccm fir\r\na=rtcp-fb:96 goog-remb\r\n"
)


def session() -> str:
    """No two descriptions of different peers are alike; one that is sent twice is a repetition."""
    return f"v=0\r\no=- {next(_sessions)} 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"


def offer(video: bool = False) -> str:
    lines = session() + f"a=group:BUNDLE {'0 1' if video else '0'}\r\na=msid-semantic: WMS\r\n"
    transport = TRANSPORT.format(ufrag="Ab12", setup="actpass")
    lines += "m=audio 50000 UDP/TLS/RTP/SAVPF 111 0 110\r\nc=IN IP4 127.0.0.1\r\n"
    lines += f"{transport}a=mid:0\r\na=sendrecv\r\n{AUDIO}"
    lines += "a=ssrc:1001 cname:test\r\n"
    if video:
        lines += (
            f"m=video 50000 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 127.0.0.1\r\n{transport}a=mid:1\r\na=sendrecv\r\n{VIDEO}"
        )
        lines += "a=ssrc:1002 cname:test\r\n"
    return lines


DATA_ONLY = (
    session() + "a=group:BUNDLE 0\r\nm=application 50000 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 127.0.0.1\r\n"
    + TRANSPORT.format(ufrag="Ab12", setup="actpass") + "a=mid:0\r\na=sctp-port:5000\r\n"
)  # fmt: skip
"""Well-formed, but nothing a call could carry."""


def answer(offer: str) -> str:
    """Accepts every audio and video section as it was offered, line for line (RFC 3264 §6)."""
    head, *sections = re.split(r"(?=^m=)", offer, flags=re.MULTILINE)
    result = session() + "".join(re.findall(r"^a=group:BUNDLE.*\r\n", head, re.MULTILINE))
    for section in sections:
        kind = re.match(r"m=(\w+)", section)[1]
        mid = re.search(r"^a=mid:.*\r\n", section, re.MULTILINE)
        formats = "".join(re.findall(r"^a=(?:rtpmap|fmtp|rtcp-fb):.*\r\n", section, re.MULTILINE))
        result += re.sub(r"^(m=\w+) \d+", r"\1 50000", section.split("\r\n")[0]) + "\r\nc=IN IP4 127.0.0.1\r\n"
        result += TRANSPORT.format(ufrag="Cd34", setup="active") + (mid[0] if mid else "") + "a=sendrecv\r\n" + formats
        result += f"a=ssrc:{2001 if kind == 'audio' else 2002} cname:test\r\n"
    return result


def opus_type(description: str) -> str | None:
    """The payload type of Opus, if it is there."""
    found = re.search(r"^a=rtpmap:(\d+) opus/", description, re.MULTILINE)
    return found and found[1]


def with_opus_type(description: str, number: str) -> str:
    """Opus has this payload type, which no other codec has."""
    own = opus_type(description)
    if own in (None, number):
        return description
    text = re.sub(rf"^(m=audio .*? {own})\b", lambda found: found[1][: -len(own)] + number, description, flags=re.M)
    return re.sub(rf"^a=(rtpmap|fmtp|rtcp-fb):{own} ", rf"a=\g<1>:{number} ", text, flags=re.MULTILINE)


def with_stereo(description: str, parameters: str = "stereo=1;sprop-stereo=1") -> str:
    """Opus with parameters of RFC 7587 §6.1, for a description that gives it none."""
    return re.sub(r"a=rtpmap:(\d+) opus/48000/2\r\n", rf"\g<0>a=fmtp:\1 {parameters}\r\n", description)


def stereo_in(description: str) -> dict[str, str]:
    """What it says about two channels of Opus."""
    format = re.search(r"^a=rtpmap:(\d+) opus/48000/2\r?$", description, re.MULTILINE)[1]
    return dict(
        re.findall(
            r"\b(sprop-stereo|stereo)=(\d)", "".join(re.findall(rf"^a=fmtp:{format} .*", description, re.MULTILINE))
        )
    )
