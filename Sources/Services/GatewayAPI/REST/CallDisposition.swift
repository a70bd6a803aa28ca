package import CallControl

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

    /// What the callee does with the call instead of answering it.
    ///
    /// - Parameter defaultDomain: completes names and telephone numbers without a domain.
    /// - Throws: `request.invalid_value` for another action, or an address that cannot be read; `request.missing_field`
    ///   if `forward` has no address.
    package func disposition(defaultDomain: String) throws(APIError) -> CallRequest {
        switch action {
        case "reject": return .command(SessionID(sessionData), .reject(replacement: false))
        case "forward":
            guard let address, !address.isEmpty else {
                throw APIError(
                    .requestMissingField,
                    "The field \"callDispositionRequest.address\" is missing; \"forward\" needs it.")
            }
            guard let target = UserAddress(parsing: address, defaultDomain: defaultDomain) else {
                throw APIError(
                    .requestInvalidValue,
                    "The field \"callDispositionRequest.address\" is not an address such as sip:ann@example.com.")
            }
            return .forward(SessionID(sessionData), to: target)
        default:
            throw APIError(
                .requestInvalidValue, "The field \"callDispositionRequest.action\" must be \"reject\" or \"forward\".")
        }
    }
}

/// The answer to a call disposition that was carried out (spidr-wire §6.4).
///
/// `{"callDispositionResponse": {"statusCode": 0}}`
package struct CallDispositionResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "callDispositionResponse"
    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0

    /// Makes the answer, which has no other content.
    package init() {}
}

extension CallDispositionRequest: JSONWritable {
    /// Writes the request as clients do; `address` is left out if it is `nil`.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("action", action)
            object.member("sessionData", sessionData)
            object.member("address", address)
        }
    }
}

extension CallDispositionResponse: JSONWritable {
    /// Writes the one member.
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("statusCode", statusCode) }
    }
}
