import CallControl

/// `callDispositionRequest`: the callee rejects or forwards a call that rings (spidr-wire §6.4).
package struct CallDispositionRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "callDispositionRequest"

    /// `reject` or `forward`.
    package var action: String
    /// The callee's leg of the ringing call.
    package var sessionData: String
    /// In `forward`: the address that is rung instead. `nil` in `reject`.
    package var address: String?

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(action: String, sessionData: String, address: String? = nil) {
        self.action = action
        self.sessionData = sessionData
        self.address = address
    }

    /// The address of `forward`.
    ///
    /// - Parameter defaultDomain: completes names and telephone numbers without a domain.
    func target(defaultDomain: String) throws(RequestFault) -> UserAddress {
        guard let address, !address.isEmpty else { throw .missing("\(Self.wrapper).address", in: "forward") }
        guard let target = UserAddress(parsing: address, defaultDomain: defaultDomain) else {
            throw .unusable(field: "\(Self.wrapper).address", reason: "is not an address such as sip:ann@example.com")
        }
        return target
    }
}
