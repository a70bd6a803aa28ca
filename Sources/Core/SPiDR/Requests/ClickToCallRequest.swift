import CallControl

/// `clickToCallRequest`: the gateway is to call the user, and then to connect the user with a target (spidr-wire §10).
package struct ClickToCallRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "clickToCallRequest"

    /// The user who is called first; `nil`: the user who asks, who is the only one possible.
    package var callingParty: String?
    /// The address with which the user is connected.
    package var calledParty: String

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(callingParty: String? = nil, calledParty: String) {
        self.callingParty = callingParty
        self.calledParty = calledParty
    }

    /// The target of the call.
    ///
    /// - Parameters:
    ///   - user: the user who asks.
    ///   - defaultDomain: completes names and telephone numbers without a domain.
    func target(of user: UserAddress, defaultDomain: String) throws(RequestFault) -> UserAddress {
        if let callingParty, UserAddress(parsing: callingParty, defaultDomain: defaultDomain) != user {
            throw .unusable(
                field: "\(Self.wrapper).callingParty", reason: "must be your own address, such as \(user)")
        }
        guard let target = UserAddress(parsing: calledParty, defaultDomain: defaultDomain) else {
            throw .unusable(
                field: "\(Self.wrapper).calledParty", reason: "is not an address such as sip:ann@example.com")
        }
        return target
    }
}
