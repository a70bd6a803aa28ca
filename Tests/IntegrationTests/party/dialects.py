"""How two families of clients write hold into a description (spidr-wire §8.2), and how they answer while they hold."""
import re
from dataclasses import dataclass

SENDRECV, SENDONLY, RECVONLY, INACTIVE = "sendrecv", "sendonly", "recvonly", "inactive"
_DIRECTION = re.compile(r"^a=(sendrecv|sendonly|recvonly|inactive)(?=\r$)", re.MULTILINE)
_SENDS, _RECEIVES = {SENDRECV, SENDONLY}, {SENDRECV, RECVONLY}


@dataclass(frozen=True)
class Dialect:
    name: str
    hold_offer: str
    """The direction that a holder offers."""
    second_hold_offer: str
    """The same, if the other party already holds."""
    while_holding: str
    """What a holder lets through at most when it answers."""
    holds_by_address: bool = False
    """Whether a holder writes `c=0.0.0.0` where others write `sendonly` (RFC 2543 §B.5)."""

    def offer_to_hold(self, remotely_held: bool) -> str:
        return self.second_hold_offer if remotely_held else self.hold_offer

    def wish(self, holding: bool) -> str:
        """What the party wants of each medium; an answer narrows it to what was offered."""
        return self.while_holding if holding else SENDRECV

    def written(self, description: str, holding: bool) -> str:
        """A client's own description as it leaves the client."""
        return with_no_address(description) if holding and self.holds_by_address else description

    def __str__(self):
        return self.name


L5 = Dialect("L5", hold_offer=INACTIVE, second_hold_offer=INACTIVE, while_holding=INACTIVE)
"""JavaScript SDK 4 and 5."""
FCS = Dialect("FCS", hold_offer=SENDONLY, second_hold_offer=INACTIVE, while_holding=SENDONLY)
"""fcs.js and the mobile SDKs."""
OLD = Dialect(
    "RFC 2543", hold_offer=SENDONLY, second_hold_offer=INACTIVE, while_holding=SENDONLY, holds_by_address=True
)
"""What stands behind a gateway of telephones, and wants to be sent nothing: it says so by its address, and by no
direction where it would send."""

HEADLESS = Dialect("headless", hold_offer=SENDONLY, second_hold_offer=SENDONLY, while_holding=SENDONLY)
"""No dialect: an application without descriptions (`HeadlessParty`), and the directions that the gateway writes in its
place into those of the other party (docs/adr/0019)."""


def sends(direction: str) -> bool:
    return direction in _SENDS


def receives(direction: str) -> bool:
    return direction in _RECEIVES


def direction(sending: bool, receiving: bool) -> str:
    return {(True, True): SENDRECV, (True, False): SENDONLY, (False, True): RECVONLY, (False, False): INACTIVE}[
        sending, receiving
    ]


def narrowed(wished: str, limit: str) -> str:
    """What is in both."""
    return direction(sends(wished) and sends(limit), receives(wished) and receives(limit))


def answering(offered: str, wished: str) -> str:
    """RFC 3264 §6.1: nothing that was not offered, nothing that is not wished."""
    return direction(sends(wished) and receives(offered), receives(wished) and sends(offered))


def sections(description: str) -> list[str]:
    """The session part, then one part per m-line."""
    return re.split(r"(?=^m=)", description, flags=re.MULTILINE)


def direction_of(description: str, kind: str) -> str | None:
    """`sendrecv`, …, of the first section of this kind; None if there is none or if it is rejected (port 0 without
    `bundle-only`)."""
    head, *media = sections(description)
    for section in media:
        if section.startswith(f"m={kind} ") and ("a=bundle-only" in section or not section.startswith(f"m={kind} 0 ")):
            return _attribute(section) or _attribute(head) or SENDRECV
    return None


def audio_direction(description: str) -> str | None:
    return direction_of(description, "audio")


def with_directions(description: str, choose) -> str:
    """`choose(kind)` gives the direction of every section of that kind."""
    head, *media = sections(description)
    return head + "".join(_DIRECTION.sub(f"a={choose(kind_of(part))}", part) for part in media)


def with_no_address(description: str) -> str:
    """It can be sent nothing: its address is none, nor are there candidates; the port stays. `sendonly` is said by that
    alone."""
    text = re.sub(r"^a=(?:candidate:.*|end-of-candidates)\r\n", "", description, flags=re.MULTILINE)
    text = re.sub(r"^c=IN IP[46] \S+", "c=IN IP4 0.0.0.0", text, flags=re.MULTILINE)
    return re.sub(r"^a=sendonly(?=\r$)", "a=sendrecv", text, flags=re.MULTILINE)


def kind_of(section: str) -> str:
    return section[2 : section.index(" ")]


def origin(description: str) -> tuple[str, int]:
    """Session id and version of the `o=` line."""
    fields = re.search(r"^o=(.*)\r$", description, re.MULTILINE)[1].split()
    return fields[1], int(fields[2])


def _attribute(text: str) -> str | None:
    found = _DIRECTION.search(text)
    return found and found[1]
