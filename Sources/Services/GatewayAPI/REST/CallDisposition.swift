package import CallControl

/// `callDispositionRequest` (spidr-wire §6.4).
package struct CallDispositionRequest: WireObject, Equatable {
    package static let wrapper = "callDispositionRequest"

    package var action: String
    package var sessionData: String
    /// Of `forward`: who is rung instead.
    package var address: String?

    package init(action: String, sessionData: String, address: String? = nil) {
        self.action = action
        self.sessionData = sessionData
        self.address = address
    }

    /// What becomes of the session.
    ///
    /// - Parameter defaultDomain: completes names and telephone numbers without one.
    package func disposition(defaultDomain: String) throws(APIError) -> CallDisposition {
        switch action {
        case "reject": return .reject(SessionID(sessionData))
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

/// What a callee does with a call instead of answering it.
package enum CallDisposition: Equatable, Sendable {
    case reject(SessionID)
    case forward(SessionID, to: UserAddress)

    /// The callee's session.
    package var session: SessionID {
        switch self {
        case .reject(let session), .forward(let session, _): session
        }
    }
}

/// `{"callDispositionResponse": {"statusCode": 0}}`
package struct CallDispositionResponse: WireObject, Equatable {
    package static let wrapper = "callDispositionResponse"
    package var statusCode = 0

    package init() {}
}

extension CallDispositionRequest: JSONWritable {
    /// As clients write it.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("action", action)
            object.member("sessionData", sessionData)
            object.member("address", address)
        }
    }
}

extension CallDispositionResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("statusCode", statusCode) }
    }
}
