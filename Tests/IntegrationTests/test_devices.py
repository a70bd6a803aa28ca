"""Several devices, forwarding, and calls that nobody answers (spidr-wire §6.4 to §6.7): what each device is told, in
order."""
import asyncio

import pytest

from party import FCS, L5, PartyCall
from situations import connected, forget, held, resumed


async def test_the_first_answer_wins_however_close_they_come(party):
    alice = await party("alice")
    devices = [await party("bob", alone=index == 0, dialect=FCS if index % 2 else L5) for index in range(4)]
    for _ in range(3):
        at_alice = await alice.dial("bob")
        calls = [await device.incoming() for device in devices]
        answers = await asyncio.gather(*(call.answer() for call in calls))
        assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
        for answer in answers:
            if answer.status != 200:
                answer.refused(409, 37, "callControlResponse", "call.already_answered")
        await at_alice.answered()
        await alice.heard_exactly(("ringing", at_alice), ("respondCallUpdate", at_alice))
        for device, call in zip(devices, calls, strict=True):
            await device.heard_exactly(("call", call), ("callCancel", call))
        (await at_alice.end()).succeeded()
        winner = next(call for call, answer in zip(calls, answers, strict=True) if answer.status == 200)
        await winner.over()
        await asyncio.sleep(0.3)
        forget(*devices)


@pytest.mark.parametrize("dialect", [L5, FCS], ids=str)
async def test_devices_that_name_themselves_have_the_call_for_themselves(party, dialect):
    """`x-session`: the protocol's header for whose subscription a request is from (§1.2). Who does not send it is told
    as ever."""
    phone, tablet = await party("alice", dialect=dialect), await party("alice", alone=False)
    desk, pocket = await party("bob", dialect=dialect), await party("bob", alone=False)
    for device in (phone, desk):
        device.names_itself = True
    at_phone = await phone.dial("bob")
    at_desk, at_pocket = await desk.incoming(), await pocket.incoming()
    (await at_desk.answer()).succeeded()
    await at_phone.answered()
    await pocket.heard_exactly(("call", at_pocket), ("callCancel", at_pocket))
    await held(at_phone, at_desk)
    await resumed(at_phone, at_desk)
    await held(at_desk, at_phone)
    (await at_desk.end()).succeeded()
    assert (await at_phone.over()).by == "callEnd"
    await tablet.heard_exactly()
    await pocket.heard_exactly()


@pytest.mark.parametrize("named", [True, False], ids=["devices name themselves", "nobody knows which device asks"])
async def test_a_call_that_another_device_ends_is_over_at_once(party, named):
    """The device that has it is told who ended it and why, and need not wait for its audit to fail."""
    alice, bob = await party("alice"), await party("bob")
    tablet = await party("alice", alone=False)
    alice.names_itself = tablet.names_itself = named
    at_alice, at_bob = await connected(alice, bob)
    if not named:
        tablet.forget()
    (await tablet.end(at_alice.session, "?reasonText=battery")).succeeded()
    for call, who in ((at_alice, "self"), (at_bob, "peer")):
        assert (await call.over()).text == "battery"
        last = call.party.heard[-1]
        assert (last.event, last.session) == ("callEnd", call.session)
        assert (last.message["sessionParams"]["endedBy"], last.message["sessionParams"]["cause"]) == (
            who,
            "normal_clearing",
        )
    await tablet.heard_exactly(*([] if named else [("callEnd", at_alice)]))
    await alice.audit_until_forgotten(at_alice.session)


async def test_a_call_goes_on_where_another_device_takes_it_along(party):
    alice, bob = await party("alice"), await party("bob")
    tablet = await party("alice", alone=False)
    alice.names_itself = tablet.names_itself = True
    at_alice, at_bob = await connected(alice, bob)
    # An answer of a device that was asked nothing is none.
    answer = await tablet.operate(
        at_alice.session, "respondCallUpdate", sdp=await tablet.new_media().offer({"audio": "sendrecv"})
    )
    answer.refused(409, 37, "callControlResponse", "call.not_allowed")
    at_tablet = PartyCall(tablet, is_incoming=False)
    at_tablet.begin(at_alice.session)
    await at_tablet.hold()
    ended = await at_alice.over()
    assert (ended.by, ended.text) == ("callEnd", "Continued on another device")
    assert alice.heard[-1].message["sessionParams"]["cause"] == "continued_elsewhere"
    assert at_bob.state == "REMOTELY_HELD"
    await resumed(at_tablet, at_bob)
    (await at_bob.end()).succeeded()
    await at_tablet.over()
    await alice.heard_exactly(("callEnd", at_alice))


async def test_the_timeline_says_which_device_rang_and_which_answered(party):
    alice, desk = await party("alice"), await party("bob", ringing_feedback=True)
    pocket, kitchen = await party("bob", alone=False, ringing_feedback=True), await party("bob", alone=False)
    desk.names_itself = pocket.names_itself = True
    for refuses in (False, True):
        at_alice = await alice.dial("bob")
        at_desk, at_pocket, _ = [await device.incoming() for device in (desk, pocket, kitchen)]
        for call in (at_pocket, at_desk, at_pocket):
            (await call.ring()).succeeded()
        (await (at_pocket.reject() if refuses else at_desk.answer())).succeeded()
        if not refuses:
            await at_alice.answered()
            (await at_desk.end()).succeeded()
        await at_alice.over()
        timeline = (await alice.request("GET", f"/logRecord/{at_alice.session}")).succeeded()["timeline"]
        noted = [(entry["event"], entry["device"]) for entry in timeline if "device" in entry]
        rang = [("offered", 1), ("offered", 2), ("offered", 3), ("ringing", 3), ("ringing", 2), ("ringing", 1)]
        answered = [("answered", 1), ("answeredElsewhere", 2), ("answeredElsewhere", 3), ("ended", 1)]
        assert noted == rang + ([("rejected", 2), ("ended", 2)] if refuses else answered)
        forget(desk, pocket, kitchen)


async def test_one_device_rejects_for_all(party):
    alice = await party("alice")
    desk, pocket = await party("bob"), await party("bob", alone=False)
    at_alice = await alice.dial("bob")
    at_desk, at_pocket = await desk.incoming(), await pocket.incoming()
    (await at_desk.reject()).succeeded()
    assert (await at_alice.over()).code == 603
    await alice.heard_exactly(("ringing", at_alice), ("callEnd", at_alice))
    await desk.heard_exactly(("call", at_desk), ("callCancel", at_desk))
    await pocket.heard_exactly(("call", at_pocket), ("callCancel", at_pocket))
    (await at_pocket.answer()).refused(404, 42, "callControlResponse", "call.not_found")


async def test_a_call_that_one_device_ignores_rings_on(party):
    """Ignoring sends nothing (§6.4)."""
    alice = await party("alice")
    desk, pocket = await party("bob"), await party("bob", alone=False)
    at_alice = await alice.dial("bob")
    await desk.incoming()
    at_pocket = await pocket.incoming()
    (await at_pocket.answer()).succeeded()
    await at_alice.answered()


async def test_nobody_answers(own_gateway, party):
    own = own_gateway("--set", "calls.ring_time=5s")
    alice, bob = await party("alice", base=own.http), await party("bob", base=own.http)
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    ended = await at_alice.over()
    assert (ended.by, ended.code) == ("callEnd", 487) and ended.text
    missed = await at_bob.over()
    assert (missed.by, missed.code) == ("callEnd", 487) and missed.text
    for client in (alice, bob):
        assert client.heard[-1].message["sessionParams"]["cause"] == "no_answer"
    await alice.heard_exactly(("ringing", at_alice), ("callEnd", at_alice))
    await bob.heard_exactly(("call", at_bob), ("callEnd", at_bob))
    (await at_bob.answer()).refused(404, 42, "callControlResponse", "call.not_found")


async def test_a_second_call_rings_while_the_first_goes_on(party):
    """Whether to take it is the device's choice (call waiting)."""
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_alice, at_bob = await connected(alice, bob)
    at_carol = await carol.dial("bob")
    second = await bob.incoming()
    await held(at_bob, at_alice)
    (await second.answer()).succeeded()
    await at_carol.answered()
    (await second.end()).succeeded()
    await at_carol.over()
    await at_bob.unhold()


# Forwarding (§6.4)


@pytest.mark.parametrize("feedback", [False, True], ids=["the gateway rings", "the device rings"])
async def test_a_ringing_call_is_forwarded(party, feedback):
    alice, carol = await party("alice"), await party("carol", ringing_feedback=feedback)
    desk, pocket = await party("bob"), await party("bob", alone=False)
    at_alice = await alice.dial("bob")
    at_desk, at_pocket = await desk.incoming(), await pocket.incoming()
    assert "forward" in at_desk.invitation.message["sessionParams"]["actions"]
    (await at_desk.forward("carol")).succeeded()
    at_carol = await carol.incoming()
    assert at_carol.remote == ("Alice", "alice@dev.local")
    for device, call in ((desk, at_desk), (pocket, at_pocket)):
        await device.heard_exactly(("call", call), ("callCancel", call))
    (await at_carol.answer()).succeeded()
    await at_alice.answered()
    assert at_alice.remote == ("Carol", "carol@dev.local")
    events = [notification.event for notification in alice.heard]
    assert events.count("ringing") == 1 and events[-1] == "respondCallUpdate", events
    (await at_carol.end()).succeeded()
    await at_alice.over()


@pytest.mark.parametrize("target", ["nobody", "dave"])
async def test_a_call_cannot_be_forwarded_to_where_nobody_is(party, target):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    refused = await at_bob.forward(target)
    refused.refused(404, 10, "callDispositionResponse", "call.unreachable")
    # Nothing is lost: the call still rings where it rang.
    await bob.heard_exactly(("call", at_bob))
    (await at_bob.answer()).succeeded()
    await at_alice.answered()


async def test_the_target_of_a_forwarded_call_rejects_it(party):
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_alice = await alice.dial("bob")
    (await (await bob.incoming()).forward("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_carol.reject()).succeeded()
    assert (await at_alice.over()).code == 603


async def test_forwarding_in_a_circle_comes_to_an_end(party):
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_alice = await alice.dial("bob")
    ringing, others = bob, carol
    for _ in range(20):
        call = await ringing.incoming()
        answer = await call.forward(others.name)
        if answer.status != 200:
            break
        ringing, others = others, ringing
    assert answer.status in (403, 409), "forwarded twenty times"
    (await call.answer()).succeeded()
    await at_alice.answered()


async def test_an_answered_call_cannot_be_forwarded(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice, at_bob = await connected(alice, bob)
    (await at_bob.forward("carol")).refused(409, 37, "callDispositionResponse", "call.already_answered")
    await alice.heard_exactly()
    answer = await at_alice.forward("carol")
    assert answer.status == 409, answer.text


async def test_the_caller_cannot_forward(party):
    alice, bob = await party("alice"), await party("bob")
    at_alice = await alice.dial("bob")
    at_bob = await bob.incoming()
    assert (await at_alice.forward("carol")).status == 409
    (await at_bob.answer()).succeeded()
    await at_alice.answered()


async def test_the_caller_gives_up_while_a_forwarded_call_rings(party):
    alice, bob, carol = await party("alice"), await party("bob"), await party("carol")
    at_alice = await alice.dial("bob")
    (await (await bob.incoming()).forward("carol")).succeeded()
    at_carol = await carol.incoming()
    (await at_alice.end("too long")).succeeded()
    assert (await at_carol.over()).text == "too long"
    await carol.heard_exactly(("call", at_carol), ("callEnd", at_carol))
