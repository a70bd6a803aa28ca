"""Courses in which two talk, and others ring at most."""
from party import FCS, MUSIC, PartyCall
from party.dialects import origin
from peers.spidr import Answer

from .cast import Cast, Disagreement


async def slowly_started(cast: Cast):
    """A call without an offer; in it one asks the other for an offer, also while that one holds."""
    at_alice = await cast.alice.dial(cast.bob.user, slow=True)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    (await at_bob.ring()).succeeded()
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await at_desk.over()
    await cast.agree(alice="IN_CALL", bob="IN_CALL")
    await offered(at_alice, at_bob)
    await at_bob.hold()
    await offered(at_alice, at_bob)
    await cast.agree(alice="REMOTELY_HELD", bob="ON_HOLD")
    await at_bob.unhold()
    await cast.agree(alice="IN_CALL", bob="IN_CALL")
    await cast.hear({at_alice: "bob", at_bob: "alice"})
    await at_alice.end()
    await cast.agree_on_the_end(at_alice, at_bob)


async def offered(asking: PartyCall, asked: PartyCall):
    """One end asks, the other offers, and hears the answer."""
    before = {call: len(call.descriptions) for call in (asking, asked)}
    answer = await asking.ask_for_an_offer()
    if answer.status != 491:  # nothing tells one question from another: what came twice waits for itself
        answer.succeeded()
    for call in (asking, asked):
        await call.until(lambda call=call: len(call.descriptions) > before[call], "told the other's description")


async def announced(cast: Cast):
    """The caller hears an announcement before the answer, and then whoever answers, over the same path."""
    at_alice = await cast.alice.dial(cast.bob.user, supported=["earlymedia"])
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    await at_alice.until(lambda: at_alice.descriptions, "given early media")
    await cast.hear({at_alice: MUSIC})
    (await at_bob.ring()).succeeded()
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await at_desk.over()
    await cast.agree(alice="IN_CALL", bob="IN_CALL")
    early, final = at_alice.descriptions
    if origin(early)[0] != origin(final)[0]:
        raise Disagreement(f"early media in session {origin(early)[0]}, the answer in {origin(final)[0]}")
    await cast.hear({at_alice: "bob", at_bob: "alice"})
    await at_bob.end()
    await cast.agree_on_the_end(at_alice, at_bob)


async def shown(cast: Cast):
    """Video is added by one, sent by both, kept from whom is held, and stopped."""
    at_alice, at_bob = await cast.connected("alice", "bob")
    cast.wire.begin()
    at_bob.video = "recvonly"
    await at_alice.show_video()
    await cast.agree_on_video(at_alice, "sendonly", at_bob, "recvonly")
    await at_bob.show_video()
    await cast.agree_on_video(at_alice, "sendrecv", at_bob, "sendrecv")
    await at_alice.hold()
    await cast.agree(alice="ON_HOLD", bob="REMOTELY_HELD")
    held = ("sendonly", "recvonly") if at_alice.party.dialect is FCS else ("inactive", "inactive")
    await cast.agree_on_video(at_alice, held[0], at_bob, held[1])
    await at_alice.unhold()
    await at_alice.show_video("inactive")
    await cast.agree(alice="IN_CALL", bob="IN_CALL")
    await cast.agree_on_video(at_alice, "inactive", at_bob, "inactive")
    await at_bob.end()
    await cast.agree_on_the_end(at_alice, at_bob)


async def trickled(cast: Cast):
    """Both tell their candidates afterwards: they come through where media goes from peer to peer, and else the gateway
    needs none."""
    cast.alice.trickles = cast.bob.trickles = True
    at_alice = await cast.alice.dial(cast.bob.user)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    await at_alice.trickle()
    (await at_bob.answer()).succeeded()
    await at_bob.trickle()
    await at_alice.answered()
    await at_desk.over()
    await cast.agree(alice="IN_CALL", bob="IN_CALL")
    await cast.hear({at_alice: "bob", at_bob: "alice"})
    for own, other in ((at_alice, at_bob), (at_bob, at_alice)):
        wanted = [*own.media.candidates, ""] if cast.is_direct else []
        # One that came twice is the same candidate (RFC 8838 §11).
        await other.until(
            lambda own=own, other=other, wanted=wanted: list(dict.fromkeys(other.candidates)) == wanted,
            f"told of {wanted}",
        )
    await at_alice.end()
    await cast.agree_on_the_end(at_alice, at_bob)


async def visited(cast: Cast):
    """A caller without an account is turned away, calls again, holds, and leaves."""
    await cast.let_in_a_guest(to="bob")
    at_guest = await cast.guest.dial(cast.bob.user)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    gone(await at_bob.reject())
    await at_guest.over()
    await at_desk.over()
    await cast.agree()

    at_guest = await cast.guest.dial(cast.bob.user)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.invited()
    (await at_bob.answer()).succeeded()
    await at_guest.answered()
    await at_desk.over()
    await at_guest.hold()
    await cast.agree(guest="ON_HOLD", bob="REMOTELY_HELD")
    await at_guest.unhold()
    await cast.agree(guest="IN_CALL", bob="IN_CALL")
    await cast.hear({at_guest: "bob", at_bob: "guest"})
    await at_guest.end("done")
    await at_bob.over()


async def refused(cast: Cast):
    """Early media, forwarding, rejection, cancellation, a transfer that fails, and what changes nothing."""
    at_alice = await cast.alice.dial(cast.bob.user, supported=["earlymedia"])
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    gone(await at_bob.forward(cast.carol.user))
    at_carol = await cast.carol.invited()
    await at_bob.over()
    await at_desk.over()
    gone(await at_carol.reject())
    await cast.agree_on_the_end(at_alice, at_carol)
    await cast.agree()

    at_alice = await cast.alice.dial(cast.bob.user)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    await at_alice.end("never mind")
    await cast.agree_on_the_end(at_alice, at_bob)
    await at_desk.over()
    await cast.agree()

    at_alice, at_bob = await cast.connected("alice", "carol")
    (await at_alice.audit()).succeeded()
    (await at_alice.send_custom_headers(X_Test="1")).succeeded()
    (await at_alice.transfer(cast.bob.user)).succeeded()
    target = await cast.bob.invited()
    gone(await target.reject())
    await at_alice.until(lambda: at_alice.failure, "told that the transfer failed")
    await cast.agree(alice="IN_CALL", carol="IN_CALL")
    await cast.hear({at_alice: "carol", at_bob: "alice"})
    await at_bob.end("enough")
    await cast.agree_on_the_end(at_alice, at_bob)


def gone(answer: Answer):
    """The same for whoever asked: it is done, or nobody knows the call any more."""
    if answer.status not in (404, 409):
        answer.succeeded()
