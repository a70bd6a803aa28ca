/// Translates the ids of header extension elements from those of a sender to those of a receiver (RFC 8285 §5). It is
/// looked up for every element of every packet.
package struct ExtensionNumbering: Equatable, Sendable {
    /// The receiver's id by the sender's; 0 for elements that the receiver has not negotiated. Empty for the identity.
    private var ids: [UInt8]

    /// Keeps all elements and their ids.
    package static let identity = ExtensionNumbering(ids: [])

    /// Keeps only the elements of the given pairs.
    ///
    /// - Parameter pairs: The sender's id and the receiver's id of each element; neither is 0.
    package init(_ pairs: some Sequence<(from: UInt8, to: UInt8)>) {
        ids = [UInt8](repeating: 0, count: 256)
        for pair in pairs { ids[Int(pair.from)] = pair.to }
    }

    private init(ids: [UInt8]) { self.ids = ids }

    /// Whether all elements keep their ids.
    package var isIdentity: Bool { ids.isEmpty }

    /// The receiver's id for the sender's `id`; 0 if the receiver has not negotiated the element.
    package subscript(id: UInt8) -> UInt8 { ids.isEmpty ? id : ids[Int(id)] }
}
