"""scripts/bench holds a tree against a revision: in turns, out of a clone, and with a ratio for each measure."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from peers.gateway import REPOSITORY

STUB = """#!/bin/sh
echo "$1 {side}" >> "$TURNS"
test "$1" != broken || exit 1
test "$1" = table && echo "calls | CPU | memory" && echo "   10 | {cost} µs | 5.5 KB" && exit
echo "172 bytes: gateway {cost} ns per packet, C loop 50 ns, ratio 2.00, AES_CM_128"
echo "1200 bytes: gateway {cost} ns per packet, C loop 50 ns, ratio 2.00, AES_CM_128"
echo "{side} alone"
"""


class Tree:
    """A repository whose last two revisions have a benchmark that prints other figures."""

    def __init__(self, folder: Path):
        self.folder, self.turns = folder, folder / "turns"
        (folder / "scripts").mkdir()
        for name in ("bench", "bench-ratios"):
            shutil.copy(REPOSITORY / "scripts" / name, folder / "scripts" / name)
        (folder / ".gitignore").write_text(".build-*/\n.artifacts/\nturns\n")
        self.git("init", "--quiet")
        self.commit(side="before", cost=100)
        self.commit(side="after", cost=80)

    def git(self, *arguments: str) -> str:
        identity = {
            f"GIT_{who}_{what}": "somebody@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        return subprocess.check_output(["git", *arguments], cwd=self.folder, env=os.environ | identity, text=True)

    def commit(self, **figures):
        program = self.folder / "program"
        program.write_text(STUB.format(**figures))
        program.chmod(0o755)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "figures")

    def bench(self, *arguments: str) -> subprocess.CompletedProcess:
        environment = os.environ | {"ORBWEAVER_BENCH_PROGRAM": "./program", "TURNS": str(self.turns)}
        return subprocess.run(
            ["scripts/bench", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60
        )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_revision_and_the_tree_take_turns(tree):
    (tree.folder / "program").write_text(STUB.format(side="changed", cost=90))  # what is not committed counts
    outcome = tree.bench("--against", "HEAD~1", "--rounds", "2", "relay", "srtp")
    assert outcome.returncode == 0, outcome.stderr
    turns = tree.turns.read_text().split("\n")
    assert turns == [
        f"{name} {side}" for name in ("relay", "srtp") for side in ["before", "changed", "changed", "before"] * 2
    ] + [""]
    tables = [line for line in outcome.stdout.splitlines() if "gateway" in line]
    cells = [" ".join(line.split()) for line in tables]
    assert (
        cells == [f"{size} bytes: gateway … ns per packet 100 90 0.900 100 to 100 90 to 90" for size in (172, 1200)] * 2
    )
    assert "only before: before alone" in outcome.stdout and "only after: changed alone" in outcome.stdout


def test_the_columns_of_a_table_have_their_names(tree):
    outcome = tree.bench("--against", "HEAD~1", "table")
    assert "10 calls: CPU: … µs  " in outcome.stdout and "0.800" in outcome.stdout
    assert "memory" not in outcome.stdout  # is the same in all runs


def test_the_clone_follows_the_revision(tree):
    assert tree.bench("--against", "HEAD", "relay").returncode == 0
    assert tree.bench("--against", "HEAD~1", "relay").returncode == 0
    assert tree.turns.read_text().split("\n") == [
        f"relay {side}" for side in ["after"] * 4 + ["before", "after", "after", "before"]
    ] + [""]
    assert tree.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--against"], "needs a revision"),
        (["--against", "nowhere"], "no revision nowhere"),
        (["--against", "HEAD", "--rounds", "11"], "1 to 10 rounds"),
        (["--against", "HEAD", "--help"], "not the name of a benchmark"),
        (["--against", "HEAD", "broken"], "broken of the tree before ended with an error"),
    ],
)
def test_what_cannot_be_measured_is_said(tree, arguments, words):
    outcome = tree.bench(*arguments)
    assert outcome.returncode == 2
    assert words in outcome.stderr


def test_one_benchmark_or_all_run_as_ever(tree):
    assert "172 bytes: gateway 80 ns" in tree.bench("relay").stdout
    tree.turns.unlink()
    assert tree.bench().returncode == 0
    assert [turn.split()[0] for turn in tree.turns.read_text().splitlines()] == [
        "allocations", "relay", "srtp", "call-start", "calls", "memory", "load", "transcode", "channels",
        "subscribe", "push",
    ]  # fmt: skip
