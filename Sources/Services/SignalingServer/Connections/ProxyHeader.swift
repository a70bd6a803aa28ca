package import Primitives

/// The header of the PROXY protocol, with which a proxy starts a connection and tells whose connection it passes on
/// (HAProxy, "The PROXY protocol", versions 1 and 2).
///
/// Version 1 is a line of text, version 2 is binary. The TLVs of version 2 are skipped. The receiver knows from its
/// configuration that a header must come; it does not guess (§2.2 of that document).
package struct ProxyHeader: Equatable, Sendable {
    /// Who is at the other end of the connection that a proxy passes on.
    package enum Source: Equatable, Sendable {
        /// The client with this address.
        case client(IPAddress)
        /// The proxy itself, such as a health check of its own (LOCAL); or a client without an address that the
        /// protocol could tell (UNKNOWN, UNSPEC, AF_UNIX).
        case proxy
    }

    /// Why bytes are no header.
    package enum Fault: Error, Equatable, Sendable {
        /// The first bytes are those of neither version.
        case missing
        /// The header is longer than ``longest`` bytes, or a line longer than ``longestLine`` bytes.
        case tooLong
        /// The line of version 1 is not well-formed.
        case line
        /// Version, command, address family or transport protocol of version 2 is unknown, or is not TCP.
        case unknown
        /// The header of version 2 has fewer bytes than the addresses of its family take.
        case tooShort
    }

    /// Whose connection it is.
    package let source: Source
    /// The number of bytes in the header; what follows is the client's.
    package let length: Int

    /// The most bytes that a header of version 2 may have, TLVs included.
    package static let longest = 4_096
    /// The most bytes that a line of version 1 may have, its end included (§2.1).
    package static let longestLine = 107

    /// The header of version 2 with which a program speaks for itself (LOCAL).
    package static let local: [UInt8] = signature + [0x20, 0, 0, 0]

    private init(_ source: Source, length: Int) {
        self.source = source
        self.length = length
    }

    /// Reads the header at the start of a connection.
    ///
    /// - Returns: `nil` if the bytes are the start of a header, and more have to come.
    /// - Throws: ``Fault`` as soon as no further bytes could make a header of these.
    package static func parse(_ bytes: Span<UInt8>) throws(Fault) -> ProxyHeader? {
        if starts(bytes, with: signature) { return try binary(bytes) }
        if starts(bytes, with: word) { return try text(bytes) }
        throw .missing
    }

    /// The first 12 bytes of version 2 (§2.2).
    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let word = Array("PROXY ".utf8)

    /// Whether the bytes are the start of the expected ones, or start with them.
    private static func starts(_ bytes: Span<UInt8>, with expected: [UInt8]) -> Bool {
        for index in 0..<min(bytes.count, expected.count) where bytes[index] != expected[index] { return false }
        return true
    }

    // MARK: - Version 2

    private static func binary(_ bytes: Span<UInt8>) throws(Fault) -> ProxyHeader? {
        var reader = ByteReader(bytes)
        guard reader.skip(signature.count), let kind = reader.readUInt8() else { return nil }
        guard kind == 0x20 || kind == 0x21 else { throw .unknown }
        let isLocal = kind == 0x20
        guard let protocols = reader.readUInt8() else { return nil }
        // A LOCAL command counts whatever its family (§2.2).
        let addressBytes = isLocal ? 0 : try addressBytes(protocols)
        guard let count = reader.readUInt16() else { return nil }
        let length = signature.count + 4 + Int(count)
        guard length <= longest else { throw .tooLong }
        guard Int(count) >= addressBytes else { throw .tooShort }
        guard reader.remaining >= Int(count) else { return nil }
        guard !isLocal else { return ProxyHeader(.proxy, length: length) }
        switch protocols {
        case 0x11:
            guard let address = reader.readUInt32() else { throw .tooShort }
            return ProxyHeader(.client(IPAddress(v4: address)), length: length)
        case 0x21:
            guard let high = reader.readUInt64(), let low = reader.readUInt64() else { throw .tooShort }
            return ProxyHeader(.client(IPAddress(v6: high, low).unmapped), length: length)
        default: return ProxyHeader(.proxy, length: length)
        }
    }

    /// How many bytes both ends' addresses and ports take; the family is in the upper half, the transport in the lower.
    private static func addressBytes(_ protocols: UInt8) throws(Fault) -> Int {
        switch protocols {
        case 0x00: 0
        case 0x11: 12
        case 0x21: 36
        case 0x31: 216
        default: throw .unknown
        }
    }

    // MARK: - Version 1

    private static func text(_ bytes: Span<UInt8>) throws(Fault) -> ProxyHeader? {
        let lineFeed = bytes.indices.prefix(longestLine).first { bytes[$0] == UInt8(ascii: "\n") }
        guard let lineFeed else {
            guard bytes.count < longestLine else { throw .tooLong }
            return nil
        }
        let line = String(decoding: [UInt8](copying: bytes.extracting(0..<lineFeed)), as: UTF8.self)
        guard line.utf8.last == UInt8(ascii: "\r") else { throw .line }
        let space = UInt8(ascii: " ")
        let fields = line.utf8.dropLast().split(separator: space, omittingEmptySubsequences: false).map {
            Substring($0)
        }
        // After UNKNOWN nothing of the line counts (§2.1).
        if fields.count >= 2, fields[1] == "UNKNOWN" { return ProxyHeader(.proxy, length: lineFeed + 1) }
        let families: [Substring: IPAddress.Family] = ["TCP4": .v4, "TCP6": .v6]
        guard fields.count == 6, let family = families[fields[1]],
            let client = IPAddress(fields[2]), client.family == family,
            IPAddress(fields[3])?.family == family, isPort(fields[4]), isPort(fields[5])
        else { throw .line }
        return ProxyHeader(.client(client.unmapped), length: lineFeed + 1)
    }

    private static func isPort(_ text: Substring) -> Bool { UInt16(text).map { String($0) == text } ?? false }
}

extension ProxyHeader.Fault: CustomStringConvertible {
    /// What is wrong, for the log.
    package var description: String {
        switch self {
        case .missing: "a trusted proxy's connection does not start with a PROXY header"
        case .tooLong:
            "a PROXY header has more than \(ProxyHeader.longest) bytes, or its line \(ProxyHeader.longestLine)"
        case .line: "the line of a PROXY header is not well-formed"
        case .unknown: "a PROXY header has a version, command, family or transport that is not known or not TCP"
        case .tooShort: "a PROXY header is too short for the addresses of its family"
        }
    }
}
