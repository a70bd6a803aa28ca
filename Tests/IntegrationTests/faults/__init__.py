"""Courses of calls, and what can go wrong with each of their messages.

    messages = await run(joined, None, stage, 0)       # as it should be
    await run(joined, Fault(messages[3], Mishap.LOST), stage, 0)

A course (`courses_of_two`, `courses_of_three`) is what its people do, in the order in which they do it, and what they
must agree on with the gateway on the way (`Cast`). `running` plays it on a `Stage`, once for each thing that can go
wrong.
"""
from .cast import Cast, Disagreement
from .running import AT_ONCE, AT_ONCE_HEADLESS, PAIRINGS, Stage, faults_of, one_of_each, run, run_all

__all__ = [
    "AT_ONCE", "AT_ONCE_HEADLESS", "PAIRINGS", "Cast", "Disagreement", "Stage", "faults_of", "one_of_each", "run",
    "run_all",
]  # fmt: skip
