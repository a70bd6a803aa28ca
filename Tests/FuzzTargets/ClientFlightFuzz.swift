import MediaPlane
import Primitives

/// The bytes as DTLS datagrams over several paths, before the peer's description is known: what is kept is what came,
/// is part of one ClientHello per path, and stays within its bounds. A datagram that is refused changes nothing.
///
/// A step is a byte: its low three bits are the path, the next two what happens over it. A datagram comes as it is,
/// behind 16 bits with its length, or is made of three bytes: a fragment of a ClientHello.
package func fuzzClientFlight(_ bytes: Span<UInt8>) {
    var flights = FuzzedFlights()
    var reader = ByteReader(bytes)
    while let step = reader.readUInt8() {
        let path = Path(
            local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: 5_000 + UInt16(step & 7)))
        switch step >> 3 & 3 {
        case 0:
            guard let length = reader.readUInt16(),
                let datagram = reader.readBytes(min(Int(length), reader.remaining))
            else { return }
            flights.add(datagram, over: path)
        case 1, 2:
            guard let start = reader.readUInt8(), let count = reader.readUInt8(), let variant = reader.readUInt8()
            else {
                return
            }
            flights.add(fragment(step, start: Int(start), count: Int(count), variant), over: path)
        default:
            if step & 0x20 == 0 { flights.forget(path) } else { flights.take() }
        }
    }
    flights.take()
}

/// A datagram with a fragment of a ClientHello. The step has the length of the message, the variant its random; a few
/// variants are no ClientHello, or are encrypted.
private func fragment(_ step: UInt8, start: Int, count: Int, _ variant: UInt8) -> [UInt8] {
    let length = [200, 1_500, 1_400, 5_000, 9_000, 16_384, 17_000, 0][Int(step >> 5)]
    let range = (start * 36)..<(start * 36 + count * 36)
    var body = ByteWriter()
    body.write(UInt8(variant >> 4 == 15 ? 11 : 1))
    body.writeUInt24(UInt32(length))
    body.write(UInt16(variant >> 4 == 14 ? 1 : 0))
    body.writeUInt24(UInt32(range.lowerBound))
    body.writeUInt24(UInt32(range.count))
    // Version, random, and the rest.
    let content: [UInt8] = range.map { $0 < 2 ? 0xFE : $0 < 34 ? variant & 3 : 0xCC }
    body.write(content)
    var record = ByteWriter()
    record.write(UInt8(22))
    record.write(UInt16(0xFEFF))
    record.write(UInt16(variant >> 4 == 13 ? 1 : 0))
    // The number of the record tells one repetition from another.
    record.write([0, 0, 0, 0, 0, variant >> 2 & 3])
    record.write(UInt16(body.count))
    record.write(body.bytes)
    return record.bytes
}

/// The flights of a session, and what they should be.
private struct FuzzedFlights {
    private var flights = EarlyFlights()
    /// What should be kept, the flight heard last at the end.
    private var expected: [(path: Path, flight: ClientFlight)] = []
    /// Every datagram that was taken.
    private var heard: Set<[UInt8]> = []

    mutating func add(_ datagram: [UInt8], over path: Path) {
        let known = expected.firstIndex { $0.path == path }
        var flight = known.map { expected[$0].flight } ?? ClientFlight()
        let (before, allBefore) = (flight, flights)
        do {
            try flight.add(datagram.span)
        } catch {
            precondition(flight == before, "a refused datagram changes no flight")
            precondition((try? flights.add(datagram.span, over: path)) == nil, "it is refused everywhere")
            precondition(flights == allBefore, "a refused datagram takes no place")
            return
        }
        heard.insert(datagram)
        check(flight)
        var again = flight
        precondition((try? again.add(datagram.span)) != nil && again == flight, "a repetition changes nothing")

        precondition((try? flights.add(datagram.span, over: path)) != nil, "it is taken everywhere")
        if let known { expected.remove(at: known) }
        if expected.count == EarlyFlights.maximumCount { expected.removeFirst() }
        expected.append((path, flight))
        precondition(flights.count == expected.count, "there is a flight per path, four at most")
    }

    mutating func forget(_ path: Path) {
        flights.forget(path)
        expected.removeAll { $0.path == path }
        precondition(flights.count == expected.count, "one flight is forgotten, and no other")
    }

    mutating func take() {
        let taken = flights.take()
        precondition(taken?.path == expected.last?.path, "the flight heard last is taken")
        precondition(taken?.datagrams == expected.last?.flight.datagrams, "it is what came over its path")
        precondition(flights.count == 0, "no other flight stays")
        expected = []
    }

    /// What is kept can be shown to a handshake: datagrams that came, with fragments of one message in their order.
    private func check(_ flight: ClientFlight) {
        let datagrams = flight.datagrams
        precondition(datagrams.count <= ClientFlight.maximumDatagrams, "datagrams are limited")
        precondition(datagrams.reduce(0) { $0 + $1.count } <= ClientFlight.maximumBytes, "bytes are limited")
        var (last, length) = (-1, -1)
        for datagram in datagrams {
            precondition(heard.contains(datagram), "what is kept is what came")
            precondition(
                (try? HandshakeRecord.examine(datagram.span, expecting: .clientHello)) != nil, "it is a ClientHello")
            var reader = ByteReader(datagram.span)
            guard let type = reader.readUInt8(), reader.skip(2), let epoch = reader.readUInt16(), reader.skip(8),
                let message = reader.readUInt8(), let whole = reader.readUInt24(), reader.skip(2),
                let start = reader.readUInt24()
            else { preconditionFailure("what is kept has a whole header") }
            precondition(type == 22 && epoch == 0 && message == 1, "nothing else is kept, and nothing encrypted")
            precondition(length == -1 || length == Int(whole), "all fragments are of one message")
            // Two fragments may start at one place: a message of another fragmentation.
            precondition(Int(start) >= last, "fragments are in the order of the message")
            (last, length) = (Int(start), Int(whole))
        }
    }
}
