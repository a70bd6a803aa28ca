"""Calls brought to where a test begins. What devices were told on the way is forgotten."""
from party import PartyCall
from party.device import Party


async def connected(
    caller: Party, callee: Party, answering: dict | None = None, **fields
) -> tuple[PartyCall, PartyCall]:
    """An answered call, with media on both sides if its parties have any; each end is told once.

    `fields` of `callStart`, `answering` of `callAnswer`."""
    outgoing = await caller.dial(callee.user, **fields)
    incoming = await callee.incoming()
    (await incoming.answer(**(answering or {}))).succeeded()
    await outgoing.answered()
    await incoming.established()
    for call in (outgoing, incoming):
        if call.party.sounds:
            await call.connected()
    forget(caller, callee)
    return outgoing, incoming


async def held(holder: PartyCall, other: PartyCall):
    await holder.hold()
    await other.until(lambda: other.remotely_held and other.is_settled, "remotely held")
    forget(holder.party, other.party)


async def resumed(holder: PartyCall, other: PartyCall):
    await holder.unhold()
    await other.until(lambda: not other.remotely_held and other.is_settled, "no longer remotely held")
    forget(holder.party, other.party)


async def two_held_calls(
    hub: Party, first: Party, second: Party, **fields
) -> tuple[PartyCall, PartyCall, PartyCall, PartyCall]:
    """`hub` holds a call to each of the others: its end and their end of the first, then of the second. `fields` of
    `connected`."""
    to_first, at_first = await connected(hub, first, **fields)
    await held(to_first, at_first)
    to_second, at_second = await connected(hub, second, **fields)
    await held(to_second, at_second)
    return to_first, at_first, to_second, at_second


def forget(*parties: Party):
    for each in parties:
        each.forget()


async def brought_to(state: str, own: PartyCall, other: PartyCall):
    if state in ("ON_HOLD", "ON_DOUBLE_HOLD"):
        await held(own, other)
    if state in ("REMOTELY_HELD", "ON_DOUBLE_HOLD"):
        await held(other, own)
    assert own.state == state
