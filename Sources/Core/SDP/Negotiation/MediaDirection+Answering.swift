extension MediaDirection {
    /// What is left of this direction when only `limit` is possible.
    package func narrowed(to limit: MediaDirection) -> MediaDirection {
        MediaDirection(sends: sends && limit.sends, receives: receives && limit.receives)
    }

    /// Whether an answer may say this to an offer that said `offered` (RFC 3264 §6.1): it may send only what the
    /// offerer receives, and receive only what the offerer sends.
    package func mayAnswer(_ offered: MediaDirection) -> Bool { narrowed(to: offered.reversed) == self }
}
