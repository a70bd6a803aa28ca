"""GStreamer's webrtcbin, over libnice: the media end of a party, run by Debian's Python, which has its bindings."""
from pathlib import Path

from party.dialects import INACTIVE, SENDRECV, answering, direction_of, with_directions

from ..process_media import ProcessMedia


class GStreamer(ProcessMedia):
    """1.22 cannot change directions in a call: it answers no offer with another direction, except that it takes
    `inactive`, and then neither sends nor hears any more."""

    name = "GStreamer"

    def __init__(self, *arguments, digits: bool = False, **others):
        """`digits`: whether its offers have telephone events; its answers have one codec and nothing else."""
        super().__init__(*arguments, **others)
        self._has_digits = digits

    def what_it_plays(self) -> dict:
        return super().what_it_plays() | {"digits": self._has_digits}

    async def command(self) -> list[str]:
        return ["/usr/bin/python3", str(Path(__file__).parent / "peer.py")]


class SteadyGStreamer(GStreamer):
    """Its program gives webrtcbin `sendrecv` for any direction that it is told, and writes the agreed direction into
    its own descriptions. webrtcbin goes on sending, which the gateway passes on as far as agreed."""

    async def offer(self, wishes: dict[str, str]) -> str:
        return with_directions(await super().offer(wishes), lambda kind: wishes[kind])

    async def answer(self, offer: str, wishes: dict[str, str]) -> str:
        def agreed(kind: str) -> str:
            return answering(direction_of(offer, kind) or INACTIVE, wishes.get(kind, INACTIVE))

        return with_directions(await super().answer(steady(offer), wishes), agreed)

    async def accept(self, answer: str, provisional: bool = False):
        await super().accept(steady(answer), provisional)


def steady(description: str) -> str:
    return with_directions(description, lambda kind: SENDRECV)
