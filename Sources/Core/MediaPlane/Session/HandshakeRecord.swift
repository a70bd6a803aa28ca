/// What can be told of a DTLS 1.2 datagram without any key (RFC 6347 §4.1, §4.2.2): whether it may be shown to the handshake.
///
/// A record in the clear can be made up by anybody who can forge the address of a checked path. A DTLS stack has to drop what
/// is invalid (§4.1.2.7), but some of it ends the association, or is memory that the stack sets aside: so it stops here.
package enum HandshakeRecord {
    /// Longer than any flight of WebRTC, whose longest message is a certificate of one to four kilobytes.
    package static let maximumMessageLength = 16_384

    /// Which messages can come in the clear.
    package enum Expectation: Sendable {
        /// We are the server and have answered nothing yet: a message ahead of its time would be put aside, and kept.
        case clientHello
        /// We are the server and wait for the rest.
        case clientFlight
        /// We are the client. The server may ask for a cookie first, which makes its messages one later.
        case serverFlight
    }

    package enum Refusal: Error, Hashable, Sendable {
        /// A record that ends behind the datagram, or is none of DTLS.
        case malformed
        /// A message in the clear that is longer than `maximumMessageLength`, or a fragment that ends behind its message.
        case impossibleFragment
        /// A message in the clear that does not come in this place of a full handshake with both certificates (RFC 5246 §7.3).
        case unexpectedMessage
        /// Data in the clear.
        case unprotectedData
        /// An alert in the clear that is not fatal: OpenSSL takes `close_notify` for the peer's wish, and gives up after five warnings.
        case unprotectedWarning
    }

    /// Examines all records of a datagram. Those of later epochs are encrypted, and OpenSSL's to judge.
    package static func examine(_ datagram: Span<UInt8>, expecting expectation: Expectation) throws(Refusal) {
        var offset = 0
        repeat {
            guard datagram.count - offset > headerSize else { throw .malformed }
            let length = number(datagram, offset + 11, 2)
            let end = offset + headerSize + length
            // DTLS 1.0 and 1.2 are written 0xFEFF and 0xFEFD; a first ClientHello has the older.
            guard datagram[offset + 1] == 0xFE, end <= datagram.count else { throw .malformed }
            if number(datagram, offset + 3, 2) == 0 {
                try examinePlain(
                    datagram.extracting((offset + headerSize)..<end), contentType: datagram[offset], expectation)
            }
            offset = end
        } while offset < datagram.count
    }

    private static func examinePlain(_ fragment: Span<UInt8>, contentType: UInt8, _ expectation: Expectation)
        throws(Refusal)
    {
        switch contentType {
        case changeCipherSpec:
            guard fragment.count == 1, fragment[0] == 1 else { throw .malformed }
            return
        case alert:
            guard fragment.count == 2 else { throw .malformed }
            guard fragment[0] == fatal else { throw .unprotectedWarning }
            return
        case handshake: break
        case applicationData: throw .unprotectedData
        default: throw .malformed
        }
        var offset = 0
        repeat {
            guard fragment.count - offset >= messageHeaderSize else { throw .malformed }
            let (message, sequence) = (number(fragment, offset + 1, 3), number(fragment, offset + 4, 2))
            let (start, count) = (number(fragment, offset + 6, 3), number(fragment, offset + 9, 3))
            guard message <= maximumMessageLength, start + count <= message else { throw .impossibleFragment }
            guard expectation.allows(messageType: fragment[offset], at: sequence) else { throw .unexpectedMessage }
            // An empty fragment belongs to an empty message only (ServerHelloDone).
            guard count > 0 || message == 0 else { throw .impossibleFragment }
            offset += messageHeaderSize + count
            guard offset <= fragment.count else { throw .malformed }
        } while offset < fragment.count
    }

    static func number(_ bytes: Span<UInt8>, _ offset: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }

    static let headerSize = 13
    static let messageHeaderSize = 12
    private static let (changeCipherSpec, alert, handshake, applicationData): (UInt8, UInt8, UInt8, UInt8) = (
        20, 21, 22, 23
    )
    /// An alert's level (RFC 5246 §7.2).
    private static let fatal: UInt8 = 2
}

extension HandshakeRecord.Expectation {
    /// RFC 5246 §7.4; Finished is encrypted, and sessions, tickets and stapled certificates are never asked for.
    fileprivate func allows(messageType: UInt8, at sequence: Int) -> Bool {
        switch (self, messageType) {
        case (.clientHello, 1), (.clientFlight, 1): sequence == 0
        case (.clientFlight, 11): sequence == 1  // Certificate
        case (.clientFlight, 16): sequence == 2  // ClientKeyExchange
        case (.clientFlight, 15): sequence == 3  // CertificateVerify
        case (.serverFlight, 3): sequence == 0  // HelloVerifyRequest
        case (.serverFlight, 2): 0...1 ~= sequence  // ServerHello
        case (.serverFlight, 11): 1...2 ~= sequence  // Certificate
        case (.serverFlight, 12): 2...3 ~= sequence  // ServerKeyExchange
        case (.serverFlight, 13): 3...4 ~= sequence  // CertificateRequest
        case (.serverFlight, 14): 4...5 ~= sequence  // ServerHelloDone
        default: false
        }
    }
}
