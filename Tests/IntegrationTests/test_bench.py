"""scripts/bench holds a tree against a revision: in turns, out of a clone, and with a ratio for each measure. Some
benchmarks are run as they were built for tests, so that their figures say nothing but that they can be taken."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from peers.gateway import BINARY, REPOSITORY

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
        (["--peers", "0"], "1 to 20 rounds"),
        (["--peers", "3", "load"], "nothing but a number of rounds"),
        (["--against", "HEAD", "--help"], "not the name of a benchmark"),
        (["--against", "HEAD", "broken"], "broken of the tree before ended with an error"),
    ],
)
def test_what_cannot_be_measured_is_said(tree, arguments, words):
    outcome = tree.bench(*arguments)
    assert outcome.returncode == 2
    assert words in outcome.stderr


def test_other_servers_are_asked_for_by_themselves(tree):
    assert tree.bench("--peers", "2").returncode == 0
    assert tree.bench("--peers").returncode == 0
    assert tree.turns.read_text() == "beside after\n" * 2


def test_one_benchmark_or_all_run_as_ever(tree):
    assert "172 bytes: gateway 80 ns" in tree.bench("relay").stdout
    tree.turns.unlink()
    assert tree.bench().returncode == 0
    assert [turn.split()[0] for turn in tree.turns.read_text().splitlines()] == [
        "allocations", "relay", "srtp", "call-start", "calls", "memory", "load", "transcode", "channels",
        "subscribe", "push", "events", "webhooks", "bots",
    ]  # fmt: skip


FIGURE = r"\d+(?:\.\d+)?"


def measured(*arguments: str, runs_gateway: bool = True) -> str:
    """What a benchmark prints."""
    gateway = ["--gateway", BINARY] if runs_gateway else []
    ended = subprocess.run(
        [BINARY.with_name("orbweaver-bench"), *arguments, *gateway], cwd=REPOSITORY, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def figures(output: str, pattern: str) -> list[float]:
    """The figures of the one line that fits the pattern, in which each is written as `#`. None of them is 0."""
    found = re.findall(f"^{pattern.replace('#', f'({FIGURE})')}$", output, re.MULTILINE)
    assert len(found) == 1, f"{len(found)} lines fit {pattern!r} in:\n{output}"
    values = [float(each) for each in (found[0] if isinstance(found[0], tuple) else found)]
    assert all(value > 0 for value in values), f"{pattern!r} in:\n{output}"
    return values


SRTP_KINDS = ("AES_CM_128_HMAC_SHA1_80, 172 bytes", "AEAD_AES_128_GCM, 172 bytes", "AEAD_AES_128_GCM, 1200 bytes")


def test_srtp_of_one_session_and_of_many():
    output = measured(
        "srtp", "--packets", "300", "--rounds", "1", "--sessions", "1", "--sessions", "7", runs_gateway=False
    )
    for kind in (*SRTP_KINDS, "AES_CM_128_HMAC_SHA1_80, 1200 bytes"):
        figures(output, rf"{kind}: # ns, stock # ns, ratio # \(# to #\)")
    for kind in SRTP_KINDS:
        ratio = r"ratio to 1 session # \(# to #\)"
        one, *_, own_ratio, _, _ = figures(output, rf"{kind}, 1 session: # ns \(# to #\), {ratio}")
        many, least, most, many_ratio, _, _ = figures(output, rf"{kind}, 7 sessions: # ns \(# to #\), {ratio}")
        assert own_ratio == 1 and least == many == most
        assert many / one == pytest.approx(many_ratio, rel=0.05)
    assert output.count(" session") == 2 * 2 * len(SRTP_KINDS)


def test_sending_with_and_without_leave_to_fragment():
    output = measured(
        "relay", "--fragments", "--packets", "300", "--rounds", "2", "--destinations", "1", "--destinations", "7",
        runs_gateway=False,
    )  # fmt: skip
    for count in (1, 7):
        for call in ("sendmmsg", "sendto"):
            whole, least, most, *_, ratio, lowest, highest = figures(
                output,
                rf"172 bytes to {count} destinations, {call}: IP_PMTUDISC_DO # ns \(# to #\) per packet, "
                r"IP_PMTUDISC_WANT # ns \(# to #\), ratio # \(# to #\)",
            )
            assert least <= whole <= most and lowest <= ratio <= highest
    assert output.count(" destinations, ") == 2 * 2


def test_starts_of_calls_with_and_without_public_events():
    output = measured("call-start", "--calls", "5", "--rounds", "1")
    figures(output, r"bare route: # µs \(# to #\), ratio # \(# to #\)")
    notified = "callStart, caller and callee are notified"
    spread = r": # µs \(# to #\), ratio # \(# to #\)"
    cost, least, most, ratio, *_ = figures(output, notified + spread)
    assert cost > ratio and least == cost == most
    figures(output, f"{notified}, no rows of public events{spread}")
    events, _ = figures(output, "# public events of a callStart: # µs to put into words")
    assert events >= 4  # two legs join, and the callee's is rung and rings


def test_messages_and_calls_to_the_devices_of_a_user():
    output = measured(
        "channels", "--count", "100", "--devices", "100", "--notifications", "3", "--round-trips", "5", "--idle", "1"
    )
    cost = r", fan-out of # bytes to 100: # µs \(# to #\) each; bare server # µs \(# to #\); ratio # \(# to #\)"
    message, call = (figures(output, name + cost) for name in ("devices", "devices that are called"))
    assert 800 < message[0] < 1200 and call[0] > 2000  # the call has a description
    for _, own, least, most, bare, lowest, highest, *_ in (message, call):
        assert least <= own <= most and lowest <= bare <= highest
    figures(output, "watchers" + cost)


def test_events_to_many_programs():
    output = measured("events", "--subscribers", "300", "--events", "5", "--rounds", "1", "--idle", "0")
    for name in ("events to 300", "bare server to 300"):
        figures(output, name + r": # µs each \(# to #\); # KB per connection")
    size, own, bare, ratio, *_ = figures(
        output, r"events of # bytes to 300: # µs each; bare server # µs; ratio # \(# to #\)"
    )
    assert 150 < size < 500
    assert own / bare == pytest.approx(ratio, rel=0.05)


def test_webhooks_as_fast_as_they_are_taken():
    output = measured("webhooks", "--calls", "20", "--rounds", "1")
    size, limit, own, least, most, bare, ratio, *_ = figures(
        output, r"webhook of # bytes, # in flight: # µs of CPU \(# to #\); bare libcurl: # µs; ratio # \(# to #\)"
    )
    assert 150 < size < 700 and limit == 8 and least == own == most
    assert own / bare == pytest.approx(ratio, rel=0.05)
    figures(output, "webhooks per second and core: #; bare libcurl #")


def test_bots_on_streams():
    output = measured("bots", "--legs", "2", "--seconds", "1", "--rounds", "1", "--delays", "5")
    cost = r": # µs per leg-second \(# to #\), # legs per core"
    (bare, *_), (worker, *_), (whole, *_) = (
        figures(output, name + cost + ratio)
        for name, ratio in (
            ("bare libopus and speexdsp", ""), ("2 legs of bots, media worker", r", ratio # \(# to #\)"),
            ("2 legs of bots, whole process", r", ratio # \(# to #\)"),
        )
    )  # fmt: skip
    assert bare < worker < whole
    for way in (
        "from the bot's piece to the caller's packet", "from the caller's packet to the bot's message",
        "from the request play to the caller's packet",
    ):  # fmt: skip
        half, most_of_them, longest = figures(output, f"{way}: p50 # ms, p95 # ms, most # ms")
        assert half <= most_of_them <= longest < 1_000


def test_many_calls_have_a_cost_only_if_their_peers_kept_up():
    output = measured("load", "--calls", "2", "--seconds", "1", "--rounds", "1", "--share", "0")
    rows = [line.split("|") for line in output.splitlines() if "|" in line and not line.startswith("calls")]
    assert len(rows) == 1, output
    calls, cost, *rest = rows[0]
    assert int(calls) == 2
    if "no cost" in cost:  # whatever else this machine does
        assert re.search(r"the peers were (late \(p99|unable to send|lossy)", cost), output
        assert "KB per call" in rest[0]
    else:
        assert re.fullmatch(r" \d+ µs \(\d+ to \d+\) ", cost), output
        assert re.search(r"p99 \d+\.\d\d ms late, latest", rest[-1]), output


def test_servers_that_are_not_installed_are_left_out_and_named():
    output = measured(
        "beside", "--calls", "2", "4", "--seconds", "1", "--setups", "3", "--rounds", "1", "--callee-checks-first",
        "--rtpengine", "/nowhere/it", "--janus", "/nowhere/it",
    )  # fmt: skip
    assert "rtpengine is not installed: apt-get install --no-install-recommends rtpengine-daemon\n" in output
    assert "Janus is not installed: apt-get install --no-install-recommends janus\n" in output
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in output.splitlines() if "| Orbweaver |" in line]
    standing, (memory, setup) = rows[:2], rows[2:]
    assert [row[:2] for row in standing] == [["2", "Orbweaver"], ["4", "Orbweaver"]]
    for row in standing:  # whatever else this machine does
        assert re.match(r"\d+ µs \(\d+ to \d+\)$|no cost: the peers were |full in 1$", row[2]), output
        share, lost, sent = rf"{FIGURE} % \({FIGURE} to {FIGURE}\)", r"\d+", r"[1-9]\d*"
        assert "no cost" in row[2] or re.fullmatch(f"{share}, {lost} of {sent}", row[5]), output
        assert row[6] == ("–" if "no cost" in row[2] else "0 (0 to 0)"), output
    assert re.match(r"-?\d+ KB \(", memory[1]) and memory[2] == "–"
    assert re.match(r"\d+ µs \(", setup[1]) and setup[4] == "0"
    half, most = re.fullmatch(rf"({FIGURE}), ({FIGURE}) ms", setup[3]).groups()
    assert 0 < float(half) <= float(most)
    assert output.endswith("\nSRTP cipher: Orbweaver: AEAD_AES_128_GCM\n")
