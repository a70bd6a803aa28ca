"""GStreamer's webrtcbin, over libnice: the media end of a party, run by Debian's Python, which has its bindings."""
from pathlib import Path

from ..process_media import ProcessMedia


class GStreamer(ProcessMedia):
    """1.22 cannot change directions in a call."""

    name = "GStreamer"

    def __init__(self, *arguments, digits: bool = False, **others):
        """`digits`: whether its offers have telephone events; its answers have one codec and nothing else."""
        super().__init__(*arguments, **others)
        self._has_digits = digits

    def what_it_plays(self) -> dict:
        return super().what_it_plays() | {"digits": self._has_digits}

    async def command(self) -> list[str]:
        return ["/usr/bin/python3", str(Path(__file__).parent / "peer.py")]
