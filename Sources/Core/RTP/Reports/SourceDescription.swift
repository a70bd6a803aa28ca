package import Primitives

/// SDES (RFC 3550 §6.5), of which only the CNAME is kept.
package struct SourceDescription: Hashable, Sendable {
    /// The description of one source.
    package struct Chunk: Hashable, Sendable {
        /// The source that is described.
        package var ssrc: SSRC
        /// The canonical name, at most 255 bytes of UTF-8 (RFC 3550 §6.5.1); `nil` if the chunk has none.
        package var cname: String?

        /// Makes a chunk of its parts.
        package init(ssrc: SSRC, cname: String?) {
            self.ssrc = ssrc
            self.cname = cname
        }
    }

    /// The chunks, at most 31.
    package var chunks: [Chunk]

    /// Makes a description of these chunks.
    package init(_ chunks: [Chunk]) { self.chunks = chunks }

    private static let end: UInt8 = 0
    fileprivate static let cname: UInt8 = 1

    init?(reading reader: inout ByteReader, chunks count: Int) {
        chunks = []
        for _ in 0..<count {
            guard let ssrc = reader.readUInt32() else { return nil }
            var chunk = Chunk(ssrc: SSRC(ssrc), cname: nil)
            let start = reader.offset
            while let item = reader.readUInt8(), item != Self.end {
                guard let length = reader.readUInt8(), let text = reader.readBytes(Int(length)) else { return nil }
                if item == Self.cname { chunk.cname = String(decoding: text, as: UTF8.self) }
            }
            // Zeros fill the chunk up to the next word. A chunk that ends with the packet without any zero is accepted.
            let misaligned = (reader.offset - start) % 4
            if misaligned != 0, reader.remaining > 0, !reader.skip(4 - misaligned) { return nil }
            chunks.append(chunk)
        }
    }

    func write(to writer: inout ByteWriter) {
        precondition(chunks.count <= 31, "a source description has room for 31 chunks")
        writer.writeRTCP(type: RTCPType.sourceDescription, format: chunks.count) { writer in
            for chunk in chunks { chunk.write(to: &writer) }
        }
    }
}

extension SourceDescription.Chunk {
    /// Appends an SDES packet with this chunk only. A name beyond 255 bytes is truncated.
    package func writePacket(to writer: inout ByteWriter) {
        writer.writeRTCP(type: RTCPType.sourceDescription, format: 1) { writer in write(to: &writer) }
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(ssrc.rawValue)
        var length = 0
        if let cname {
            let text = cname.utf8.prefix(255)
            writer.write(SourceDescription.cname)
            writer.write(UInt8(text.count))
            for byte in text { writer.write(byte) }
            length = 2 + text.count
        }
        // At least one zero byte ends the list.
        writer.writeZeros(4 - length % 4)
    }
}
