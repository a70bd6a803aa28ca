/// Checks of a DTLS 1.2 datagram that need no key (RFC 6347 §4.1, §4.2.2). They decide whether the datagram is passed
/// to the handshake.
///
/// An attacker who can forge the address of a checked path can make up a record in the clear. A DTLS stack has to drop
/// invalid records (§4.1.2.7), but some of them end the association or make the stack allocate memory. Such records are
/// dropped here.
package enum HandshakeRecord {
    /// The longest handshake message that is accepted, in bytes. WebRTC needs less: its longest message is a
    /// certificate of one to four kilobytes.
    package static let maximumMessageLength = 16_384

    /// The messages that may come in the clear.
    package enum Expectation: Sendable {
        /// The gateway is the server and has answered nothing yet. A message that comes too early would be stored by
        /// the DTLS stack.
        case clientHello
        /// The gateway is the server and waits for the rest of the client's messages.
        case clientFlight
        /// The gateway is the client. The server may ask for a cookie first, which increases its message numbers by
        /// one.
        case serverFlight
    }

    /// Why a datagram is not passed to the handshake.
    package enum Refusal: Error, Hashable, Sendable {
        /// A record that ends behind the datagram or is no DTLS record.
        case malformed
        /// A message in the clear that is longer than `maximumMessageLength`, or a fragment that ends behind its
        /// message.
        case impossibleFragment
        /// A message in the clear that has no place here in a full handshake with both certificates (RFC 5246 §7.3).
        case unexpectedMessage
        /// Application data in the clear.
        case unprotectedData
        /// An alert in the clear that is not fatal. OpenSSL obeys a `close_notify`, and gives up after five warnings.
        case unprotectedWarning
    }

    /// Examines all records of a datagram. Records of later epochs are encrypted; OpenSSL checks them.
    ///
    /// - Throws: The first reason to refuse the datagram.
    package static func examine(_ datagram: Span<UInt8>, expecting expectation: Expectation) throws(Refusal) {
        var offset = 0
        repeat {
            guard datagram.count - offset > headerSize else { throw .malformed }
            let length = number(datagram, offset + 11, 2)
            let end = offset + headerSize + length
            // The version bytes of DTLS 1.0 and 1.2 are 0xFEFF and 0xFEFD; a first ClientHello has the former.
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
            // Only an empty message (ServerHelloDone) has an empty fragment.
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
    /// The level of a fatal alert (RFC 5246 §7.2).
    private static let fatal: UInt8 = 2
}

extension HandshakeRecord.Expectation {
    /// Whether a message of this type and number is expected (RFC 5246 §7.4). Finished is encrypted; the gateway never
    /// asks for sessions, tickets and stapled certificates.
    fileprivate func allows(messageType: UInt8, at sequence: Int) -> Bool {
        switch self {
        case .clientHello: messageType == 1 && sequence == 0
        case .clientFlight:
            switch messageType {
            case 1: sequence == 0  // ClientHello
            case 11: sequence == 1  // Certificate
            case 16: sequence == 2  // ClientKeyExchange
            case 15: sequence == 3  // CertificateVerify
            default: false
            }
        case .serverFlight:
            switch messageType {
            case 3: sequence == 0  // HelloVerifyRequest
            case 2: 0...1 ~= sequence  // ServerHello
            case 11: 1...2 ~= sequence  // Certificate
            case 12: 2...3 ~= sequence  // ServerKeyExchange
            case 13: 3...4 ~= sequence  // CertificateRequest
            case 14: 4...5 ~= sequence  // ServerHelloDone
            default: false
            }
        }
    }
}
