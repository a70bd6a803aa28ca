internal import CLinux
internal import Glibc

/// A system call that failed, with its errno.
package struct SocketError: Error, Equatable, CustomStringConvertible {
    /// The name of the call, as in its manual page.
    package var call: String
    /// The errno.
    package var code: Int32

    /// Makes an error of its parts.
    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The error of the call that has just returned −1.
    init(latest call: String) {
        self.init(call: call, code: errno)
    }

    /// The call and the message of the errno, such as `bind: Address already in use`.
    package var description: String {
        "\(call): \(unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)")"
    }
}
