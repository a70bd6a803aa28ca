"""Courses in which a third one takes part: transfers and conferences."""
from .cast import Cast
from .courses_of_two import gone


async def held_and_transferred(cast: Cast):
    """Start, ring at two devices, answer, hold, double hold, resume, blind transfer, end."""
    at_alice = await cast.alice.dial(cast.bob.user)
    at_bob, at_desk = await cast.bob.invited(), await cast.desk.incoming()
    (await at_bob.ring()).succeeded()
    (await at_bob.answer()).succeeded()
    await at_alice.answered()
    await at_desk.over()
    await at_alice.hold()
    await at_bob.hold()
    await at_alice.unhold()
    await cast.agree(alice="REMOTELY_HELD", bob="ON_HOLD")
    await at_bob.unhold()
    (await at_alice.transfer(cast.carol.user)).succeeded()
    at_carol = await cast.carol.invited()
    (await at_carol.answer()).succeeded()
    await at_alice.over()
    await cast.agree(bob="IN_CALL", carol="IN_CALL")
    await cast.hear({at_bob: "carol", at_carol: "bob"})
    await at_bob.end()
    await cast.agree_on_the_end(at_bob, at_carol)


async def joined(cast: Cast):
    """Two held calls become a conference, in which one holds and resumes, and which its members leave."""
    to_bob, at_bob = await cast.connected("alice", "bob")
    await to_bob.hold()
    to_carol, at_carol = await cast.connected("alice", "carol")
    await to_carol.hold()
    cast.wire.begin()
    conference = await cast.alice.join(to_bob, to_carol)
    await conference.answered()
    await to_bob.over()
    await to_carol.over()
    await cast.agree(alice="IN_CALL", bob="IN_CALL", carol="IN_CALL")
    await cast.hear({conference: "bob carol", at_bob: "alice carol", at_carol: "alice bob"})
    await at_bob.hold()
    await cast.agree(alice="IN_CALL", bob="ON_HOLD", carol="IN_CALL")
    await at_carol.end()
    await cast.agree(alice="IN_CALL", bob="ON_HOLD")
    await at_bob.unhold()
    await cast.agree(alice="IN_CALL", bob="IN_CALL")
    await cast.hear({conference: "bob", at_bob: "alice"})
    await conference.end()
    await cast.agree_on_the_end(conference, at_bob)


async def not_joined(cast: Cast):
    """A join that fails, because one of the two calls still rings, leaves both as they were."""
    to_bob, at_bob = await cast.connected("alice", "bob")
    await to_bob.hold()
    to_carol, at_carol = await cast.alice.dial(cast.carol.user), await cast.carol.invited()
    cast.wire.begin()
    failed = await cast.alice.join(to_bob, to_carol)
    await failed.over()
    gone(await at_carol.reject())
    await to_carol.over()
    await cast.agree(alice="ON_HOLD", bob="REMOTELY_HELD")
    await to_bob.unhold()
    await cast.agree(alice="IN_CALL", bob="IN_CALL")
    await cast.hear({to_bob: "bob", at_bob: "alice"})
    await to_bob.end()
    await cast.agree_on_the_end(to_bob, at_bob)


async def consulted(cast: Cast):
    """A consultative transfer between two calls."""
    to_bob, at_bob = await cast.connected("alice", "bob")
    to_carol, at_carol = await cast.connected("alice", "carol")
    cast.wire.begin()
    gone(await to_bob.transfer(to_carol))
    await to_bob.over()
    await to_carol.over()
    await cast.agree(bob="IN_CALL", carol="IN_CALL")
    await cast.hear({at_bob: "carol", at_carol: "bob"})
    await at_carol.end()
    await cast.agree_on_the_end(at_bob, at_carol)


async def replaced(cast: Cast):
    """A consultative transfer between clients that take one call in place of another: the target declines it, then
    accepts."""
    to_bob, at_bob = await cast.connected("alice", "bob", supported=["replacecall"])
    to_carol, at_carol = await cast.connected("alice", "carol", supported=["replacecall"])
    cast.wire.begin()
    gone(await to_bob.transfer(to_carol))
    declined = await cast.carol.invited()
    gone(await declined.reject())
    await to_bob.until(lambda: to_bob.failure, "told that the transfer failed")
    await declined.over()
    await cast.agree(alice="IN_CALL IN_CALL", bob="IN_CALL", carol="IN_CALL")

    gone(await to_bob.transfer(to_carol))
    replacing = await cast.carol.invited()
    (await replacing.answer()).succeeded()
    await to_bob.over()
    await to_carol.over()
    await at_carol.over()
    await cast.agree(bob="IN_CALL", carol="IN_CALL")
    await cast.hear({at_bob: "carol", replacing: "bob"})
    await at_bob.end()
    await cast.agree_on_the_end(at_bob, replacing)
