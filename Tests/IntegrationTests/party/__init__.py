"""Parties: scripted clients that hold, transfer and join as the protocol's two dialects do, and say what they hear.

    alice, bob = await party("alice", dialect=FCS), await party("bob", dialect=L5)
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    await at_bob.answer()
    await at_alice.answered()
    await at_alice.hold()
    await bob.heard_exactly("call", "callCancel", "startCallUpdate")
    await hear_now({at_alice: set(), at_bob: {MUSIC}})
"""
from .call import PartyCall
from .colours import see_now
from .device import Party
from .dialects import FCS, HEADLESS, L5, OLD, Dialect, audio_direction, direction_of
from .guest import Guest, SignedRealm, TokenRealm
from .headless import HeadlessCall, HeadlessParty
from .sturdy import GaveUp, SturdyGuest, SturdyParty
from .tones import MUSIC, TONES, hear_now

__all__ = [
    "FCS", "HEADLESS", "L5", "MUSIC", "OLD", "TONES", "Dialect", "GaveUp", "Guest", "HeadlessCall", "HeadlessParty",
    "Party", "PartyCall", "SturdyGuest", "SturdyParty", "SignedRealm", "TokenRealm",
    "audio_direction", "direction_of", "hear_now", "see_now",
]  # fmt: skip
