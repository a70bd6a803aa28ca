import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Observability
import Primitives

extension HTTPField.Name {
    fileprivate static let xRequestedWith = Self("X-Requested-With")!
}

/// Turns requests into answers: finds the endpoint, authenticates, and calls the switchboard.
struct SignalingResponder: Sendable {
    let switchboard: any Switchboard
    let registrar: any Registrar
    let records: any CallRecords
    let services: any UserServices
    let authenticator: Authenticator
    /// Checks bearer tokens; `nil`: they are not offered.
    let tokens: TokenAuthenticator?
    /// Checks tokens of applications; `nil`: there is no database with applications.
    let applications: ApplicationAuthenticator?
    let guests: GuestAuthenticator
    /// Answers below `/v1/`, and checks who asks; `nil`: nothing does.
    let v1: V1Gate?
    let metrics: GatewayMetrics
    let draining: DrainingFlag
    /// The users whose database `/ready` asks for; `nil`: there is no database to ask.
    let users: WatchedUsers?
    /// The address books; `nil`: there is no database.
    let books: (any AddressBookRepository)?
    let bookLimits: AddressBookLimits
    /// The routes of users; `nil`: there is no database.
    let routes: (any RouteRepository)?
    /// The registrations for push; `nil`: they are not offered.
    let push: (any PushRegistrar)?
    let journal: any Journal
    let polls: PollDirectory
    /// Whether `/metrics` is refused here, because another listener, which outsiders do not reach, serves it.
    var hidesMetrics = false
    /// The pages by their paths, `/` included.
    let pages: [String: Page]
    /// What answers below a path of the pages; `nil`: nothing does.
    let pageService: (any PageService)?
    let limits: BodyLimits
    let defaultDomain: String
    let turn: SignalingConfiguration.TURN?
    /// How long a long poll waits for a notification.
    let pollTime: Duration
    let clock: any RuntimeClock
    let logger: Logger

    /// An answer, and the ticket of what waits until the answer has been written (spidr-wire §4.3).
    struct Reply {
        var answer: Answer
        var ticket: RequestTicket?
    }

    func respond(to request: Request, from requester: Requester) async -> Reply {
        var ticket: RequestTicket?
        var endpoint: Endpoint?
        var answer: Answer
        if let v1, V1Gate.serves(request.uri.path) {
            return Reply(answer: await self.answer(request, by: v1, from: requester))
        }
        do throws(Refusal) {
            let route = try Route(parsing: request.uri.path)
            endpoint = route.endpoint
            answer = try await self.answer(request, route, from: requester, &ticket)
        } catch {
            // Without an answer to its preflight, a browser would not show the refusal to its page either.
            answer = request.method == .options ? .options(nil) : .refusal(error, at: endpoint)
            // Deviation: RFC 9110 §15.5.2 requires a challenge with every 401. A script says by itself what is wrong. A
            // browser would put its own window in front of the page, and send what is typed there with later requests
            // of any page.
            if request.headers[.xRequestedWith] != nil { answer.headers[.wwwAuthenticate] = nil }
        }
        noteAnswer(answer.status.code, to: request.method, at: endpoint?.template ?? "-")
        // The length stays: it says what GET would have returned (RFC 9110 §9.3.2).
        if request.method == .head { answer.body.clear() }
        return Reply(answer: answer, ticket: ticket)
    }

    /// Counts and logs a request that is answered.
    func noteAnswer(_ status: Int, to method: HTTPRequest.Method, at route: String) {
        metrics.httpRequests[HTTPStatusClass(status: status)].increment()
        logger.debug(
            "request answered",
            metadata: [
                LogKey.method: "\(method.rawValue)", LogKey.route: "\(route)", LogKey.status: "\(status)",
            ])
    }

    private func answer(
        _ request: Request, _ route: Route, from requester: Requester, _ ticket: inout RequestTicket?
    ) async throws(Refusal) -> Answer {
        if request.method == .options { return .options(route.endpoint) }
        if route.endpoint == .page, let answer = try await answerOfPageService(request) { return answer }
        guard route.endpoint.allows(request.method) else {
            let reason = "\(request.method.rawValue) is not possible here; use \(route.endpoint.allow)."
            throw Refusal(APIError(.resourceMethodNotAllowed, reason), in: route.endpoint.errorForm)
        }
        switch route.endpoint.target {
        case .client(let resource, let audience):
            return try await answer(request, route, resource, audience, from: requester, &ticket)
        case .channel:
            // A complete upgrade request never gets here.
            throw Refusal(
                APIError(.channelUpgradeRequired, "Open this channel as a WebSocket, on a connection of its own."),
                in: route.endpoint.errorForm)
        case .poll(let audience):
            do throws(APIError) {
                return try await poll(request, route, audience, from: requester)
            } catch {
                throw Refusal(error, in: route.endpoint.errorForm)
            }
        case .applicationTokens:
            return try await issueToken(request, route, from: requester)
        case .operational(let resource):
            return try await answer(request, resource)
        }
    }

    private func answer(
        _ request: Request, _ route: Route, _ resource: ClientResource, _ audience: Endpoint.Audience,
        from requester: Requester, _ ticket: inout RequestTicket?
    ) async throws(Refusal) -> Answer {
        let principal: Principal
        do throws(APIError) {
            principal = try await self.principal(of: request, route, audience, from: requester)
        } catch {
            throw Refusal(error, in: route.endpoint.errorForm(of: error))
        }
        let exchange = try await RequestExchange(request, route, from: requester, limits: limits) { _ in principal }
        do throws(APIError) {
            // An operation says by its body whether it changes anything.
            let isRead = request.method == .get || request.method == .head
            if isRead || (resource, request.method) == (.call, .put) {
                return try await answer(exchange, resource, &ticket)
            }
            return try await durably { () async throws(APIError) in try await answer(exchange, resource, &ticket) }
        } catch {
            throw Refusal(error, in: route.endpoint.errorForm(of: error))
        }
    }

    /// Carries out a request that changes something, and returns its answer once what it has caused is durable. While
    /// nothing can be kept, the request is refused before anything is decided.
    func durably(_ answer: () async throws(APIError) -> Answer) async throws(APIError) -> Answer {
        guard !journal.isFailing else { throw .journalUnavailable }
        let answer = try await answer()
        do throws(StorageError) {
            try await journal.durable()
        } catch {
            throw .journalUnavailable
        }
        return answer
    }

    private func answer(
        _ exchange: RequestExchange, _ resource: ClientResource, _ ticket: inout RequestTicket?
    ) async throws(APIError) -> Answer {
        switch (resource, exchange.method) {
        case (.subscriptions, _): try await subscribe(exchange, &ticket)
        case (.subscription, .put): try await extend(exchange, &ticket)
        case (.deviceSubscription, _): try await extendDevice(exchange, &ticket)
        case (.subscription, _): try await unsubscribe(exchange, &ticket)
        case (.calls, _): try await createCall(exchange, &ticket)
        case (.callSessions, _): try await queryCalls(exchange)
        case (.call, .put): try await operate(exchange, &ticket)
        case (.call, .delete): try await endCall(exchange, &ticket)
        case (.call, _): try await queryState(exchange, &ticket)
        case (.callMedia, _): try await operateMedia(exchange, &ticket)
        case (.callStatistics, _): try await queryStatistics(exchange)
        case (.dispositions, _): try await dispose(exchange, &ticket)
        case (.logHistory, .delete): try await clearLog(exchange)
        case (.logHistory, _): try await queryLog(exchange)
        case (.logRecord, .delete): try await removeRecord(exchange)
        case (.logRecord, _): try await queryRecord(exchange)
        case (.directory, _): try await searchDirectory(exchange)
        case (.userProfile, _): try await queryProfile(exchange)
        case (.messages, _): try await sendMessage(exchange, &ticket)
        case (.presence, _): try await setPresence(exchange, &ticket)
        case (.presenceWatcher, _): try await watchPresence(exchange, &ticket)
        case (.voicemail, _): try await queryVoicemail(exchange)
        case (.eventSubscriptions, _): try await subscribeToEvents(exchange, &ticket)
        case (.eventSubscription, .put): try await extendEvents(exchange, &ticket)
        case (.eventSubscription, _): try await unsubscribeFromEvents(exchange)
        case (.addressBook, _): try await queryAddressBook(exchange)
        case (.contacts, _): try await addContacts(exchange)
        case (.contact, .put): try await replaceContact(exchange)
        case (.contact, .delete): try await removeContact(exchange)
        case (.contact, _): try await queryContact(exchange)
        case (.routeList, .put): try await changeRoutes(exchange)
        case (.routeList, _): try await queryRoutes(exchange)
        case (.clickToCall, _): try await clickToCall(exchange, &ticket)
        case (.pushDevices(let provider), .post): try await registerPushDevice(exchange, with: provider)
        case (.pushDevices(let provider), _): try await queryPushDevices(exchange, with: provider)
        case (.pushDevice(let provider), .put): try await updatePushDevice(exchange, with: provider)
        case (.pushDevice(let provider), .delete): try await removePushDevice(exchange, with: provider)
        case (.pushDevice(let provider), _): try await queryPushDevices(exchange, with: provider, only: exchange.id)
        }
    }
}

extension APIError {
    /// The answer while nothing can be kept: what is answered must not be forgotten.
    static var journalUnavailable: APIError {
        APIError(
            .serviceUnavailable, "The gateway cannot keep anything now, for want of storage; try again later.",
            retryAfter: APIError.backOff)
    }
}
