package import Primitives

/// BYE (RFC 3550 §6.6): sources that end. The reason text is ignored.
package struct Goodbye: Hashable, Sendable {
    /// The SSRCs that end, at most 31.
    package var sources: [SSRC]

    /// Makes a BYE for these sources.
    package init(_ sources: [SSRC]) { self.sources = sources }

    init?(reading reader: inout ByteReader, sources count: Int) {
        sources = []
        for _ in 0..<count {
            guard let ssrc = reader.readUInt32() else { return nil }
            sources.append(SSRC(ssrc))
        }
    }

    func write(to writer: inout ByteWriter) {
        precondition(sources.count <= 31, "a BYE has room for 31 sources")
        writer.writeRTCP(type: RTCPType.goodbye, format: sources.count) { writer in
            for source in sources { writer.write(source.rawValue) }
        }
    }
}
