package import CallControl

/// `subscribeRequest` of `POST` and `PUT` (spidr-wire §3.1, §3.2). Fields this gateway has no use for
/// (`localization`, `clientIp`, `pollingTimer`, …) are read over.
package struct SubscribeRequest: WireObject, Equatable {
    package static let wrapper = "subscribeRequest"

    /// Seconds.
    package var expires: Int?
    package var service: [String]
    package var notificationType: String?
    package var supported: [String]
    package var forceLogOut: Bool
    package var clientCorrelator: String?
    /// Wants credentials for TURN servers.
    package var useTurn: Bool

    package init(
        expires: Int? = nil, service: [String], notificationType: String? = nil, supported: [String] = [],
        forceLogOut: Bool = false,
        clientCorrelator: String? = nil, useTurn: Bool = false
    ) {
        self.expires = expires
        self.service = service
        self.notificationType = notificationType
        self.supported = supported
        self.forceLogOut = forceLogOut
        self.clientCorrelator = clientCorrelator
        self.useTurn = useTurn
    }

    private enum CodingKeys: String, CodingKey {
        case expires, service, notificationType, supported, forceLogOut, clientCorrelator, useTurn
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        expires = try fields.decodeLenientInteger(forKey: .expires)
        service = try fields.decode([String].self, forKey: .service)
        notificationType = try fields.decodeIfPresent(String.self, forKey: .notificationType)
        supported = try fields.decodeIfPresent([String].self, forKey: .supported) ?? []
        forceLogOut = try fields.decodeLenientBoolean(forKey: .forceLogOut) ?? false
        clientCorrelator = try fields.decodeIfPresent(String.self, forKey: .clientCorrelator)
        useTurn = try fields.decodeLenientBoolean(forKey: .useTurn) ?? false
    }
}

extension SubscribeRequest {
    private static let expiryRange = 1...999_999_999

    /// The request in the words of call handling; refuses what no service of this gateway could grant.
    package func subscriptionRequest() throws(APIError) -> SubscriptionRequest {
        if let notificationType, notificationType.lowercased() != "websocket" {
            throw APIError(
                .subscriptionUnsupportedNotificationType,
                "Notifications of the type \"\(notificationType)\" are not offered; use \"WebSocket\".")
        }
        if let expires, !Self.expiryRange.contains(expires) {
            throw APIError(
                .subscriptionInvalidExpiry, "\"expires\" must be between 1 and \(Self.expiryRange.upperBound) seconds.")
        }
        return SubscriptionRequest(
            expires: expires.map { .seconds($0) },
            services: service,
            sendsRingingFeedback: supported.contains { $0.lowercased() == "ringingfeedback" },
            forceLogOut: forceLogOut,
            clientCorrelator: clientCorrelator
        )
    }
}

extension SubscribeRequest: JSONWritable {
    /// As clients write it.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("expires", expires)
            object.member("service", service)
            object.member("notificationType", notificationType)
            object.member("supported", supported.isEmpty ? nil : supported)
            object.member("forceLogOut", forceLogOut ? "true" : nil)
            object.member("clientCorrelator", clientCorrelator)
            object.member("useTurn", useTurn ? true : nil)
        }
    }
}
