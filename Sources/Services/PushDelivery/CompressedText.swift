import Foundation
import Zlib

/// A text as `sdpFormat` `compressed` has it: zlib data in Base64 (spidr-wire §5.1, RFC 1950).
package struct CompressedText: Equatable, Sendable {
    /// The value of `sdpFormat`.
    package static let format = "compressed"

    /// The compressed text.
    package let base64: String

    /// Compresses a text, which is not empty.
    package init(_ text: String) {
        var deflater = Deflater(windowBits: Self.windowBits)
        // The deflater leaves the end of a flush out, and does not end the data (RFC 7692 §7.2.1): both are added.
        var bytes = Self.header + deflater.compress(Array(text.utf8).span)
        bytes += Self.flushMarker + Self.lastBlock
        let sum = Self.checksum(text.utf8)
        bytes += (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * $0)) }
        base64 = Data(bytes).base64EncodedString()
    }

    private static let windowBits = 15
    /// Deflate with a window of 32 KB, without a dictionary (RFC 1950 §2.2).
    private static let header: [UInt8] = [0x78, 0x9C]
    private static let flushMarker: [UInt8] = [0, 0, 0xFF, 0xFF]
    /// A stored block without content, the last one (RFC 1951 §3.2.4).
    private static let lastBlock: [UInt8] = [1, 0, 0, 0xFF, 0xFF]

    /// Adler-32 (RFC 1950 §8.2).
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        let modulus: UInt32 = 65_521
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % modulus
            high = (high + low) % modulus
        }
        return high << 16 | low
    }
}
