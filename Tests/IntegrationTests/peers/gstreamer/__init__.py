"""GStreamer's webrtcbin, over libnice: the media end of a party, run by Debian's Python, which has its bindings."""
from pathlib import Path

from ..process_media import ProcessMedia


class GStreamer(ProcessMedia):
    """1.22 cannot change directions in a call, and knows no keys."""

    name = "GStreamer"

    async def command(self) -> list[str]:
        return ["/usr/bin/python3", str(Path(__file__).parent / "peer.py")]
