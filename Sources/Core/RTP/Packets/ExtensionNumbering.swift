/// Under which ids a receiver knows the header extension elements of a sender (RFC 8285 §5): looked up for every element of every packet.
package struct ExtensionNumbering: Equatable, Sendable {
    /// The receiver's id by the sender's; 0 for what the receiver does not know. Empty: all ids stay as they are.
    private var ids: [UInt8]

    /// Whatever a packet has, it keeps.
    package static let identity = ExtensionNumbering(ids: [])

    /// Only elements under these ids are kept.
    ///
    /// - Parameter pairs: The sender's id and the receiver's; neither is 0.
    package init(_ pairs: some Sequence<(from: UInt8, to: UInt8)>) {
        ids = [UInt8](repeating: 0, count: 256)
        for pair in pairs { ids[Int(pair.from)] = pair.to }
    }

    private init(ids: [UInt8]) { self.ids = ids }

    package var isIdentity: Bool { ids.isEmpty }

    /// The receiver's id, or 0.
    package subscript(id: UInt8) -> UInt8 { ids.isEmpty ? id : ids[Int(id)] }
}
