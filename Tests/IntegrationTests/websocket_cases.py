"""The cases of the Autobahn test suite (github.com/crossbario/autobahn-testsuite), by their numbers, as the
notification channel has to meet them.

Where the channel differs from what the suite expects of an echo server, `Case.differs` says so:

- the channel is no echo: a message of a client is a sign of life, and nothing comes back;
- a client says keep-alives only, so a message has at most 16,384 bytes, and a larger one is closed with 1009;
- binary messages count as signs of life, too: some clients send them.
"""
from collections.abc import Iterator
from dataclasses import dataclass

from peers.websocket import BINARY, CLOSE, PING, PONG, TEXT, close, frame, more, ping, text

LIMIT = 16_384
"""The most bytes of a client's message, over all its fragments."""
TOO_LARGE = f"a message has at most {LIMIT:,} bytes"
GREETING = "Hello-µ@ßöäüàá-UTF-8!!"


@dataclass(frozen=True)
class Case:
    number: str
    """As in the suite; a letter at its end is a case of this file's own."""
    sent: tuple[bytes, ...]
    """Each goes out by itself."""
    closes: int | bool = False
    """The code with which the gateway closes; True: without a code; False: the channel stays open."""
    pongs: tuple[bytes, ...] = ()
    """What the gateway answers to pings, in this order and before it closes."""
    differs: str = ""

    def __str__(self):
        return self.number


def octets(data: bytes) -> tuple[bytes, ...]:
    return tuple(data[place : place + 1] for place in range(len(data)))


def chopped(data: bytes, size: int) -> tuple[bytes, ...]:
    return tuple(data[place : place + size] for place in range(0, len(data), size))


# 1: lengths, of text and of binary messages


def lengths() -> Iterator[Case]:
    for family, opcode in ((1, TEXT), (2, BINARY)):
        for number, length in enumerate((0, 125, 126, 127, 128, LIMIT, 65_535, 65_536), 1):
            letter = "a" if length == LIMIT else ""
            number -= number > 6  # the suite has no case at our limit
            data = frame(opcode, b"*" * length)
            fits = length <= LIMIT
            yield Case(
                f"1.{family}.{number}{letter}", (data,), False if fits else 1009, differs="" if fits else TOO_LARGE
            )
        data = frame(opcode, b"*" * LIMIT)
        yield Case(f"1.{family}.8a", chopped(data, 997))
        yield Case(f"1.{family}.8", chopped(frame(opcode, b"*" * 65_536), 997), 1009, differs=TOO_LARGE)
        yield Case(f"1.{family}.9a", (frame(opcode, b"*" * (LIMIT + 1)),), 1009)


# 2: pings and pongs


def pings() -> Iterator[Case]:
    full = bytes(range(256))[:125]
    yield Case("2.1", (ping(),), pongs=(b"",))
    yield Case("2.2", (ping(b"Hello, world!"),), pongs=(b"Hello, world!",))
    yield Case("2.3", (ping(b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff"),), pongs=(b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff",))
    yield Case("2.4", (ping(full),), pongs=(full,))
    yield Case("2.5", (ping(b"\xfe" * 126),), 1002)
    yield Case("2.6", octets(ping(full)), pongs=(full,))
    yield Case("2.7", (frame(PONG),))
    yield Case("2.8", (frame(PONG, b"unsolicited pong payload"),))
    yield Case("2.9", (frame(PONG, b"unsolicited pong payload"), ping(b"ping payload")), pongs=(b"ping payload",))
    ten = tuple(b"payload-%d" % number for number in range(10))
    yield Case("2.10", tuple(map(ping, ten)), pongs=ten)
    yield Case("2.11", octets(b"".join(map(ping, ten))), pongs=ten)
    yield Case("2.11a", (b"".join(map(ping, ten)),), pongs=ten)


# 3: reserved bits; 4: reserved opcodes


def reserved() -> Iterator[Case]:
    hello = text(GREETING)
    yield Case("3.1", (frame(TEXT, b"x", reserved=1),), 1002)
    yield Case("3.2", (hello, frame(TEXT, b"x", reserved=2), ping()), 1002)
    yield Case("3.3", (hello + frame(TEXT, b"x", reserved=3) + ping(),), 1002)
    yield Case("3.4", octets(hello + frame(TEXT, b"x", reserved=4) + ping()), 1002)
    yield Case("3.5", (frame(BINARY, b"\x00\xff", reserved=5),), 1002)
    yield Case("3.6", (frame(PING, b"x", reserved=6),), 1002)
    yield Case("3.7", (frame(CLOSE, b"\x03\xe8", reserved=7),), 1002)
    for family, opcodes in ((1, range(3, 8)), (2, range(11, 16))):
        for number, opcode in enumerate(opcodes, 1):
            data = frame(opcode, b"reserved opcode payload" if number % 2 else b"")
            yield Case(f"4.{family}.{number}", (data,), 1002)
            yield Case(f"4.{family}.{number}a", (hello, ping(b"before"), data + ping()), 1002, pongs=(b"before",))


# 5: fragments


def fragments() -> Iterator[Case]:
    first, second = "fragment1", "fragment2"
    both = text(first, fin=False) + more(second, fin=True)
    yield Case("5.1", (frame(PING, first.encode(), fin=False), more(second, fin=True)), 1002)
    yield Case("5.2", (frame(PONG, first.encode(), fin=False), more(second, fin=True)), 1002)
    yield Case("5.3", (text(first, fin=False), more(second, fin=True)))
    yield Case("5.4", (both,))
    yield Case("5.5", octets(both))
    between = (text(first, fin=False), ping(b"between"), more(second, fin=True))
    yield Case("5.6", between, pongs=(b"between",))
    yield Case("5.7", (b"".join(between),), pongs=(b"between",))
    yield Case("5.8", octets(b"".join(between)), pongs=(b"between",))
    for number, fin in ((9, True), (12, False)):
        alone = (more("nothing to continue", fin=fin), text("Hello, world!"))
        yield Case(f"5.{number}", alone, 1002)
        yield Case(f"5.{number + 1}", (b"".join(alone),), 1002)
        yield Case(f"5.{number + 2}", octets(b"".join(alone)), 1002)
    yield Case("5.15", (text(first, fin=False), more(second, fin=True), more("fragment3"), text("fragment4")), 1002)
    for number, fin in ((16, False), (17, True)):
        sent = (more(first, fin=fin), text(second, fin=False), more("fragment3", fin=True)) * 2
        yield Case(f"5.{number}", sent, 1002)
    yield Case("5.18", (text(first, fin=False), text(second)), 1002)
    five = (
        text("fragment1", fin=False), more("fragment2"), ping(b"one"),
        more("fragment3"), ping(b"two"), more("fragment4"), more("fragment5", fin=True),
    )  # fmt: skip
    yield Case("5.19", five, pongs=(b"one", b"two"))
    yield Case("5.20", (b"".join(five[:3]), b"".join(five[3:])), pongs=(b"one", b"two"))
    yield Case("5.20a", (text("", fin=False), more(""), more("", fin=True)))
    yield Case("5.20b", (frame(BINARY, b"\xff", fin=False), more(b"\xff"), more(b"\xff", fin=True)))


# 6: text that is UTF-8, or is not

VALID = {
    "6.5": "ceba e1bdb9 cf83 cebc ceb5|48656c6c6f2dc2b540c39fc3b6c3a4c3bcc3a0c3a12d5554462d382121",
    "6.7": "00|c280|e0a080|f0908080",
    "6.9": "7f|dfbf|efbfbf|f48fbfbf",
    "6.11": "ed9fbf|ee8080|efbfbd|f48fbfbf",
    "6.22": "efbfbe|efbfbf|f09fbfbe|f09fbfbf|f0afbfbe|f0bfbfbf|f18fbfbe|f19fbfbf|f1afbfbe|f1bfbfbf|f28fbfbe|f29fbfbf"
    "|f2afbfbe|f2bfbfbf|f38fbfbe|f39fbfbf|f3afbfbe|f3bfbfbf|f48fbfbe|f48fbfbf",
    "6.23": "efbfb9|efbfba|efbfbb|efbfbc|efbfbd|efbfbe|efbfbf",
}
INVALID = {
    "6.8": "f888808080|fc8480808080",
    "6.10": "f7bfbfbf|fbbfbfbfbf|fdbfbfbfbfbf",
    "6.11a": "f4908080",
    "6.12": "80|bf|80bf|80bf80|80bf80bf|80bf80bf80|80bf80bf80bf|" + "".join(f"{byte:x}" for byte in range(0x80, 0xC0)),
    "6.13": "|".join(
        "".join(f"{byte:x}20" for byte in part)
        for part in (range(0xC0, 0xE0), range(0xE0, 0xF0), range(0xF0, 0xF8), range(0xF8, 0xFC), range(0xFC, 0xFE))
    ),
    "6.14": "c0|e080|f08080|f8808080|fc80808080|df|efbf|f7bfbf|fbbfbfbf|fdbfbfbfbf",
    "6.15": "c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf",
    "6.16": "fe|ff|fefeffff",
    "6.17": "c0af|e080af|f08080af|f8808080af|fc80808080af",
    "6.18": "c1bf|e09fbf|f08fbfbf|f887bfbfbf|fc83bfbfbfbf",
    "6.19": "c080|e08080|f0808080|f880808080|fc8080808080",
    "6.20": "eda080|edadbf|edae80|edafbf|edb080|edbe80|edbfbf",
    "6.21": "eda080edb080|eda080edbfbf|edadbfedb080|edadbfedbfbf|edae80edb080|edae80edbfbf|edafbfedb080|edafbfedbfbf",
}


def texts() -> Iterator[Case]:
    kosme = bytes.fromhex("ceba e1bdb9 cf83 cebc ceb5")
    yield Case("6.1.1", (text(b""),))
    yield Case("6.1.2", (text(b"", fin=False), more(b""), more(b"", fin=True)))
    yield Case("6.1.3", (text(b"", fin=False), more(b"middle frame payload"), more(b"", fin=True)))
    parts = GREETING[:7].encode(), GREETING[7:].encode()
    yield Case("6.2.1", (text(GREETING),))
    yield Case("6.2.2", (text(parts[0], fin=False), more(parts[1], fin=True)))
    yield Case("6.2.3", tuple(text_by_octets(GREETING.encode())))
    yield Case("6.2.4", tuple(text_by_octets(kosme)))
    surrogate = kosme + bytes.fromhex("eda080") + b"edited"
    yield Case("6.3.1", (text(surrogate),), 1007)
    yield Case("6.3.2", tuple(text_by_octets(surrogate)), 1007)
    # Closed before the message is over: its last fragment is never sent.
    yield Case("6.4.1", (text(kosme, fin=False), more(b"\xf4\x90\x80\x80")), 1007)
    yield Case("6.4.2", (text(kosme + b"\xf4", fin=False), more(b"\x90")), 1007)
    whole = text(kosme + b"\xf4\x90\x80\x80edited")
    yield Case("6.4.3", (whole[:17], whole[17:21], whole[21:]), 1007,
               differs="a frame is judged when it is there, not octet by octet")  # fmt: skip
    for length in range(1, len(kosme) + 1):
        prefix = kosme[:length]
        yield from of_text(f"6.6.{length}", prefix, length in (2, 5, 7, 9, 11))
    for sequences, is_valid in ((VALID, True), (INVALID, False)):
        for family, listed in sequences.items():
            for number, sequence in enumerate(listed.split("|"), 1):
                yield from of_text(f"{family}.{number}", bytes.fromhex(sequence), is_valid)


def of_text(number: str, data: bytes, is_valid: bool) -> Iterator[Case]:
    """As one frame, and in frames of one octet."""
    closes = False if is_valid else 1007
    yield Case(number, (text(data),), closes)
    yield Case(f"{number}b", tuple(text_by_octets(data)), closes)


def text_by_octets(data: bytes) -> Iterator[bytes]:
    yield text(data[:1], fin=len(data) == 1)
    for place in range(1, len(data)):
        yield more(data[place : place + 1], fin=place == len(data) - 1)


# 7: the end


def ends() -> Iterator[Case]:
    normal = close(1000)
    yield Case("7.1.1", (text("Hello World!"), normal), 1000)
    yield Case("7.1.2", (normal + normal,), 1000)
    yield Case("7.1.3", (normal + ping(b"too late"),), 1000)
    yield Case("7.1.4", (normal + text("Hello World!"),), 1000)
    yield Case("7.1.5", (text("fragment1", fin=False), normal + more("fragment2", fin=True)), 1000)
    yield Case("7.1.6", (text(b"BAsd7&jh23" * (LIMIT // 10)) + normal + ping(b"too late"),), 1000,
               differs=f"after a message that fits; the suite has one of 256 KiB, and {TOO_LARGE}")  # fmt: skip
    yield Case("7.3.1", (close(),), True)
    yield Case("7.3.2", (frame(CLOSE, b"a"),), 1002)
    yield Case("7.3.3", (normal,), 1000)
    yield Case("7.3.4", (close(1000, b"Hello World!"),), 1000)
    yield Case("7.3.5", (close(1000, b"*" * 123),), 1000)
    yield Case("7.3.6", (close(1000, b"*" * 124),), 1002)
    yield Case("7.5.1", (close(1000, bytes.fromhex("cebae1bdb9cf83cebcceb5eda080656469746564")),), 1007)
    yield Case("7.5.1a", (close(1000, bytes.fromhex("cebae1bd")),), 1007)
    yield Case("7.5.1b", (close(1000, "κόσμε".encode()),), 1000)
    yield Case("7.5.1c", (frame(CLOSE, b"\x03\xe8", fin=False),), 1002)
    codes = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
    for number, code in enumerate(codes, 1):
        yield Case(f"7.7.{number}", (close(code),), code)
    for number, code in enumerate((1012, 1013, 1014)):
        yield Case(f"7.7.13{'abc'[number]}", (close(code),), code)  # registered since
    for number, code in enumerate((0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999), 1):
        yield Case(f"7.9.{number}", (close(code),), 1002)
    yield Case("7.9.9a", (close(1015),), 1002)
    yield Case("7.13.1", (close(5000),), 1002, differs="the suite leaves it open")
    yield Case("7.13.2", (close(65_535),), 1002, differs="the suite leaves it open, with another code")


# 9 and 10: sizes and many fragments; 12: compression; and masks, of which the suite has no case


def limits() -> Iterator[Case]:
    for number, size in enumerate((64, 256, 1_024, 4_096), 1):
        data = b"*" * LIMIT
        parts = chopped(data, size)
        sent = (text(parts[0], fin=False), *map(more, parts[1:-1]), more(parts[-1], fin=True))
        yield Case(f"9.3.{number}", sent, differs=f"a message of {LIMIT:,} bytes, in fragments of {size}")
        yield Case(f"9.3.{number}a", (*sent[:-1], more(parts[-1]), more("*", fin=True)), 1009)
        yield Case(f"9.4.{number}", (frame(BINARY, parts[0], fin=False), *sent[1:]), differs="the same, binary")
    yield Case("9.1.1", (text(b"*" * 65_536),), 1009, differs=TOO_LARGE)
    yield Case("9.2.1", (frame(BINARY, b"*" * 65_536),), 1009, differs=TOO_LARGE)
    promised = bytes([0x81, 0xFF]) + (1 << 62).to_bytes(8, "big")
    yield Case("9.1.6a", (promised,), 1009)
    yield Case("9.1.6b", (bytes([0x81, 0xFF]) + b"\xff" * 8,), 1009)
    yield Case("9.1.6c", (bytes([0x81, 0xFE, 0, 125]) + b"\0" * 129,), 1002)  # longer than it must be
    yield Case("9.1.6d", (bytes([0x81, 0xFF]) + (65_535).to_bytes(8, "big"),), 1002)
    yield Case("9.7.1", (text("") * 500,), differs="500 messages at a time")
    yield Case("9.8.1", tuple(frame(BINARY, b"*" * 16) for _ in range(500)), differs="500 messages, each by itself")
    ten = chopped(b"*" * LIMIT, 1_300)
    yield Case("10.1.1", (text(ten[0], fin=False), *map(more, ten[1:-1]), more(ten[-1], fin=True)),
               differs=f"{LIMIT:,} bytes")  # fmt: skip
    for number, opcode in enumerate((TEXT, BINARY), 1):
        yield Case(f"12.{number}.1", (frame(opcode, b"\xca\x48\x04\x00", reserved=4),), 1002,
                   differs="no compression is agreed to, so its bit is reserved")  # fmt: skip
    for number, opcode in enumerate((TEXT, BINARY, PING, PONG, CLOSE), 1):
        yield Case(f"M.{number}", (frame(opcode, b"\x03\xe8", masked=False),), 1002)
    yield Case("M.6", (text("fragment1", fin=False), frame(0, b"fragment2", masked=False)), 1002)


CASES = (*lengths(), *pings(), *reserved(), *fragments(), *texts(), *ends(), *limits())
