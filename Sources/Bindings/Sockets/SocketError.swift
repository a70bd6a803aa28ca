internal import CLinux
internal import Glibc

/// A system call that failed, with its errno.
package struct SocketError: Error, Equatable, CustomStringConvertible {
    /// The call, as in its manual page.
    package var call: String
    package var code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The error of the call that just returned −1.
    init(latest call: String) {
        self.init(call: call, code: errno)
    }

    /// `bind: Address already in use`.
    package var description: String {
        "\(call): \(unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)")"
    }

    /// Another socket has that address and port.
    package var isAddressInUse: Bool { code == EADDRINUSE }
}
