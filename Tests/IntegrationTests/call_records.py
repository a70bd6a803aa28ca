"""What the gateway keeps of a call, as an end asks for it: while it goes on, and afterwards (spidr-wire §6.8, §10)."""
from party import PartyCall


async def session_of(call: PartyCall) -> dict:
    answer = (await call.party.state(call.session)).succeeded()
    assert answer["callSession"]["state"] == answer["state"]
    return answer["callSession"]


async def record_of(call: PartyCall) -> dict:
    return (await call.party.request("GET", f"/logRecord/{call.session}")).succeeded()


async def sessions_of(party) -> list[dict]:
    return (await party.request("GET", "/callControl/callSessions")).succeeded()["callSessions"]


def events(entries: list[dict]) -> list[str]:
    """`self answered`, in order, with stamps that never go back."""
    times = [entry["time"] for entry in entries]
    assert times == sorted(times)
    return [f"{entry['leg']} {entry['event']}" for entry in entries]


async def events_of(call: PartyCall) -> list[str]:
    """Of a call that goes on."""
    return events((await session_of(call))["timeline"])


async def states(*calls: PartyCall) -> tuple[str, ...]:
    """As the gateway sees them."""
    return tuple([(await session_of(call))["callState"] for call in calls])
