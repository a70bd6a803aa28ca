package import CallControl
package import Registration

/// `eventSubscriptionRequest` of `POST …/eventSubscription` and `PUT …/eventSubscription/{sessionData}` (spidr-wire
/// §10).
package struct EventSubscriptionRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "eventSubscriptionRequest"

    /// The addresses of the users whom the events are about; `nil` or empty: the user who asks, or in `PUT` the same as
    /// before.
    package var subscribeUserList: [String]?
    /// The package of events, such as `event:presence`; not needed in `PUT`.
    package var eventType: String?
    /// How long the subscription is to last, in seconds; `nil`: the gateway decides.
    package var expires: Int?
    /// The device's name for itself; not used.
    package var clientCorrelator: String?

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(
        subscribeUserList: [String]? = nil, eventType: String? = nil, expires: Int? = nil,
        clientCorrelator: String? = nil
    ) {
        self.subscribeUserList = subscribeUserList
        self.eventType = eventType
        self.expires = expires
        self.clientCorrelator = clientCorrelator
    }

    private enum CodingKeys: String, CodingKey {
        case subscribeUserList, eventType, expires, clientCorrelator
    }

    /// Reads a request. `expires` may come as a string (spidr-wire §1.3).
    ///
    /// - Throws: `DecodingError` if a field has the wrong type.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        subscribeUserList = try fields.decodeIfPresent([String].self, forKey: .subscribeUserList)
        eventType = try fields.decodeIfPresent(String.self, forKey: .eventType)
        expires = try fields.decodeLenientInteger(forKey: .expires)
        clientCorrelator = try fields.decodeIfPresent(String.self, forKey: .clientCorrelator)
    }

    /// The range of `expires`, in seconds.
    private static let expiryRange = 1...999_999_999

    /// The package of events. It is compared without case.
    ///
    /// - Throws: a fault if it is missing; `unknownPackage`.
    package func kind() throws(RequestFault) -> EventPackage {
        guard let eventType, !eventType.isEmpty else {
            throw .missing(
                fields: ["\(Self.wrapper).eventType"],
                reason: "it is one of \(EventPackage.allCases.map(\.word).joined(separator: ", "))")
        }
        guard let kind = EventPackage.allCases.first(where: { $0.word == eventType.lowercased() }) else {
            throw .unknownPackage(eventType)
        }
        return kind
    }

    /// The users whom the events are about; empty if none is named.
    ///
    /// - Parameter defaultDomain: completes names without a domain.
    /// - Throws: a fault that names the item.
    package func users(defaultDomain: String) throws(RequestFault) -> [UserAddress] {
        try UserAddress.list(
            field: "\(Self.wrapper).subscribeUserList", subscribeUserList ?? [],
            limit: PresenceWatcherRequest.maximumUsers, defaultDomain: defaultDomain)
    }

    /// How long the subscription is to last; `nil`: the gateway decides.
    ///
    /// - Throws: a fault if `expires` is out of range.
    package func time() throws(RequestFault) -> Duration? {
        guard let expires else { return nil }
        guard Self.expiryRange.contains(expires) else {
            throw .unusable(
                field: "\(Self.wrapper).expires", reason: "must be between 1 and \(Self.expiryRange.upperBound) seconds"
            )
        }
        return .seconds(expires)
    }
}
