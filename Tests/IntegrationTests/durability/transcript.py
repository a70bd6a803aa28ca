"""What the gateway has ever put into the log of each subscription, as the database itself writes it down.

The rows of the log go with age. Triggers keep a copy of each, in the transaction that wrote the row, so that a kill
cannot take the one without the other."""
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

TRIGGERS = """
CREATE TABLE transcript (subscription TEXT NOT NULL, eventId INTEGER NOT NULL, time INTEGER, kind TEXT);
CREATE TRIGGER transcribed AFTER INSERT ON notification BEGIN
    INSERT INTO transcript VALUES (NEW.subscription, NEW.eventId, NEW.time, NEW.kind);
END;
CREATE TRIGGER numbered AFTER UPDATE OF numbered ON subscription WHEN NEW.numbered > OLD.numbered BEGIN
    INSERT INTO transcript VALUES (NEW.id, NEW.numbered, NULL, NULL);
END;
"""


class Told(NamedTuple):
    """A notification, as a client and the log both know it. A number that is given twice has two times."""

    event_id: int
    time: int
    """When it was made, in milliseconds since 1970."""


@dataclass
class Log:
    """The log of one subscription."""

    first: int
    """The number of its first notification."""
    kinds: dict[Told, str] = field(default_factory=dict)
    """All notifications for its client, in the words of the database."""
    numbers: set[int] = field(default_factory=set)
    """All numbers that were given, also those of frames for one socket only (`websocketOverridden`)."""


def keep_transcript(path: Path):
    """To be called before anybody subscribes."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(TRIGGERS)


def logs_of(path: Path) -> dict[str, Log]:
    """By the name of the subscription; of those that are not over."""
    with closing(sqlite3.connect(path)) as database:
        logs = {name: Log(first) for name, first in database.execute("SELECT id, firstEventId FROM subscription")}
        for name, event_id, time, kind in database.execute("SELECT * FROM transcript"):
            if name in logs:
                logs[name].numbers.add(event_id)
                if kind is not None:
                    logs[name].kinds[Told(event_id, time)] = kind
    return logs
