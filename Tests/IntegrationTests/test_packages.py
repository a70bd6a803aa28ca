"""What is deployed is built from what was tested: one exact version of every package."""
import shutil
import subprocess
from pathlib import Path

import pytest
from peers.gateway import REPOSITORY

FILES = ["Package.swift", "Package.versions", "Package.resolved"]


@pytest.fixture
def copy(tmp_path) -> Path:
    """A folder with what scripts/packages looks at."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(REPOSITORY / "scripts/packages", tmp_path / "scripts")
    for name in FILES:
        shutil.copy(REPOSITORY / name, tmp_path)
    return tmp_path


def check(folder: Path) -> tuple[int, str]:
    ended = subprocess.run([folder / "scripts/packages", "--check"], capture_output=True, text=True, timeout=30)
    return ended.returncode, ended.stdout + ended.stderr


def change(file: Path, old: str, new: str):
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))


def test_what_is_built_here_is_what_the_list_says(copy):
    assert check(copy)[0] == 0, check(copy)[1]


@pytest.mark.parametrize(
    "requirement",
    ['from: "6.2.2"', 'branch: "main"', 'revision: "abc"', '"6.2.2"..<"7.0.0"', '.upToNextMinor(from: "6.2.2")'],
)
def test_a_package_without_one_exact_version_is_refused(copy, requirement):
    change(copy / "Package.swift", 'jpsim/Yams", exact: "6.2.2"', f'jpsim/Yams", {requirement}')
    status, said = check(copy)
    assert (status, "one exact version" in said, "jpsim/Yams" in said) == (1, True, True), said


def test_a_version_that_the_list_does_not_have_is_refused(copy):
    change(copy / "Package.swift", 'jpsim/Yams", exact: "6.2.2"', 'jpsim/Yams", exact: "5.0.1"')
    status, said = check(copy)
    assert (status, "yams 5.0.1" in said) == (1, True), said


@pytest.mark.parametrize("listed", ["swift-atomics 1.2.0\n", ""])
def test_a_package_of_a_package_in_another_version_is_refused(copy, listed):
    change(copy / "Package.versions", "swift-atomics 1.3.0\n", listed)
    status, said = check(copy)
    assert (status, "> swift-atomics 1.3.0" in said) == (1, True), said
