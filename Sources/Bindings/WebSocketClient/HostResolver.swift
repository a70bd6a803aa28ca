internal import Glibc
internal import Primitives
internal import Sockets

/// Finds the addresses of hosts (getaddrinfo(3)), each on a thread of its own, which ends with the answer.
enum HostResolver {
    /// Resolves a name, or reads an address. The answer is called on another thread.
    ///
    /// - Throws: `SocketError` if no thread can be started.
    static func resolve(
        _ host: String, _ answer: @escaping @Sendable (Result<[IPAddress], WebSocketFailure>) -> Void
    ) throws(SocketError) {
        // It is detached at once, and goes on by itself.
        _ = try WorkerThread(name: "resolve") { answer(Self.addresses(of: host)) }
    }

    private static func addresses(of host: String) -> Result<[IPAddress], WebSocketFailure> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, nil, &hints, &list)
        guard result == 0 else {
            return .failure(.unresolved(unsafe String(cString: gai_strerror(result))))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe Self.address(entry.pointee), !found.contains(address) { found.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        return found.isEmpty ? .failure(.unresolved("it has no address")) : .success(found)
    }

    private static func address(_ entry: addrinfo) -> IPAddress? {
        guard let pointer = unsafe entry.ai_addr else { return nil }
        let storage = UnsafeRawPointer(pointer)
        switch unsafe entry.ai_family {
        case AF_INET:
            return IPAddress(v4: UInt32(bigEndian: unsafe storage.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6:
            return IPAddress(
                v6: UInt64(bigEndian: unsafe storage.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt64(bigEndian: unsafe storage.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
        default: return nil
        }
    }
}
