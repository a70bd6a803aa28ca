internal import Glibc

/// A descriptor in reserve, with which a connection can be accepted and closed when the process has no other descriptor
/// left.
@safe
package struct SpareDescriptor: ~Copyable {
    private var descriptor: Int32

    /// Opens the descriptor, if the process has one left.
    package init() { descriptor = Self.open() }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Whether the reserve is there.
    package var isHeld: Bool { descriptor >= 0 }

    /// Closes the descriptor, so that the next call that needs one can have it.
    package mutating func release() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Opens the descriptor again if possible. Returns `false` if the process has no further descriptor besides it.
    package mutating func retake() -> Bool {
        if descriptor < 0 { descriptor = Self.open() }
        guard descriptor >= 0 else { return false }
        let another = Self.open()
        guard another >= 0 else { return false }
        Glibc.close(another)
        return true
    }

    private static func open() -> Int32 { unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
