import CallRuntime
import HTTPTypes
import HummingbirdCore
import NIOCore
import Primitives

/// One request, from its head to the last byte of its answer, and the work that may start only after that.
struct HTTPExchange: Sendable {
    let responder: SignalingResponder
    let registrar: any Registrar
    let date: DateHeader
    let trustedProxies: TrustedProxies
    /// Whether trusted proxies tell their clients in PROXY headers.
    let readsProxyHeaders: Bool

    @concurrent
    func run(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        if request.expectsContinue, (request.announcedLength ?? 0) <= responder.limits.accepted {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        let reply = await responder.respond(to: request, from: await requester(of: request, on: channel))
        var head = HTTPResponse(status: reply.answer.status, headerFields: reply.answer.headers)
        head.headerFields.append(HTTPField(name: .date, value: date.value))
        // A client that comes back on another connection may find another gateway. No connection is then closed under a
        // later request.
        let isLast = reply.answer.closesConnection || responder.draining.isAnnounced
        // RFC 9112 §9.6; `RequestHeadFilter` has reduced the header to one word.
        if isLast || request.headers[.connection] == "close" { head.headerFields[.connection] = "close" }
        do {
            let body = reply.answer.body
            if let stream = reply.answer.stream {
                var output: any ResponseBodyWriter = try await writer.writeHead(head)
                for await bytes in stream { try await output.write(ByteBuffer(bytes: bytes)) }
                try await output.finish(nil)
            } else {
                let whole: ResponseBody = body.readableBytes == 0 ? .init() : .init(byteBuffer: body)
                try await writer.write(response: head, body: whole)
            }
        } catch {
            await finish(reply.ticket, on: channel)
            throw error
        }
        if reply.ticket != nil || isLast { await finish(reply.ticket, on: channel) }
        if isLast { throw ConnectionEnds() }
    }

    private func requester(of request: Request, on channel: any Channel) async -> Requester {
        let announced = readsProxyHeaders ? await channel.announcedSource : nil
        return Requester(
            trustedProxies.client(of: channel.sourceAddress, announcing: announced, request.headers),
            on: channel.remoteAddress
        ) { await channel.peerIsPresent }
    }

    /// Waits until the answer has been sent, and says so to the registrar. The writer hands its parts to the event
    /// loop, so the answer has been sent when the loop comes to what is queued behind them.
    ///
    /// This runs whether or not the client is still there.
    private func finish(_ ticket: RequestTicket?, on channel: any Channel) async {
        // Fails only when the loop has shut down. Then nothing is left to order.
        try? await channel.eventLoop.submit {}.get()
        if let ticket { await registrar.requestAnswered(ticket) }
    }
}

/// Makes the HTTP server close the connection after an answer.
private struct ConnectionEnds: Error {}

extension Channel {
    /// The address of the connection's own peer; no header can change it.
    var sourceAddress: IPAddress? {
        remoteAddress?.ipAddress.flatMap { IPAddress($0.prefix { $0 != "%" }) }
    }

    /// What a trusted proxy has told in a PROXY header; `nil`: there was none.
    fileprivate var announcedSource: ProxyHeader.Source? {
        get async {
            // Requests are served on this loop (see SignalingChannel), so this usually takes no time.
            if eventLoop.inEventLoop { return announcedSourceOnLoop }
            return try? await eventLoop.submit { self.announcedSourceOnLoop }.get()
        }
    }

    /// The same, on the connection's event loop only.
    var announcedSourceOnLoop: ProxyHeader.Source? {
        // The monitor is in the pipeline for as long as the connection is open.
        (try? pipeline.syncOperations.handler(type: ConnectionMonitor.self))?.announced
    }

    /// Whether a client still waits for the answer, as far as can be known before it is written.
    fileprivate var peerIsPresent: Bool {
        get async {
            let guarded = eventLoop.submit { [pipeline] in
                try pipeline.syncOperations.handler(type: ConnectionGuard.self).peerIsPresent
            }
            // The guard is in the pipeline for as long as the connection is open.
            return (try? await guarded.get()) ?? false
        }
    }
}
