"""What docs/threats.md says of tests is true."""
import re
from pathlib import Path

from peers.gateway import REPOSITORY

THREATS = REPOSITORY / "docs/threats.md"


def rows(columns: int) -> list[list[str]]:
    """The cells of the tables that are so wide, without their heads."""
    lines = [line for line in THREATS.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if len(row) == columns and row[0] not in ("Attack", "#")]


def known() -> str:
    """All tests, and the names of what holds them."""
    files = [path for path in (REPOSITORY / "Tests").rglob("*") if path.suffix in (".swift", ".py") and "__pycache__" not in path.parts]
    names = [part for path in files for part in (path.name, path.stem, *path.relative_to(REPOSITORY).parts)]
    return "\n".join([*names, *(path.read_text() for path in files if path != Path(__file__))])


def test_every_test_that_a_defence_names_is_there():
    tests = known()
    named = [name for row in rows(5) + rows(4) for name in re.findall(r"`([^`]+)`", row[-1]) if not name.startswith("docs/")]
    assert len(named) > 150
    assert [name for name in named if name not in tests] == []


def test_of_54_named_attacks_at_least_50_are_shown_to_fail():
    attacks = [row for row in rows(4) if row[0].isdigit()]
    assert [int(row[0]) for row in attacks] == list(range(1, 55))
    assert sum("`" in row[3] and not row[3].startswith("documented") for row in attacks) >= 50
