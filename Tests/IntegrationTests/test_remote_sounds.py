"""Sounds that a bot has played from https URLs: fetched once while they stay the same, and refused by name."""
import datetime
import ipaddress
import ssl
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from durability import configured
from party import TONES, hear_now
from peers import sound
from test_bot_applications import application


class SoundServer:
    """An https server with sounds by path. `requests` has the path and the `If-None-Match` of each request."""

    def __init__(self, folder: Path):
        self.sounds: dict[str, tuple[bytes, str | None]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.delay = 0.0
        self.authority, key = self._certificate(folder)
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                known = self.headers["if-none-match"]
                server.requests.append((self.path, known))
                time.sleep(server.delay)
                if self.path == "/elsewhere":
                    return self.answer(302, b"", ("location", f"{server.url}/hello.wav"))
                if self.path not in server.sounds:
                    return self.answer(404, b"")
                content, tag = server.sounds[self.path]
                more = [("etag", tag)] if tag else []
                if tag and tag == known:
                    return self.answer(304, None, *more)
                return self.answer(200, content, *more)

            def answer(self, status: int, content: bytes | None, *more: tuple[str, str]):
                self.send_response(status)
                for name, value in more:
                    self.send_header(name, value)
                if content is not None:
                    self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, key)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"

    @staticmethod
    def _certificate(folder: Path) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sounds of a test")])
        now = datetime.datetime.now(datetime.UTC)
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(key, hashes.SHA256())
        )
        authority, secret = folder / "authority.pem", folder / "tls.key"
        authority.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return authority, secret

    def close(self):
        self._server.shutdown()


@pytest.fixture
def server(tmp_path):
    server = SoundServer(tmp_path)
    yield server
    server.close()


def site(own_gateway, folder: Path, server: SoundServer, files: Path | None = None, **sounds):
    """A gateway that fetches sounds from the server, and the options of its commands. `files` is its media folder."""
    (folder / "fetched").mkdir()
    values = {
        "folder": folder / "fetched", "authority_file": server.authority, "allowed_addresses": "127.0.0.1", **sounds,
    }  # fmt: skip
    media = {"media": {"bind": "127.0.0.1", "folder": files}} if files else {}
    options = configured(folder, ["alice", "bob"], sounds=values, **media)
    return own_gateway.configured(*options), options


def the_tone(folder: Path, name: str) -> bytes:
    return sound.tone(folder / f"{name}.wav", TONES[name], seconds=3).read_bytes()


def long_silence(minutes: int) -> bytes:
    """An Ogg Opus file in stereo, with packets of 120 ms in two bytes (RFC 6716 §3.2.5, RFC 7845)."""
    file, number = b"", 0

    def page(packets: list[bytes], granule: int, flags: int = 0):
        nonlocal file, number
        sizes = bytes(len(packet) for packet in packets)
        start = b"OggS" + struct.pack("<BBqII", 0, flags, granule, 7, number)
        end = bytes([len(sizes)]) + sizes + b"".join(packets)
        file += start + struct.pack("<I", ogg_checksum(start + bytes(4) + end)) + end
        number += 1

    page([b"OpusHead" + struct.pack("<BBHIhB", 1, 2, 312, 48_000, 0, 0)], 0, flags=2)
    page([b"OpusTags" + bytes(8)], 0)
    # 30 seconds on a page.
    for index in range(1, 2 * minutes + 1):
        page([b"\xff\x06"] * 250, index * 250 * 5_760, flags=4 if index == 2 * minutes else 0)
    return file


def ogg_checksum(data: bytes) -> int:
    """RFC 3533 §6, without a table."""
    sum_ = 0
    for byte in data:
        sum_ ^= byte << 24
        for _ in range(8):
            sum_ = (sum_ << 1 ^ (0x04C11DB7 if sum_ & 0x80000000 else 0)) & 0xFFFFFFFF
    return sum_


async def answered(bot, caller):
    call = await caller.dial("box")
    session = (await bot.incoming())["id"]
    await bot.tell(session, "answer")
    await call.answered()
    return call, session


# One clause for both, so that it does not tell which names there are in the network of the gateway.
NO_ADDRESS = "since the host is unknown, or its address is one that the gateway may not ask: https:"
BOX = ("box", "--address", "box@dev.local", "--decision-time", "60")


async def test_a_sound_is_fetched_once_while_it_stays_the_same(own_gateway, tmp_path, server, party):
    own, options = site(own_gateway, tmp_path, server)
    server.sounds["/hello.wav"] = (the_tone(tmp_path, "carol"), '"1"')
    url = f"{server.url}/hello.wav"
    alice = await party("alice", base=own.http, sounds=True)
    async with application(own, options, *BOX) as bot:
        call, session = await answered(bot, alice)
        await bot.tell(session, "play", items=[{"url": url}], loops=0)
        await hear_now({call: {"carol"}})
        await bot.tell(session, "play", items=[{"url": url}], loops=0)
        assert server.requests == [("/hello.wav", None), ("/hello.wav", '"1"')]
        server.sounds["/hello.wav"] = (the_tone(tmp_path, "dave"), '"2"')
        await bot.tell(session, "play", items=[{"url": url}], loops=0)
        await hear_now({call: {"dave"}})
        assert server.requests[2:] == [("/hello.wav", '"1"')]
        assert len(list((tmp_path / "fetched").iterdir())) == 1
        await bot.tell(session, "end")
        await call.over()


async def test_mp3_is_heard_from_the_folder_and_from_another_server(own_gateway, tmp_path, server, party):
    files = tmp_path / "media"
    files.mkdir()
    sound.mp3(files / "hello.mp3", TONES["carol"], seconds=3)
    dave = sound.mp3(tmp_path / "dave.mp3", TONES["dave"], seconds=3, rate=16_000).read_bytes()
    # Neither the name nor a media type tells what the file is.
    server.sounds["/hello.wav"] = (dave, '"1"')
    server.sounds["/cut.mp3"] = (dave[:-50], '"1"')
    own, options = site(own_gateway, tmp_path, server, files)
    alice = await party("alice", base=own.http, sounds=True)
    async with application(own, options, *BOX) as bot:
        call, session = await answered(bot, alice)
        await call.connected()
        await bot.tell(session, "play", items=[{"file": "hello.mp3"}], loops=0)
        await hear_now({call: {"carol"}})
        await bot.tell(session, "play", items=[{"url": f"{server.url}/hello.wav"}], loops=0)
        await hear_now({call: {"dave"}})
        wish = {"items": [{"url": f"{server.url}/cut.mp3"}]}
        answer = await bot.ask("POST", f"/v1/calls/{session}/play", wish)
        assert "damaged" in answer.refused(400, "request.invalid_value")["detail"]
        await hear_now({call: {"dave"}})
        await bot.tell(session, "end")
        await call.over()


async def test_what_is_wrong_with_a_sound_is_said_and_the_call_goes_on(own_gateway, tmp_path, server, party):
    own, options = site(own_gateway, tmp_path, server, largest="100000", answer_time="1s")
    server.sounds["/page.wav"] = (b"<html>", '"1"')
    server.sounds["/large.wav"] = (bytes(200_000), '"1"')
    # 17 kB, of which half an hour would be 345 MB.
    server.sounds["/long.opus"] = (long_silence(11), '"1"')
    server.sounds["/slow.wav"] = (b"RIFF", '"1"')
    alice = await party("alice", base=own.http)
    async with application(own, options, *BOX) as bot:
        call, session = await answered(bot, alice)
        port = server.url.rsplit(":", 1)[1]
        for url, words in [
            (f"{server.url}/none.wav", "status 404"), (f"{server.url}/elsewhere", "status 302"),
            (f"{server.url}/large.wav", "larger than 100000 bytes"), (f"{server.url}/page.wav", "damaged"),
            (f"{server.url}/long.opus", "longer than 10 minutes"),
            ("https://nothing.invalid/a.wav", NO_ADDRESS), ("http://127.0.0.1/a.wav", "https URL"),
            ("https://127.0.0.1:1/a.wav", "cannot be reached"), (f"https://me:it@localhost:{port}/a.wav", "the URL"),
        ]:  # fmt: skip
            answer = await bot.ask("POST", f"/v1/calls/{session}/play", {"items": [{"url": url}]})
            assert words in answer.refused(400, "request.invalid_value")["detail"], url
        server.delay = 5
        answer = await bot.ask("POST", f"/v1/calls/{session}/play", {"items": [{"url": f"{server.url}/slow.wav"}]})
        assert "took too long" in answer.refused(400, "request.invalid_value")["detail"]
        assert list((tmp_path / "fetched").iterdir()) == []
        assert (await bot.show(session))["state"] == "talking"
        await bot.tell(session, "end")
        await call.over()


async def test_a_sound_is_not_fetched_from_addresses_that_the_internet_does_not_route(
    own_gateway, tmp_path, server, party
):
    own, options = site(own_gateway, tmp_path, server, allowed_addresses="none")
    alice = await party("alice", base=own.http)
    async with application(own, options, *BOX) as bot:
        call, session = await answered(bot, alice)
        port = server.url.rsplit(":", 1)[1]
        for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254",
                     "10.0.0.1", "192.168.0.1", "0.0.0.0"]:  # fmt: skip
            wish = {"items": [{"url": f"https://{host}:{port}/hello.wav"}]}
            answer = await bot.ask("POST", f"/v1/calls/{session}/play", wish)
            assert NO_ADDRESS in answer.refused(400, "request.invalid_value")["detail"], host
        assert server.requests == []
        await bot.tell(session, "end")
        await call.over()


async def test_without_a_folder_no_sound_is_fetched(own_gateway, tmp_path, server, party):
    options = configured(tmp_path, ["alice", "bob"])
    own = own_gateway.configured(*options)
    alice = await party("alice", base=own.http)
    async with application(own, options, *BOX) as bot:
        call, session = await answered(bot, alice)
        wish = {"items": [{"url": f"{server.url}/hello.wav"}]}
        answer = await bot.ask("POST", f"/v1/calls/{session}/play", wish)
        assert "sounds.folder" in answer.refused(400, "request.invalid_value")["detail"]
        assert server.requests == []
        await bot.tell(session, "end")
        await call.over()
