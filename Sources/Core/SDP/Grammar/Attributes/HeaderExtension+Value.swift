extension HeaderExtension {
    /// Reads the value of `a=extmap`, such as `2/recvonly urn:ietf:params:rtp-hdrext:csrc-audio-level` (RFC 8285 §8);
    /// `nil` if it is malformed.
    ///
    /// `.some(nil)` means a well-formed mapping to an id that no packet can carry: 0, or 256 and above, as in offers
    /// with too many extensions (RFC 8285 §7).
    static func reading(_ value: String) -> HeaderExtension?? {
        var fields = FieldReader(value)
        guard let mapping = fields.field(), let uri = fields.field() else { return nil }
        var parts = FieldReader(mapping)
        guard let id: UInt16 = parts.number(upTo: UInt8(ascii: "/")) else { return nil }
        var direction = MediaDirection.sendReceive
        if !parts.isAtEnd {
            guard let name = parts.remainder(), let named = MediaDirection(rawValue: name) else { return nil }
            direction = named
        }
        guard id > 0, let id = UInt8(exactly: id) else { return .some(nil) }
        return HeaderExtension(id: id, uri: uri, direction: direction)
    }

    /// The value of `a=extmap`. The direction is left out if it is `sendrecv`.
    package var value: String {
        direction == .sendReceive ? "\(id) \(uri)" : "\(id)/\(direction.rawValue) \(uri)"
    }
}
