package import Registration

/// `subscribeRequest` of `POST` and `PUT` (spidr-wire §3.1, §3.2).
///
/// Fields that this gateway does not use (`localization`, `clientIp`, …) are ignored.
package struct SubscribeRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "subscribeRequest"

    /// The wished life time in seconds, 1 to 999,999,999. `nil`: `registration.default_expires`.
    package var expires: Int?
    /// The wished services, such as `call`; compared without case. Empty in `PUT`: the services stay as they are.
    package var service: [String]
    /// How notifications are delivered: `nil`, `WebSocket` or `LongPolling`, without case. How long a poll waits
    /// (`pollingTimer`) is the gateway's choice.
    package var notificationType: String?
    /// Features of the device; `RingingFeedback` if it reports `ringing` by itself (spidr-wire §6.5).
    package var supported: [String]
    /// Whether the user's other subscriptions end.
    package var forceLogOut: Bool
    /// The name of the device. A new subscription replaces an older one with the same name. `nil`: no name.
    package var clientCorrelator: String?
    /// Whether the client asks for TURN credentials.
    package var useTurn: Bool

    /// Makes a request of its parts; each parameter is the property of that name.
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

    /// Reads a request. Numbers and booleans may come as strings (spidr-wire §1.3); of the fields only `service` is
    /// required.
    ///
    /// - Throws: `DecodingError` if `service` is missing, or a field has the wrong type.
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
    /// Whether the client asks for notifications by long polls (spidr-wire §4.5).
    package var isLongPolling: Bool { notificationType?.lowercased() == "longpolling" }

    /// The range of `expires`, in seconds.
    private static let expiryRange = 1...999_999_999

    /// The request in the terms of registration.
    ///
    /// - Throws: a fault for another type of notifications than these two, or if `expires` is out of range.
    package func subscriptionRequest() throws(RequestFault) -> SubscriptionRequest {
        if let notificationType, notificationType.lowercased() != "websocket", !isLongPolling {
            throw .unsupportedNotificationType(notificationType)
        }
        if let expires, !Self.expiryRange.contains(expires) {
            throw .invalidExpiry(limit: Self.expiryRange.upperBound)
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
