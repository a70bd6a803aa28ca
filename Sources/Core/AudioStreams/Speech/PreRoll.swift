/// The last pieces of what the caller said, for a bot that is sent speech alone: what came just before the speech was
/// found belongs to it.
struct PreRoll: Equatable, Sendable {
    struct Piece: Equatable, Sendable {
        let bytes: [UInt8]
        /// The media time at which it starts, in milliseconds.
        let time: Int
        let milliseconds: Int
    }

    /// How much is kept, in milliseconds.
    private let length: Int
    private var pieces: [Piece] = []
    private var kept = 0

    init(milliseconds: Int) { length = milliseconds }

    /// Keeps a piece, and forgets those that are too old.
    mutating func append(_ piece: Piece) {
        pieces.append(piece)
        kept += piece.milliseconds
        while let first = pieces.first, kept - first.milliseconds >= length {
            kept -= first.milliseconds
            pieces.removeFirst()
        }
    }

    /// All that is kept, oldest first. Nothing is kept then.
    mutating func takeAll() -> [Piece] {
        defer { (pieces, kept) = ([], 0) }
        return pieces
    }
}
