package import Primitives

/// Where a request comes from.
package struct Requester: Sendable {
    /// The client's address: that of the connection's other end, or the one that a trusted proxy vouches for.
    package let address: IPAddress?
    /// Whether anybody still waits for the answer. Asked only about requests that had to wait.
    package let isPresent: @Sendable () async -> Bool

    package init(_ address: IPAddress?, isPresent: @escaping @Sendable () async -> Bool = { true }) {
        self.address = address
        self.isPresent = isPresent
    }
}
