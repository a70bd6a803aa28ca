"""What the container's compiler is: scripts/toolchain, with made-up keys and a made-up release of Swift.

The real one is at swift.org, which tests do not ask."""
import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from peers.gateway import REPOSITORY, environment

VERSION = "6.3.1"


class Keys:
    """A key ring of one's own, in a folder whose name is short enough for a socket."""

    def __init__(self, home: Path):
        self.home = home

    def gpg(self, *arguments: str, at: str | None = None) -> bytes:
        time = ["--faked-system-time", at] if at else []
        command = ["gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", *time, *arguments]
        own = environment(GNUPGHOME=str(self.home))
        return subprocess.run(command, env=own, capture_output=True, check=True, timeout=60).stdout

    def make(self, name: str, lasts: str = "never", at: str | None = None):
        self.gpg("--quick-generate-key", name, "ed25519", "sign", lasts, at=at)

    def fingerprint(self, name: str) -> str:
        lines = self.gpg("--with-colons", "--list-keys", name).decode().splitlines()
        return next(line.split(":")[9] for line in lines if line.startswith("fpr:"))

    def public(self, *names: str) -> bytes:
        return self.gpg("--armor", "--export", *names)

    def sign(self, name: str, file: Path, at: str | None = None) -> bytes:
        return self.gpg("--local-user", name, "--output", "-", "--detach-sign", str(file), at=at)

    def revoke(self, name: str):
        certificate = self.home / "openpgp-revocs.d" / f"{self.fingerprint(name)}.rev"
        # As gpg writes it, a colon keeps it from being used by mistake.
        certificate.write_text(certificate.read_text().replace(":-----BEGIN", "-----BEGIN"))
        self.gpg("--import", str(certificate))


@pytest.fixture(scope="module")
def keys():
    with tempfile.TemporaryDirectory(prefix="keys") as folder:
        keys = Keys(Path(folder))
        keys.make("swift")
        keys.make("other")
        keys.make("withdrawn")
        keys.make("old", lasts="1y", at="20200101T000000")
        yield keys
        subprocess.run(["gpgconf", "--homedir", folder, "--kill", "all"], check=True, timeout=60)


class Site:
    """What swift.org serves, as files."""

    def __init__(self, folder: Path, keys: Keys, platform: str = "debian12", suffix: str = ""):
        self.folder, self.keys = folder, keys
        release = f"swift-{VERSION}-RELEASE"
        self.archive = folder / f"swift-{VERSION}-release" / platform / release / f"{release}-debian12{suffix}.tar.gz"
        self.archive.parent.mkdir(parents=True)
        with tarfile.open(self.archive, "w:gz") as archive:
            content = b"a compiler"
            member = tarfile.TarInfo(f"{release}-debian12/usr/bin/swift")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        self.signature = self.archive.with_name(self.archive.name + ".sig")
        self.key = folder / "key.asc"

    def install(self, expects: str = "swift", architecture: str = "amd64") -> tuple[int, str, list[str]]:
        """The status, what was said, and the files that there are now."""
        tools, root = self.folder / "bin", self.folder / "root"
        tools.mkdir()
        (tools / "dpkg").write_text(f"#!/bin/sh\necho {architecture}\n")
        (tools / "dpkg").chmod(0o755)
        own = environment(
            PATH=f"{tools}:{os.environ['PATH']}", SWIFT_WEBROOT=f"file://{self.folder}",
            SWIFT_KEY_URL=f"file://{self.key}", SWIFT_SIGNING_KEY=self.keys.fingerprint(expects))  # fmt: skip
        command = [REPOSITORY / "scripts/toolchain", VERSION, str(root)]
        ended = subprocess.run(command, env=own, capture_output=True, text=True, timeout=120)
        files = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
        return ended.returncode, ended.stdout + ended.stderr, files


INSTALLED = ["usr/bin/swift"]


PLATFORMS = [("amd64", "debian12", ""), ("arm64", "debian12-aarch64", "-aarch64")]


@pytest.mark.parametrize("architecture, platform, suffix", PLATFORMS)
def test_a_release_that_swift_org_signed_is_unpacked(tmp_path, keys, architecture, platform, suffix):
    site = Site(tmp_path, keys, platform, suffix)
    site.signature.write_bytes(keys.sign("swift", site.archive))
    site.key.write_bytes(keys.public("swift"))
    status, said, files = site.install(architecture=architecture)
    assert (status, files) == (0, INSTALLED), said


def test_a_release_is_still_good_when_its_key_has_expired_since(tmp_path, keys):
    site = Site(tmp_path, keys)
    site.signature.write_bytes(keys.sign("old", site.archive, at="20200201T000000"))
    site.key.write_bytes(keys.public("old"))
    status, said, files = site.install(expects="old")
    assert (status, files) == (0, INSTALLED), said


def refused(site: Site, reason: str, **arguments):
    status, said, files = site.install(**arguments)
    assert (status, reason in said, files) == (1, True, []), said


def test_a_release_that_another_key_signed_is_refused_even_if_that_key_comes_along(tmp_path, keys):
    site = Site(tmp_path, keys)
    site.signature.write_bytes(keys.sign("other", site.archive))
    site.key.write_bytes(keys.public("swift", "other"))
    refused(site, "signed with another key")


def test_a_release_that_was_changed_after_it_was_signed_is_refused(tmp_path, keys):
    site = Site(tmp_path, keys)
    site.signature.write_bytes(keys.sign("swift", site.archive))
    site.key.write_bytes(keys.public("swift"))
    site.archive.write_bytes(site.archive.read_bytes() + b"!")
    refused(site, "signature of file://")


def test_a_release_without_a_signature_is_refused(tmp_path, keys):
    site = Site(tmp_path, keys)
    site.key.write_bytes(keys.public("swift"))
    refused(site, "cannot fetch")


def test_a_release_without_a_key_is_refused(tmp_path, keys):
    site = Site(tmp_path, keys)
    site.signature.write_bytes(keys.sign("swift", site.archive))
    site.key.write_text("not found")
    refused(site, "holds no key")


def test_a_release_whose_key_was_revoked_is_refused(tmp_path, keys):
    site = Site(tmp_path, keys)
    site.signature.write_bytes(keys.sign("withdrawn", site.archive))
    keys.revoke("withdrawn")
    site.key.write_bytes(keys.public("withdrawn"))
    refused(site, "was revoked", expects="withdrawn")


def test_a_machine_that_swift_org_has_nothing_for_is_refused(tmp_path, keys):
    refused(Site(tmp_path, keys), "no Swift for Debian 12 on riscv64", architecture="riscv64")
