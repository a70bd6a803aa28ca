/// Finds the start of key frames in RTP payloads, from the few bits that a relay may know of pictures.
package enum PictureFormat: Equatable, Sendable {
    /// RFC 7741.
    case vp8
    /// RFC 9628.
    case vp9
    /// RFC 6184.
    case h264
    /// The RTP payload format for AV1 of the Alliance for Open Media.
    case av1

    /// The format of an encoding name, in upper or lower case; `nil` for other encodings.
    package init?(encodingName name: String) {
        switch name.uppercased() {
        case "VP8": self = .vp8
        case "VP9": self = .vp9
        case "H264": self = .h264
        case "AV1": self = .av1
        default: return nil
        }
    }

    /// Whether a key frame starts in this payload. Several packets of one key frame, which have the same timestamp, may
    /// do so.
    package func startsKeyFrame(_ payload: Span<UInt8>) -> Bool {
        switch self {
        case .vp8: Self.startsVP8KeyFrame(payload)
        case .vp9: Self.startsVP9KeyFrame(payload)
        case .h264: Self.startsH264KeyFrame(payload)
        // The aggregation header's N: the first packet of a coded video sequence (AV1 RTP payload format §4.4).
        case .av1: !payload.isEmpty && payload[0] & 0x08 != 0
        }
    }

    // MARK: VP8 (RFC 7741 §4.2, §4.3)

    ///     |X|R|N|S|R| PID |   then, with X: |I|L|T|K| RSV |, and what these announce
    private static func startsVP8KeyFrame(_ payload: Span<UInt8>) -> Bool {
        guard !payload.isEmpty else { return false }
        // S is set and PID is 0: the first packet of a frame, the only one that starts with the frame header.
        guard payload[0] & 0x17 == 0x10 else { return false }
        var offset = 1
        if payload[0] & 0x80 != 0 {
            guard payload.count > offset else { return false }
            let present = payload[offset]
            offset += 1
            if present & 0x80 != 0 {
                guard payload.count > offset else { return false }
                // M: a PictureID of fifteen bits.
                offset += payload[offset] & 0x80 != 0 ? 2 : 1
            }
            if present & 0x40 != 0 { offset += 1 }
            if present & 0x30 != 0 { offset += 1 }
        }
        // P is inverse: 0 is a key frame.
        return payload.count > offset && payload[offset] & 0x01 == 0
    }

    // MARK: VP9 (RFC 9628 §4.2)

    ///     |I|P|L|F|B|E|V|Z|   then, with I, the picture id; with L: | TID |U| SID |D|
    private static func startsVP9KeyFrame(_ payload: Span<UInt8>) -> Bool {
        guard !payload.isEmpty else { return false }
        let flags = payload[0]
        // B: a frame starts. P: it depends on earlier pictures.
        guard flags & 0x08 != 0, flags & 0x40 == 0 else { return false }
        guard flags & 0x20 != 0 else { return true }
        var offset = 1
        if flags & 0x80 != 0 {
            guard payload.count > offset else { return false }
            offset += payload[offset] & 0x80 != 0 ? 2 : 1
        }
        // Upper spatial layers of a key frame do not depend on earlier pictures either.
        return payload.count > offset && payload[offset] & 0x0E == 0
    }

    // MARK: H.264 (RFC 6184 §5.3 … §5.8)

    private static let idr: UInt8 = 5
    private static let stapA: UInt8 = 24
    private static let fuA: UInt8 = 28

    private static func startsH264KeyFrame(_ payload: Span<UInt8>) -> Bool {
        guard !payload.isEmpty else { return false }
        switch payload[0] & 0x1F {
        case idr: return true
        case fuA: return payload.count > 1 && payload[1] & 0x80 != 0 && payload[1] & 0x1F == idr
        case stapA:
            var offset = 1
            while offset + 2 < payload.count {
                if payload[offset + 2] & 0x1F == idr { return true }
                offset += 2 + Int(payload.bigEndian16(at: offset))
            }
            return false
        default: return false
        }
    }
}
