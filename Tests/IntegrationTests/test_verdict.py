"""The verdict of the crash test itself (durability/): a notification of any kind that is in the log and was never told
is lost, and one that was told before it was in the log is out of order."""
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from durability import Crowd, Verdict, configured, keep_transcript, logs_of
from durability.client import Entry
from durability.transcript import Log, Told

FIRST = 7
CALL = ["call", "ringing", "respondCallUpdate", "startCallUpdate", "callEnd"]


def told(number: int, event: str, session: str | None = "s", body: str = "", time: int | None = None) -> Entry:
    return Entry(0.0, str(number), session, event, None, body, 1000 + number if time is None else time)


def log_of(events: list[str]) -> Log:
    """Their numbers go up by one."""
    kinds = {Told(number, 1000 + number): event for number, event in enumerate(events, FIRST)}
    return Log(FIRST, kinds, {each.event_id for each in kinds})


def verdict(journal: list[Entry], log: Log) -> Verdict:
    """Of a crowd in which one client has this journal."""
    crowd = Crowd(SimpleNamespace(http="http://127.0.0.1:1"), {"alice": 1}, seed=1)
    (alice,) = crowd.clients
    alice.subscription, alice.journal = "/rest/version/1/user/alice@dev.local/subscription/one", journal
    return Verdict(crowd, {"one": log})


def faults(journal: list[Entry], log: Log) -> tuple[list[str], list[str], list[str]]:
    found = verdict(journal, log)
    return found.lost, found.doubled, found.out_of_order


def all_of(events: list[str]) -> list[Entry]:
    return [told(number, event) for number, event in enumerate(events, FIRST)]


def test_a_journal_that_has_the_whole_log_is_faultless():
    assert faults(all_of(CALL), log_of(CALL)) == ([], [], [])


def test_what_comes_again_under_its_number_is_dropped():
    found = verdict(all_of(CALL) + all_of(CALL), log_of(CALL))
    assert (found.faults, found.handled, found.repeated) == ([], len(CALL), len(CALL))


@pytest.mark.parametrize("event", CALL)
def test_a_hole_is_a_loss_wherever_it_is(event):
    """At both ends, too."""
    journal = [each for each in all_of(CALL) if each.event != event]
    number = FIRST + CALL.index(event)
    expected = f"alice, device 0: never told {event} #{number}, 0 were announced as lost"
    assert faults(journal, log_of(CALL)) == ([expected], [], [])


def test_a_client_that_was_told_nothing_has_lost_everything():
    lost, *others = faults([], log_of(CALL))
    assert len(lost) == len(CALL) and others == [[], []]


def test_a_hole_that_was_announced_is_none():
    events = ["call", "ringing", "callEnd", "lost"]
    journal = [told(FIRST, "call"), told(FIRST + 3, "notificationsLost", None, "2")]
    assert faults(journal, log_of(events)) == ([], [], [])
    assert len(verdict([journal[0], journal[1]._replace(body="1")], log_of(events)).lost) == 2


@pytest.mark.parametrize("is_told", [True, False])
def test_a_frame_for_one_socket_leaves_no_hole(is_told):
    """Its socket may be gone when it is told."""
    log = log_of(CALL)
    del log.kinds[Told(FIRST + 2, 1000 + FIRST + 2)]
    journal = all_of(CALL)
    journal[2:3] = [told(FIRST + 2, "websocketOverridden", None)] if is_told else []
    assert faults(journal, log) == ([], [], [])


def test_a_number_that_nothing_has_is_a_loss():
    log = log_of(CALL)
    del log.kinds[Told(FIRST + 1, 1000 + FIRST + 1)]
    log.numbers.remove(FIRST + 1)
    journal = [each for each in all_of(CALL) if each.event != "ringing"]
    assert faults(journal, log) == ([f"alice, device 0: nothing has the number {FIRST + 1}"], [], [])


def test_numbers_that_go_down_are_out_of_order():
    events = ["call", "ringing", "startCallUpdate"]
    journal = all_of(events)
    lost, doubled, out_of_order = faults([journal[0], journal[2], journal[1]], log_of(events))
    assert (lost, doubled, len(out_of_order)) == ([], [], 1)


def test_what_is_told_before_it_is_in_the_log_is_out_of_order():
    """The kill came between both, and the next process gave the number to something else, which the client dropped."""
    journal = [*all_of(CALL[:2]), told(FIRST + 2, "mediaPath", "other", time=5), *all_of(CALL)[2:]]
    lost, doubled, out_of_order = faults(journal, log_of(CALL))
    assert lost == [f"alice, device 0: never told respondCallUpdate #{FIRST + 2}, 0 were announced as lost"]
    assert (doubled, len(out_of_order)) == ([], 1)
    assert "before it was in the log" in out_of_order[0] and "mediaPath" in out_of_order[0]


def test_a_subscription_that_is_gone_has_lost_its_log():
    crowd = Crowd(SimpleNamespace(http="http://127.0.0.1:1"), {"alice": 1}, seed=1)
    crowd.clients[0].subscription = "/subscription/one"
    assert Verdict(crowd, {}).lost == ["alice, device 0: its subscription is gone"]


def test_the_transcript_has_what_the_log_has_forgotten(tmp_path):
    configured(tmp_path, ["alice"])
    path = tmp_path / "users.sqlite"
    keep_transcript(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "INSERT INTO subscription (id, channel, user, ringingFeedback, services, expiry, firstEventId)"
            " VALUES ('one', 'c', 'alice@dev.local', 0, '[]', 0, 7)")  # fmt: skip
        rows = [("one", 7, 1007, 0, "event"), ("one", 9, 1009, 0, "event"), ("gone", 7, 1, 0, "event")]
        database.executemany(
            "INSERT INTO notification (subscription, eventId, time, isTransmitted, kind) VALUES (?, ?, ?, ?, ?)", rows)
        database.execute("UPDATE subscription SET numbered = max(numbered, 8) WHERE id = 'one'")
        database.execute("UPDATE subscription SET numbered = max(numbered, 3) WHERE id = 'one'")
        database.execute("DELETE FROM notification")
    assert logs_of(path) == {"one": Log(7, {Told(7, 1007): "event", Told(9, 1009): "event"}, {7, 8, 9})}
