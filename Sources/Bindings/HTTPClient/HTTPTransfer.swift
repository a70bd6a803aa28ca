internal import CCurl
internal import Glibc
internal import Primitives

/// One transfer of libcurl. It is used for one request after the other, since its settings remain.
///
/// It is the context of libcurl's callbacks, which run while the client's thread is inside libcurl.
@safe
final class HTTPTransfer {
    /// libcurl's handle.
    let handle: UnsafeMutableRawPointer
    /// The request that it carries; `nil` between two.
    private(set) var submission: HTTPSubmission?
    /// The host of the request; `nil` between two.
    var host: HTTPHost?

    private let addresses: AddressGuard
    /// The lines of the header fields, as libcurl has them.
    private var fields: UnsafeMutablePointer<curl_slist>?
    /// How long each of them is.
    private var fieldLengths: [Int] = []
    private let errorText: UnsafeMutablePointer<CChar>
    /// What has come of the response; nothing between two requests.
    private var parts: HTTPResponseParts
    private var refused: IPAddress?
    private var hasOpenedSocket = false

    init(_ configuration: HTTPClient.Configuration) {
        guard let handle = unsafe curl_easy_init() else { preconditionFailure("memory for a transfer") }
        unsafe self.handle = handle
        unsafe fields = nil
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        addresses = configuration.addresses
        parts = HTTPResponseParts(limit: configuration.largestResponse, cutsContent: configuration.cutsContent)
        setUp(configuration)
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(fields)
        unsafe errorText.deallocate()
    }

    /// The settings that are the same for all requests.
    private func setUp(_ configuration: HTTPClient.Configuration) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe ccurl_set_pointer(handle, CURLOPT_PRIVATE, context)
        unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        unsafe ccurl_set_text(handle, CURLOPT_PROTOCOLS_STR, configuration.allowsPlainHTTP ? "https,http" : "https")
        unsafe ccurl_set_number(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        unsafe ccurl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        // A proxy of the environment would be what the guard judges, in place of the host.
        unsafe ccurl_set_text(handle, CURLOPT_PROXY, "")
        unsafe ccurl_set_number(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        unsafe ccurl_set_number(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        unsafe ccurl_set_number(handle, CURLOPT_NOSIGNAL, 1)
        // A resolver that hangs is left behind, so that it delays no other request.
        unsafe ccurl_set_number(handle, CURLOPT_QUICK_EXIT, 1)
        unsafe ccurl_set_number(
            handle, CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(configuration.connectTimeout.wholeNanoseconds / 1_000_000)))
        // Push providers want connections that last.
        unsafe ccurl_set_number(handle, CURLOPT_MAXAGE_CONN, 3_600)
        unsafe ccurl_set_number(handle, CURLOPT_TCP_KEEPALIVE, 1)
        unsafe ccurl_set_number(handle, CURLOPT_TCP_KEEPIDLE, 60)
        unsafe ccurl_set_number(handle, CURLOPT_TCP_KEEPINTVL, 15)
        if let file = configuration.authorityFile {
            unsafe ccurl_set_text(handle, CURLOPT_CAINFO, file)
            unsafe ccurl_set_text(handle, CURLOPT_CAPATH, nil)
        }
        unsafe setUpCallbacks(context)
    }

    private func setUpCallbacks(_ context: UnsafeMutableRawPointer) {
        unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        unsafe ccurl_set_body_function(handle) { bytes, size, count, context in
            guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
            let transfer = unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
            let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe transfer.parts.append(content: part) ? part.count : 0
        }
        unsafe ccurl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        unsafe ccurl_set_head_function(handle) { bytes, size, count, context in
            guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
            let transfer = unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
            let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe transfer.parts.append(line: line) ? line.count : 0
        }
        unsafe ccurl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
        unsafe ccurl_set_socket_function(handle) { context, _, address in
            guard let context = unsafe context, let address = unsafe address else { return CURL_SOCKET_BAD }
            return unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().openSocket(address)
        }
    }

    // MARK: A request

    /// Takes a request, of which `left` is left of its time.
    func prepare(_ submission: HTTPSubmission, left: Duration) {
        self.submission = submission
        _ = parts.take()
        (refused, hasOpenedSocket) = (nil, false)
        unsafe errorText.pointee = 0
        let request = submission.request
        unsafe ccurl_set_text(handle, CURLOPT_URL, request.url)
        // The handshake of TLS says whether a connection can be shared. Without TLS only the first response would.
        unsafe ccurl_set_number(handle, CURLOPT_PIPEWAIT, request.url.hasPrefix("https:") ? 1 : 0)
        // No more than a day: the number of milliseconds is a C int inside libcurl.
        let milliseconds = min(max(1, left.wholeNanoseconds / 1_000_000), 86_400_000)
        unsafe ccurl_set_number(handle, CURLOPT_TIMEOUT_MS, Int(milliseconds))
        setFields(request.fields)
        switch request.method {
        case .get:
            unsafe ccurl_set_number(handle, CURLOPT_HTTPGET, 1)
        case .post(let body):
            unsafe ccurl_set_number(handle, CURLOPT_POST, 1)
            unsafe body.withUnsafeBytes { bytes in
                // libcurl reads a content that is NULL from its standard input.
                _ = unsafe ccurl_set_body(
                    handle, bytes.isEmpty ? UnsafeRawPointer(errorText) : bytes.baseAddress, Int(bytes.count))
            }
        }
    }

    /// Sets the header fields. Requests to one service mostly have lines of the same lengths, which are written over.
    private func setFields(_ wanted: [HTTPField]) {
        if wanted.count == fieldLengths.count, zip(wanted, fieldLengths).allSatisfy({ $0.lineLength == $1 }) {
            var line = unsafe fields
            for field in wanted {
                guard let place = unsafe line else { return }
                for (index, byte) in field.line.utf8.enumerated() {
                    unsafe place.pointee.data[index] = CChar(bitPattern: byte)
                }
                unsafe line = place.pointee.next
            }
            return
        }
        var list: UnsafeMutablePointer<curl_slist>?
        for field in wanted { unsafe list = curl_slist_append(list, field.line) }
        unsafe ccurl_set_fields(handle, list)
        unsafe curl_slist_free_all(fields)
        unsafe fields = list
        fieldLengths = wanted.map(\.lineLength)
    }

    /// Ends the request, and returns it with what has become of it.
    func finish(_ result: CURLcode) -> (HTTPSubmission, Result<HTTPResponse, HTTPFailure>) {
        guard let submission else { preconditionFailure("a transfer ends once for a request") }
        self.submission = nil
        return (submission, outcome(result, parts.take()))
    }

    private func outcome(
        _ result: CURLcode, _ parts: HTTPResponseParts.Taken
    ) -> Result<HTTPResponse, HTTPFailure> {
        // What is cut ends as a failure of the callback that has refused it.
        guard result == CURLE_OK || parts.isCut else {
            return .failure(parts.isTooLarge ? .responseTooLarge : failure(result))
        }
        var (status, version) = (0, 0)
        unsafe ccurl_get_status(handle, &status)
        unsafe ccurl_get_version(handle, &version)
        var response = HTTPResponse(
            status: status, isHTTP2: version == Int(CURL_HTTP_VERSION_2_0), head: parts.head, content: parts.content)
        response.isCut = parts.isCut
        return .success(response)
    }

    private func failure(_ result: CURLcode) -> HTTPFailure {
        switch result {
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: .unusableURL(text(result))
        case CURLE_COULDNT_RESOLVE_HOST: .unresolved(text(result))
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            .untrusted(text(result))
        case CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR:
            if let refused, !hasOpenedSocket { .refusedAddress(refused) } else { .notConnected(text(result)) }
        default: .connectionLost(text(result))
        }
    }

    /// What libcurl says about the failure, for people.
    private func text(_ result: CURLcode) -> String {
        let own = unsafe String(cString: errorText)
        return own.isEmpty ? unsafe String(cString: curl_easy_strerror(result)) : own
    }

    // MARK: Callbacks

    /// Opens the socket for a connection, or refuses the address.
    private func openSocket(_ wanted: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let address = unsafe Self.address(wanted), addresses.permits(address) else {
            refused = unsafe Self.address(wanted)
            return CURL_SOCKET_BAD
        }
        hasOpenedSocket = true
        let descriptor = unsafe socket(
            wanted.pointee.family, wanted.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), wanted.pointee.protocol)
        guard descriptor >= 0 else { return CURL_SOCKET_BAD }
        // A connection whose bytes nobody acknowledges ends, and its requests are sent over another one.
        var milliseconds: UInt32 = 10_000
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<UInt32>.size))
        return descriptor
    }

    private static func address(_ wanted: UnsafeMutablePointer<curl_sockaddr>) -> IPAddress? {
        guard let storage = unsafe ccurl_address(wanted) else { return nil }
        switch unsafe wanted.pointee.family {
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

extension HTTPField {
    /// The field as libcurl takes it. A name with a colon and nothing after it would be the wish to leave it out.
    fileprivate var line: String { value.isEmpty ? "\(name);" : "\(name): \(value)" }
    /// The length of `line` in bytes.
    fileprivate var lineLength: Int { name.utf8.count + (value.isEmpty ? 1 : 2 + value.utf8.count) }
}
