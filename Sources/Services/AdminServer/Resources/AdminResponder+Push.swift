import CallControl
import CallRuntime
import GatewayAPI
import Primitives
import Push

/// Registrations for push.
extension AdminResponder {
    static let trialFields = ["kind"]

    func listPushRegistrations(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let page = try PageRequest(call.parameters, of: .listPushRegistrations, parts: 1)
        var user: UserAddress?
        if let text = call.parameters["user"] {
            guard let address = UserAddress(parsing: text) else {
                throw AdminError(.requestInvalidParameter, "The parameter \"user\" must be an address, user@domain.")
            }
            user = address
        }
        let read = await push.page(of: user, after: page.after.map { PushDeviceID($0[0]) }, limit: page.limit + 1)
        return .json(
            Page(read.map { PushRegistrationField($0) }, page, of: .listPushRegistrations) { [$0.id] })
    }

    func removePushRegistration(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let id = call.values["id"] ?? ""
        guard let removed = await push.remove(PushDeviceID(id), of: nil, at: nil) else {
            throw Self.noSuchRegistration
        }
        if let user = UserAddress(parsing: removed.user) {
            pushNews.pushInvalidated(removed, of: user, because: "removed by an operator")
        }
        try await durable()
        return .json(["removed": id])
    }

    func testPushRegistration(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let fields = try BodyFields(parsing: call.body, known: Set(Self.trialFields))
        let word = try fields.text("kind") ?? PushTrialKind.call.rawValue
        guard let kind = PushTrialKind(rawValue: word) else {
            let words = PushTrialKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw AdminError(.requestInvalidValue, "The field \"kind\" must be one of \(words).")
        }
        let id = call.values["id"] ?? ""
        guard let outcome = await pushTrial.tryOut(PushDeviceID(id), with: kind) else {
            throw Self.noSuchRegistration
        }
        return .json(PushTrialField(outcome))
    }

    private static let noSuchRegistration = AdminError(
        .pushNotFound, "There is no such registration; GET /push-registrations lists those that there are.")
}

/// A registration for push as operators see it, without its tokens.
struct PushRegistrationField: Encodable, Equatable, Sendable {
    var id: String
    var user: String
    var provider: String
    var bundleID: String
    var realm: String
    var services: [String]
    /// The name that the device gave itself.
    var name: String?
    /// Apple: whether the tokens are of the production environment.
    var production: Bool?
    /// The first characters of each token, or the host of the URL.
    var targets: [String]
    /// When the device last registered, milliseconds since 1970.
    var registeredAt: UInt64

    init(_ stored: StoredPushRegistration) {
        let registration = stored.registration
        id = registration.id
        user = registration.user
        provider = registration.provider.rawValue
        bundleID = registration.bundleID
        realm = registration.realm
        services = registration.services
        name = registration.clientCorrelator
        registeredAt = stored.time
        switch registration.target {
        case .apple(let tokens):
            production = tokens.isProduction
            targets = [tokens.voip, tokens.standard].compactMap { $0.map { PushDeviceField.shortened($0.value) } }
        case .google(let token): targets = [PushDeviceField.shortened(token.value)]
        case .webhook(let url): targets = [PushDeviceField.host(of: url)]
        }
    }
}

/// What has become of a push that tried a registration out.
struct PushTrialField: Encodable, Equatable, Sendable {
    var delivered: Bool
    /// A sentence for people.
    var detail: String

    init(_ outcome: PushOutcome) {
        if case .delivered = outcome { delivered = true } else { delivered = false }
        detail = "\(outcome)"
    }
}
