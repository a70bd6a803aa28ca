"""Clients that call each other without media while the gateway is killed and started again, and what they were told.

A client keeps a journal of all it is told on its channel, and opens the channel again whenever it breaks. It drops what
comes again under an eventId that it remembers (spidr-wire §4.3). Of requests that are not answered some are repeated
and others are given up, as the client's diary says. In the end a verdict is made of the journals and of what the
gateway had put into its log.
"""
from .client import FCS_WINDOW, L5_WINDOW
from .crowd import Crowd, configured, users_of
from .transcript import keep_transcript, logs_of
from .verdict import Verdict

__all__ = ["FCS_WINDOW", "L5_WINDOW", "Crowd", "Verdict", "configured", "keep_transcript", "logs_of", "users_of"]
