/// The URL of a WebSocket (RFC 6455 §3): `wss://host[:port]/path?query`, or the same with `ws:`.
///
/// It has no user, since that would be a secret in a place where secrets are not looked for, and no fragment.
package struct WebSocketURL: Hashable, Sendable {
    /// The longest URL, in bytes.
    package static let maximumLength = 2_000
    /// The longest host, in bytes: libwebsockets has room for no more in a request.
    package static let maximumHostLength = 110

    /// Whether the connection has TLS.
    package let isSecure: Bool
    /// A name or an address; an IPv6 address without its brackets.
    package let host: String
    /// The port, 1 to 65535.
    package let port: UInt16
    /// Path and query, from the first slash; not empty.
    package let path: String

    /// Reads a URL; `nil` if the text is none, or too long.
    package init?(parsing text: String) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        guard let (isSecure, rest) = Self.scheme(of: text), !rest.contains("#"), !rest.contains("\\") else {
            return nil
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let (host, port) = Self.authority(rest[..<end]) else { return nil }
        let path = rest[end...]
        self.isSecure = isSecure
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        self.path = path.hasPrefix("/") ? String(path) : "/" + path
    }

    /// What the header `Host` says: the port is left out if it is the usual one.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The URL, which ``init(parsing:)`` reads as this one. The path may have a secret in it.
    package var text: String { "\(isSecure ? "wss" : "ws")://\(authority)\(path)" }

    private static func scheme(of text: String) -> (isSecure: Bool, rest: Substring)? {
        for (scheme, isSecure) in [("wss://", true), ("ws://", false)]
        where text.prefix(scheme.count).lowercased() == scheme {
            return (isSecure, text.dropFirst(scheme.count))
        }
        return nil
    }

    private static func authority(_ text: Substring) -> (host: String, port: UInt16?)? {
        var (host, port) = (text, Substring?.none)
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<close]
            let rest = text[text.index(after: close)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
            guard IPAddress(String(host))?.family == .v6 else { return nil }
        } else if let colon = text.firstIndex(of: ":") {
            (host, port) = (text[..<colon], text[text.index(after: colon)...])
        }
        guard !host.isEmpty, host.utf8.count <= maximumHostLength, host.utf8.allSatisfy(isHostCharacter) else {
            return nil
        }
        guard let port else { return (String(host), nil) }
        guard let number = UInt16(port), number > 0, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return (String(host), number)
    }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._:".utf8.contains(byte)
        }
    }
}
