import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Asks the administration interface of a gateway, over its Unix socket or a URL.
package struct AdminClient: Sendable {
    /// Where the interface is.
    package enum Place: Equatable, Sendable {
        /// A Unix socket on this machine.
        case socket(String)
        /// A TCP port.
        case network(host: String, port: Int, usesTLS: Bool)
    }

    /// Why there is no answer, or it is a refusal, in words for the operator.
    package struct Failure: Error, CustomStringConvertible {
        /// One line for standard error.
        package var description: String
        /// The code of the refusal, such as `user.not_found`; `nil`: the gateway did not answer.
        package var code: String?
        /// Whether nobody listens at the place.
        package var isAbsent = false

        /// Makes a failure of its parts.
        package init(description: String, code: String? = nil, isAbsent: Bool = false) {
            self.description = description
            self.code = code
            self.isAbsent = isAbsent
        }
    }

    /// An answer.
    package struct Answer: Sendable {
        /// The HTTP status.
        package var status: Int
        /// The media type.
        package var contentType: String
        /// The body.
        package var body: [UInt8]
    }

    /// Where the interface is.
    package let place: Place
    private let token: String?
    private let trustsAnyCertificate: Bool
    private let root: String

    /// Makes a client; it connects for each request.
    ///
    /// - Parameters:
    ///   - token: a bearer token; `nil`: none is sent, which is enough for root and the gateway's user on the socket.
    ///   - trustsAnyCertificate: whether the certificate is not verified.
    ///   - root: what paths are below.
    package init(_ place: Place, token: String?, trustsAnyCertificate: Bool = false, root: String = "/admin/v1") {
        self.place = place
        self.token = token
        self.trustsAnyCertificate = trustsAnyCertificate
        self.root = root
    }

    /// Reads a place from a URL, such as `https://gateway.example.com:8444`.
    ///
    /// - Parameter port: the port of a URL that names none; `nil`: that of the scheme.
    /// - Throws: ``Failure`` if it is no URL of that form.
    package static func place(url text: String, port: Int? = 8444) throws(Failure) -> Place {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host(), ["", "/"].contains(url.path())
        else { throw Failure(description: "\(text) is no URL of the form https://HOST:PORT") }
        return .network(
            host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
            port: url.port ?? port ?? (scheme == "https" ? 443 : 80),
            usesTLS: scheme == "https")
    }

    /// Sends a request and returns the answer to it.
    ///
    /// - Parameters:
    ///   - path: the path below the root, with the query.
    ///   - body: a JSON body, or that of an import.
    ///   - accept: the media type that is wanted; `nil`: whatever the gateway sends.
    /// - Throws: ``Failure`` for a refusal, or if there is no answer.
    package func ask(
        _ method: String, _ path: String, _ body: [UInt8]? = nil, contentType: String = "application/json",
        accept: String? = nil
    ) async throws(Failure) -> Answer {
        var answer = Answer(status: 0, contentType: "", body: [])
        let fields = [("Connection", "close")] + (accept.map { [("Accept", $0)] } ?? [])
        try await exchange(method, path, body, contentType: contentType, fields) { part in
            switch part {
            case .head(let head):
                answer.status = Int(head.status.code)
                answer.contentType = head.headers.first(name: "content-type") ?? ""
            case .body(let bytes): answer.body += bytes.readableBytesView
            case .end: break
            }
        }
        if let failure = Failure(answer) { throw failure }
        return answer
    }

    /// Sends a request and hands on the body of the answer as it comes, until it ends.
    ///
    /// - Throws: ``Failure`` for a refusal, or if there is no answer.
    package func follow(_ path: String, _ receive: ([UInt8]) throws -> Void) async throws(Failure) {
        var answer = Answer(status: 0, contentType: "", body: [])
        try await exchange("GET", path, nil, contentType: "") { part in
            switch part {
            case .head(let head):
                answer.status = Int(head.status.code)
                answer.contentType = head.headers.first(name: "content-type") ?? ""
            case .body(let bytes):
                if answer.status == 200 {
                    try receive(Array(bytes.readableBytesView))
                } else {
                    answer.body += bytes.readableBytesView
                }
            case .end: break
            }
        }
        if let failure = Failure(answer) { throw failure }
    }

    /// Asks for a WebSocket (RFC 6455 §4.1), and returns the status of the answer.
    ///
    /// - Throws: ``Failure`` if there is no answer.
    package func askForWebSocket(_ path: String) async throws(Failure) -> Int {
        var status = 0
        // The key is that of RFC 6455 §1.3: nothing is sent over the channel.
        let fields = [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ]
        try await exchange("GET", path, nil, contentType: "", fields) { part in
            if case .head(let head) = part { status = Int(head.status.code) }
        }
        return status
    }

    // MARK: - Private

    private func exchange(
        _ method: String, _ path: String, _ body: [UInt8]?, contentType: String,
        _ fields: [(String, String)] = [("Connection", "close")],
        _ receive: (HTTPClientResponsePart) throws -> Void
    ) async throws(Failure) {
        var hasAnswered = false
        do {
            let channel = try await connect()
            try await channel.executeThenClose { inbound, outbound in
                var parts = [HTTPClientRequestPart.head(head(method, path, body, contentType: contentType, fields))]
                if let body { parts.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
                // In one write: the server may answer a head without a body, and close, before the end is written.
                // Where the connection fails before the write, as in its TLS handshake, only reading says why.
                let unwritten: (any Error)?
                do {
                    try await outbound.write(contentsOf: parts + [.end(nil)])
                    unwritten = nil
                } catch {
                    unwritten = error
                }
                for try await part in inbound {
                    hasAnswered = true
                    try receive(part)
                    if case .end = part { break }
                }
                if let unwritten, !hasAnswered { throw unwritten }
            }
        } catch let failure as Failure {
            throw failure
        } catch let error as IOError {
            let isAbsent = [ECONNREFUSED, ENOENT].contains(error.errnoCode)
            throw Failure(description: "\(name) cannot be reached: \(error)", isAbsent: isAbsent)
        } catch is NIOConnectionError {
            throw Failure(description: "nothing listens on \(name)", isAbsent: true)
        } catch {
            throw Failure(description: "\(name) cannot be reached: \(error)")
        }
        guard hasAnswered else { throw Failure(description: "\(name) closed the connection without an answer") }
    }

    private func head(
        _ method: String, _ path: String, _ body: [UInt8]?, contentType: String, _ fields: [(String, String)]
    ) -> HTTPRequestHead {
        var headers = HTTPHeaders([("Host", host)] + fields)
        if let token { headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let body {
            headers.add(name: "Content-Type", value: contentType)
            headers.add(name: "Content-Length", value: String(body.count))
        }
        return HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: method), uri: root + path, headers: headers)
    }

    private var host: String {
        switch place {
        case .socket: "localhost"
        case .network(let host, let port, _): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    private var name: String {
        switch place {
        case .socket(let path): path
        case .network(let host, let port, _): "\(host):\(port)"
        }
    }

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    private func connect() async throws -> Connection {
        let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(.seconds(10))
        switch place {
        case .socket(let path):
            return try await bootstrap.connect(unixDomainSocketPath: path) { Self.setUp($0, tls: nil, host: nil) }
        case .network(let host, let port, let usesTLS):
            var configuration = TLSConfiguration.makeClientConfiguration()
            if trustsAnyCertificate { configuration.certificateVerification = .none }
            let tls = usesTLS ? try NIOSSLContext(configuration: configuration) : nil
            return try await bootstrap.connect(host: host, port: port) { Self.setUp($0, tls: tls, host: host) }
        }
    }

    private static func setUp(
        _ channel: any Channel, tls: NIOSSLContext?, host: String?
    ) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            if let tls {
                // An address is no name of a server (RFC 6066 §3).
                let name = host.flatMap { (try? SocketAddress(ipAddress: $0, port: 0)) == nil ? $0 : nil }
                try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
            }
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            return try Connection(wrappingChannelSynchronously: channel)
        }
    }
}

extension AdminClient.Failure {
    /// The failure of a refusal; `nil` for a success.
    fileprivate init?(_ answer: AdminClient.Answer) {
        guard !(200..<300).contains(answer.status) else { return nil }
        struct Problem: Decodable {
            var detail: String
            var code: String
        }
        guard let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body)) else {
            self.init(description: "the gateway answered with status \(answer.status)")
            return
        }
        self.init(description: problem.detail, code: problem.code)
    }
}

extension String {
    /// The text as one segment of a path, or one value of a query (RFC 3986 §2.3).
    package var escapedForURL: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~@"))) ?? self
    }
}
