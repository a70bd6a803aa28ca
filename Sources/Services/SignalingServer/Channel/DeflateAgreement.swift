import Zlib

/// How the messages of one notification channel are compressed: what the client offers and the gateway agrees to
/// (`permessage-deflate`, RFC 7692 §7.1).
package struct DeflateAgreement: Equatable, Sendable {
    /// What the gateway keeps of a channel in order to compress its messages.
    package enum Mode: Equatable, Sendable {
        /// Nothing: each message is compressed by itself.
        case perMessage
        /// The messages before, to which a message may refer, unless the client refuses that.
        case perChannel
    }

    /// The binary logarithm of the window in bytes within which the gateway's messages refer to bytes before.
    package let windowBits: Int
    /// Whether a message of the gateway may refer to the messages before it.
    package let keepsContext: Bool
    /// Whether the client has limited the window, which the answer then confirms.
    private let isWindowLimited: Bool

    /// The window of a channel whose messages refer to each other: 8 KiB, in which the last descriptions have room.
    package static let channelWindowBits = 13

    /// Agrees to the first offer that the gateway can do; `nil`: there is none, and nothing is compressed.
    ///
    /// The gateway declines an offer with a parameter that it does not know or that is there twice, with a value that
    /// is none, and with a window of 256 bytes, which zlib cannot write.
    ///
    /// - Parameter headers: the values of `Sec-WebSocket-Extensions`, in order.
    package init?(to headers: [String], _ mode: Mode) {
        for header in headers {
            for offer in header.utf8.split(separator: UInt8(ascii: ",")) {
                guard let agreed = Self(to: Substring(offer), mode) else { continue }
                self = agreed
                return
            }
        }
        return nil
    }

    private init?(to offer: Substring, _ mode: Mode) {
        let parts = offer.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Self.trimmed(Substring($0)) }
        guard parts.first?.lowercased() == "permessage-deflate" else { return nil }
        var (window, refusesContext): (Int?, Bool) = (nil, false)
        var seen: Set<String> = []
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            let (name, value) = (pair[0].lowercased(), pair.count == 2 ? Self.unquoted(pair[1]) : nil)
            guard seen.insert(name).inserted else { return nil }
            switch name {
            case "server_no_context_takeover":
                guard pair.count == 1 else { return nil }
                refusesContext = true
            case "client_no_context_takeover":
                guard pair.count == 1 else { return nil }
            case "server_max_window_bits":
                guard let bits = value.flatMap(Self.bits), Deflater.windowSizes.contains(bits) else { return nil }
                window = bits
            case "client_max_window_bits":
                // The gateway decompresses with the largest window, so it need not limit the client's.
                guard pair.count == 1 || value.flatMap(Self.bits) != nil else { return nil }
            default: return nil
            }
        }
        keepsContext = mode == .perChannel && !refusesContext
        let most = keepsContext ? Self.channelWindowBits : Deflater.windowSizes.upperBound
        windowBits = min(window ?? most, most)
        isWindowLimited = window != nil
    }

    /// The value of `Sec-WebSocket-Extensions` in the answer.
    ///
    /// Clients say keep-alives only, so the gateway keeps no context of theirs.
    package var answer: String {
        var parts = ["permessage-deflate"]
        if !keepsContext { parts.append("server_no_context_takeover") }
        parts.append("client_no_context_takeover")
        if isWindowLimited { parts.append("server_max_window_bits=\(windowBits)") }
        return parts.joined(separator: "; ")
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }

    /// A value may be a quoted string (RFC 6455 §9.1).
    private static func unquoted(_ text: Substring) -> Substring {
        guard text.utf8.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        return text.dropFirst().dropLast()
    }

    /// 8 to 15, in decimal digits without a zero in front (§7.1.2.1).
    private static func bits(_ text: Substring) -> Int? {
        guard let value = Int(text), (8...15).contains(value), String(value) == text else { return nil }
        return value
    }
}
