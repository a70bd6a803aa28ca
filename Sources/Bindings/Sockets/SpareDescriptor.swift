internal import Glibc

/// A descriptor kept so that somebody can still be turned away when the process has no other left.
@safe
package struct SpareDescriptor: ~Copyable {
    private var descriptor: Int32

    package init() { descriptor = Self.open() }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    package var isHeld: Bool { descriptor >= 0 }

    /// Leaves its place to whoever opens something next.
    package mutating func release() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Takes it again if there is one to be had; `false` if there is none besides it.
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
