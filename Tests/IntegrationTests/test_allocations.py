"""What the media path takes from the heap is counted, and has to keep to Tests/allocation-budgets.json."""
import json
import subprocess
from pathlib import Path

import pytest

from peers.gateway import BINARY, REPOSITORY

pytestmark = pytest.mark.alone

BUDGETS = REPOSITORY / "Tests/allocation-budgets.json"


def measured(budgets: Path) -> subprocess.CompletedProcess:
    command = [BINARY.with_name("orbweaver-bench"), "allocations", "--budgets", budgets]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)


def test_the_media_path_keeps_to_its_budgets():
    outcome = measured(BUDGETS)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_one_allocation_less_than_it_needs_is_not_enough(tmp_path):
    budgets = json.loads(BUDGETS.read_text())
    for kind in budgets.values():
        kind["relay, per packet of 172 bytes"] -= 1
    smaller = tmp_path / "budgets.json"
    smaller.write_text(json.dumps(budgets))
    outcome = measured(smaller)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert [line.split(":")[0] for line in outcome.stdout.splitlines() if "OVER" in line] == [
        "relay, per packet of 172 bytes"
    ]


def test_a_budget_of_something_that_is_not_measured_is_an_error(tmp_path):
    other = tmp_path / "budgets.json"
    other.write_text(json.dumps({kind: {"something else": 1} for kind in ("debug", "release")}))
    outcome = measured(other)
    assert outcome.returncode not in (0, 1) and "something else" in outcome.stderr
