/// What can be told of a DTLS 1.2 datagram without any key (RFC 6347 §4.1, §4.2.2): whether it may be shown to the handshake.
///
/// A record in the clear can be made up by anybody who can forge the address of a checked path. A DTLS stack has to drop what
/// is invalid (§4.1.2.7), but some of it ends the association, or is memory that the stack sets aside: so it stops here.
package enum HandshakeRecord {
    /// Longer than any flight of WebRTC, whose longest message is a certificate of one to four kilobytes.
    package static let maximumMessageLength = 16_384
    /// A full handshake has messages 0…7 from either side; HelloVerifyRequest makes it one more.
    package static let maximumMessageSequence = 15

    package enum Refusal: Error, Hashable, Sendable {
        /// A record that ends behind the datagram, or is none of DTLS.
        case malformed
        /// A message in the clear that is longer than `maximumMessageLength` or later than `maximumMessageSequence`, or a
        /// fragment that ends behind its message.
        case impossibleFragment
        /// Data in the clear.
        case unprotectedData
    }

    /// Examines all records of a datagram. Those of later epochs are encrypted, and OpenSSL's to judge.
    package static func examine(_ datagram: Span<UInt8>) throws(Refusal) {
        var offset = 0
        repeat {
            guard datagram.count - offset > headerSize else { throw .malformed }
            let length = number(datagram, offset + 11, 2)
            let end = offset + headerSize + length
            // DTLS 1.0 and 1.2 are written 0xFEFF and 0xFEFD; a first ClientHello has the older.
            guard datagram[offset + 1] == 0xFE, end <= datagram.count else { throw .malformed }
            if number(datagram, offset + 3, 2) == 0 {
                try examinePlain(datagram.extracting((offset + headerSize)..<end), contentType: datagram[offset])
            }
            offset = end
        } while offset < datagram.count
    }

    private static func examinePlain(_ fragment: Span<UInt8>, contentType: UInt8) throws(Refusal) {
        switch contentType {
        case changeCipherSpec, alert: return
        case handshake: break
        case applicationData: throw .unprotectedData
        default: throw .malformed
        }
        var offset = 0
        repeat {
            guard fragment.count - offset >= messageHeaderSize else { throw .malformed }
            let (message, sequence) = (number(fragment, offset + 1, 3), number(fragment, offset + 4, 2))
            let (start, count) = (number(fragment, offset + 6, 3), number(fragment, offset + 9, 3))
            guard message <= maximumMessageLength, sequence <= maximumMessageSequence, start + count <= message else { throw .impossibleFragment }
            // An empty fragment belongs to an empty message only (ServerHelloDone).
            guard count > 0 || message == 0 else { throw .impossibleFragment }
            offset += messageHeaderSize + count
            guard offset <= fragment.count else { throw .malformed }
        } while offset < fragment.count
    }

    private static func number(_ bytes: Span<UInt8>, _ offset: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }

    private static let headerSize = 13
    private static let messageHeaderSize = 12
    private static let (changeCipherSpec, alert, handshake, applicationData): (UInt8, UInt8, UInt8, UInt8) = (20, 21, 22, 23)
}
