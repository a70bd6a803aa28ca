internal import CLinux
internal import Glibc
internal import Primitives

/// System calls for the setup of every kind of socket.
enum SocketSetup {
    static func set(_ level: Int32, _ option: Int32, to value: Int, on descriptor: Int32) throws(SocketError) {
        var number = Int32(clamping: value)
        let result = unsafe setsockopt(descriptor, level, option, &number, socklen_t(MemoryLayout<Int32>.size))
        guard result == 0 else { throw SocketError(latest: "setsockopt") }
    }

    static func bind(_ descriptor: Int32, to address: SocketAddress) throws(SocketError) -> SocketAddress {
        var storage = sockaddr_storage()
        let outcome = unsafe withUnsafeMutableBytes(of: &storage) { bytes -> Result<SocketAddress, SocketError> in
            guard let base = bytes.baseAddress else { preconditionFailure("storage of a variable has an address") }
            let name = unsafe base.assumingMemoryBound(to: sockaddr.self)
            let count = unsafe AddressStorage.write(address, to: base)
            guard unsafe Glibc.bind(descriptor, name, count) == 0 else { return .failure(SocketError(latest: "bind")) }
            var room = socklen_t(bytes.count)
            guard unsafe getsockname(descriptor, name, &room) == 0 else {
                return .failure(SocketError(latest: "getsockname"))
            }
            return .success(unsafe AddressStorage.read(base) ?? address)
        }
        return try outcome.get()
    }
}
