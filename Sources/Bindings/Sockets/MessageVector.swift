internal import CLinux
internal import Glibc
internal import Primitives

/// `capacity` message headers for recvmmsg and sendmmsg, each with one buffer and room for one address.
///
/// The headers point permanently into this memory and to their buffers. Per packet only lengths change and, for
/// sending, the buffer.
@safe
struct MessageVector: ~Copyable {
    let capacity: Int
    private let messages: UnsafeMutablePointer<clinux_message>
    private let buffers: UnsafeMutablePointer<iovec>
    private let addresses: UnsafeMutableRawPointer
    /// Keeps the 64-bit halves of the addresses aligned.
    private static let addressStride = 32

    init(capacity: Int) {
        self.capacity = capacity
        unsafe messages = .allocate(capacity: capacity)
        unsafe buffers = .allocate(capacity: capacity)
        unsafe addresses = .allocate(byteCount: capacity * Self.addressStride, alignment: Self.addressStride)
        unsafe addresses.initializeMemory(as: UInt8.self, repeating: 0, count: capacity * Self.addressStride)
        unsafe messages.initialize(repeating: clinux_message(), count: capacity)
        unsafe buffers.initialize(repeating: iovec(), count: capacity)
        for index in 0..<capacity {
            unsafe messages[index].header.msg_name = addresses + index * Self.addressStride
            unsafe messages[index].header.msg_namelen = socklen_t(AddressStorage.size)
            unsafe messages[index].header.msg_iov = buffers + index
            unsafe messages[index].header.msg_iovlen = 1
        }
    }

    deinit {
        unsafe messages.deallocate()
        unsafe buffers.deallocate()
        unsafe addresses.deallocate()
    }

    /// Sets the buffer of one message.
    @unsafe
    func setBuffer(_ index: Int, _ base: UnsafeMutableRawPointer, count: Int) {
        precondition(index >= 0 && index < capacity, "message index out of bounds")
        unsafe buffers[index] = iovec(iov_base: base, iov_len: count)
    }

    func setRemote(_ index: Int, _ remote: SocketAddress) {
        precondition(index >= 0 && index < capacity, "message index out of bounds")
        unsafe messages[index].header.msg_namelen = AddressStorage.write(
            remote, to: addresses + index * Self.addressStride)
    }

    func remote(_ index: Int) -> SocketAddress? {
        precondition(index >= 0 && index < capacity, "message index out of bounds")
        return unsafe AddressStorage.read(UnsafeRawPointer(addresses + index * Self.addressStride))
    }

    func count(_ index: Int) -> Int {
        precondition(index >= 0 && index < capacity, "message index out of bounds")
        return unsafe Int(messages[index].count)
    }

    /// Makes one message appear as received.
    func setReceived(_ index: Int, count: Int, from remote: SocketAddress) {
        setRemote(index, remote)
        unsafe messages[index].count = UInt32(count)
        unsafe messages[index].header.msg_flags = 0
    }

    func isTruncated(_ index: Int) -> Bool {
        precondition(index >= 0 && index < capacity, "message index out of bounds")
        return unsafe messages[index].header.msg_flags & Int32(MSG_TRUNC) != 0
    }

    /// Receives messages from the socket's queue. `used` is the number of messages that the last call filled. Returns
    /// the number of messages.
    func receive(from descriptor: Int32, resetting used: Int) -> Int {
        for index in 0..<used { unsafe messages[index].header.msg_namelen = socklen_t(AddressStorage.size) }
        while true {
            let received = unsafe clinux_receive(descriptor, messages, UInt32(capacity), Int32(MSG_DONTWAIT))
            if received >= 0 { return Int(received) }
            switch errno {
            // An ICMP error of an earlier transmission is reported here once; it does not concern the datagrams that
            // wait.
            case EINTR, ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: continue
            default: return 0
            }
        }
    }

    /// Sends the first `count` messages. Returns what became of them.
    ///
    /// Where one of them is larger than its path takes, it and those behind it may be fragmented. Another thread that
    /// sends on the same socket may end that, so one message is tried up to three times more.
    func send(_ count: Int, to descriptor: Int32) -> Transmissions {
        var result = Transmissions()
        var next = 0
        var mayFragment = false
        var retries = 0
        defer { if mayFragment { _ = clinux_allow_fragments(descriptor, 0) } }
        while next < count {
            let sent = unsafe clinux_send(
                descriptor, messages + next, UInt32(count - next), Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            if sent >= 0 {
                result.sent += Int(sent)
                next += Int(sent)
                retries = 0
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS:
                // The socket's buffer is full. Late media is useless, so it is dropped and not kept.
                result.congested += count - next
                return result
            case EMSGSIZE where retries < 3 && clinux_allow_fragments(descriptor, 1) == 0:
                // The same message is tried again.
                mayFragment = true
                retries += 1
            default:
                // Only the first of the remaining messages is at fault (sendmmsg(2)).
                result.failed += 1
                next += 1
                retries = 0
            }
        }
        return result
    }
}
