internal import Glibc

/// Who runs this process.
package enum ProcessIdentity {
    /// The effective user (geteuid(2)).
    package static var user: UInt32 { geteuid() }

    /// The name of a user, such as `root`; the number in digits if the system knows no name (getpwuid_r(3)).
    package static func name(of user: UInt32) -> String {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 4_096)
        let result = unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &found)
        guard result == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return "\(user)" }
        return unsafe String(cString: name)
    }
}
