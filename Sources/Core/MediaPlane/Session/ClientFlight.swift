package import Primitives

/// A DTLS client's first flight, its ClientHello, that came before the description that names the client's certificate.
///
/// A client repeats the ClientHello until it is answered, perhaps in other fragments. A fragment with another random or
/// another message length is part of another ClientHello, which replaces the former one. Nothing is added to a complete
/// ClientHello.
package struct ClientFlight: Equatable, Sendable {
    /// The most datagrams of a flight. Browsers need two, because their post-quantum key share makes a ClientHello of
    /// about 1,500 bytes.
    package static let maximumDatagrams = 4
    /// The most bytes in all datagrams of a flight.
    package static let maximumBytes = 8_192

    /// The part of a ClientHello that a datagram contains.
    private struct Piece: Equatable {
        let datagram: [UInt8]
        /// The length of the whole message in bytes.
        let length: Int
        let range: Range<Int>
        /// Version and random, as far as the fragment contains them; `nil` if it is not the first fragment of the
        /// message.
        let opening: [UInt8]?
    }

    private var pieces: [Piece] = []

    /// Makes a flight without datagrams.
    package init() {}

    /// The datagrams that came, in the order of the message.
    package var datagrams: [[UInt8]] {
        pieces.sorted { $0.range.lowerBound < $1.range.lowerBound }.map(\.datagram)
    }

    /// Adds a datagram that came over the flight's path.
    ///
    /// - Throws: If the datagram contains anything but fragments of a ClientHello.
    package mutating func add(_ datagram: Span<UInt8>) throws(HandshakeRecord.Refusal) {
        try HandshakeRecord.examine(datagram, expecting: .clientHello)
        let piece = try Self.piece(of: datagram)
        if !pieces.allSatisfy({ Self.belong($0, piece) }) { pieces = [] }
        if let known = pieces.firstIndex(where: { $0.range == piece.range }) {
            pieces[known] = piece
            return
        }
        if isWhole { return }
        let bytes = pieces.reduce(piece.datagram.count) { $0 + $1.datagram.count }
        // Beyond the bounds, only the newest datagram is kept; the client will repeat the others.
        if pieces.count == Self.maximumDatagrams || bytes > Self.maximumBytes { pieces = [] }
        if piece.datagram.count <= Self.maximumBytes { pieces.append(piece) }
    }

    private var isWhole: Bool {
        guard let length = pieces.first?.length else { return false }
        var end = 0
        for piece in pieces.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where piece.range.lowerBound <= end {
            end = max(end, piece.range.upperBound)
        }
        return end == length
    }

    private static func belong(_ one: Piece, _ other: Piece) -> Bool {
        guard one.length == other.length else { return false }
        guard let first = one.opening, let second = other.opening else { return true }
        return zip(first, second).allSatisfy(==)
    }

    /// The length of version and random (RFC 5246 §7.4.1.2).
    private static let openingLength = 34

    /// Finds the part of the ClientHello in a datagram. `examine` has checked that every record in the clear is
    /// complete and contains nothing but ClientHello.
    private static func piece(of datagram: Span<UInt8>) throws(HandshakeRecord.Refusal) -> Piece {
        var piece: (length: Int, range: Range<Int>)?
        var opening: [UInt8]?
        var record = 0
        while record < datagram.count {
            let (type, epoch) = (datagram[record], HandshakeRecord.number(datagram, record + 3, 2))
            // A change of cipher, an alert or an encrypted record is not part of a first flight.
            guard type == 22, epoch == 0 else { throw .unexpectedMessage }
            let end = record + HandshakeRecord.headerSize + HandshakeRecord.number(datagram, record + 11, 2)
            var message = record + HandshakeRecord.headerSize
            while message < end {
                let (length, start) = (
                    HandshakeRecord.number(datagram, message + 1, 3), HandshakeRecord.number(datagram, message + 6, 3)
                )
                let body = message + HandshakeRecord.messageHeaderSize
                let count = HandshakeRecord.number(datagram, message + 9, 3)
                if start == 0 { opening = (body..<(body + min(count, openingLength))).map { datagram[$0] } }
                if let before = piece {
                    guard before.length == length, before.range.upperBound == start else { throw .impossibleFragment }
                    piece?.range = before.range.lowerBound..<(start + count)
                } else {
                    piece = (length, start..<(start + count))
                }
                message = body + count
            }
            record = end
        }
        guard let piece else { throw .malformed }
        return Piece(datagram: [UInt8](copying: datagram), length: piece.length, range: piece.range, opening: opening)
    }
}

/// The first flights that came for one session before its peer's description, one per path.
package struct EarlyFlights: Equatable, Sendable {
    /// The most paths with a flight. Several devices may have been offered the same parameters, and each may start a
    /// handshake; the flights heard last are kept.
    package static let maximumCount = 4

    private struct Entry: Equatable {
        let path: Path
        var flight: ClientFlight
    }

    /// The flights, the one heard last at the end.
    private var entries: [Entry] = []

    /// Makes an empty collection.
    package init() {}

    /// The number of paths with a flight.
    package var count: Int { entries.count }

    /// Adds a datagram that came over `path`. A flight beyond `maximumCount` displaces the one that was silent longest.
    ///
    /// - Throws: If the datagram contains anything but fragments of a ClientHello; nothing changes then.
    package mutating func add(_ datagram: Span<UInt8>, over path: Path) throws(HandshakeRecord.Refusal) {
        let known = entries.firstIndex { $0.path == path }
        var entry = known.map { entries[$0] } ?? Entry(path: path, flight: ClientFlight())
        try entry.flight.add(datagram)
        if let known { entries.remove(at: known) }
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append(entry)
    }

    /// Drops the flight that came over `path`.
    package mutating func forget(_ path: Path) { entries.removeAll { $0.path == path } }

    /// Takes out the flight heard last and drops the others; `nil` if there is none.
    package mutating func take() -> (path: Path, datagrams: [[UInt8]])? {
        defer { entries = [] }
        return entries.last.map { ($0.path, $0.flight.datagrams) }
    }
}
