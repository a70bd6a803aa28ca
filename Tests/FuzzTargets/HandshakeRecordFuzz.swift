import MediaPlane
import Primitives

/// Any bytes as a DTLS datagram: what may be shown to a handshake consists of whole records, and those of the first
/// epoch are of its kind.
package func fuzzHandshakeRecord(_ bytes: Span<UInt8>) {
    for expectation in [HandshakeRecord.Expectation.clientHello, .clientFlight, .serverFlight] {
        // Refusing is a fine answer.
        guard (try? HandshakeRecord.examine(bytes, expecting: expectation)) != nil else { continue }
        var reader = ByteReader(bytes)
        while reader.remaining > 0 {
            guard let type = reader.readUInt8(), let version = reader.readUInt16(), let epoch = reader.readUInt16(),
                reader.skip(6),
                let length = reader.readUInt16(), reader.skip(Int(length))
            else { preconditionFailure("what is accepted consists of whole records") }
            precondition(version >> 8 == 0xFE, "of DTLS")
            precondition(epoch > 0 || 20...22 ~= type, "no data in the clear")
        }
    }
}
