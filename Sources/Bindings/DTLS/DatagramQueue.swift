internal import COpenSSL

/// Connects OpenSSL to the network: datagrams in and out, with their boundaries preserved.
///
/// The memory BIO of OpenSSL is a byte stream and would join datagrams.
@safe
final class DatagramQueue {
    /// The datagram that OpenSSL reads next. There is one at a time, because a datagram is consumed as soon as it is
    /// passed in.
    var incoming: [UInt8]?
    /// Whether OpenSSL has sent a datagram.
    private(set) var hasSent = false
    private var outgoing: [[UInt8]] = []
    private var outgoingStart = 0

    func popOutgoing() -> [UInt8]? {
        guard outgoingStart < outgoing.count else { return nil }
        defer {
            outgoingStart += 1
            if outgoingStart == outgoing.count {
                outgoing = []
                outgoingStart = 0
            }
        }
        return outgoing[outgoingStart]
    }

    /// A BIO that reads from and writes to this queue, which must outlive it.
    func makeBIO() -> OpaquePointer? {
        guard let bio = unsafe BIO_new(Self.method.pointer) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// The method of these BIOs, made once per process.
    @safe
    private struct Method: @unchecked Sendable {  // never written after its creation
        let pointer: OpaquePointer
    }

    private static let method: Method = {
        guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams") else {
            preconditionFailure("memory for one BIO method")
        }
        unsafe BIO_meth_set_read(method) { bio, buffer, size in
            guard let queue = unsafe queue(of: bio), let buffer = unsafe buffer else { return -1 }
            unsafe copenssl_bio_clear_retry(bio)
            guard let datagram = queue.incoming else {
                unsafe copenssl_bio_retry_read(bio)
                return -1
            }
            queue.incoming = nil
            let count = min(datagram.count, Int(size))
            unsafe datagram.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(buffer).copyMemory(from: base, byteCount: count)
            }
            return Int32(count)
        }
        unsafe BIO_meth_set_write(method) { bio, buffer, size in
            guard let queue = unsafe queue(of: bio), let buffer = unsafe buffer, size > 0 else { return -1 }
            queue.hasSent = true
            unsafe queue.outgoing.append([UInt8](UnsafeRawBufferPointer(start: buffer, count: Int(size))))
            return size
        }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in
            command == BIO_CTRL_FLUSH || command == BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT ? 1 : 0
        }
        return unsafe Method(pointer: method)
    }()

    private static func queue(of bio: OpaquePointer?) -> DatagramQueue? {
        unsafe BIO_get_data(bio).map { unsafe Unmanaged<DatagramQueue>.fromOpaque($0).takeUnretainedValue() }
    }
}
