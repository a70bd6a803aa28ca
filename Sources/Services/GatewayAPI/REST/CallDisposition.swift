package import CallControl

/// `callDispositionRequest` (spidr-wire §6.4).
package struct CallDispositionRequest: WireObject, Equatable {
    package static let wrapper = "callDispositionRequest"

    package var action: String
    package var sessionData: String

    package init(action: String, sessionData: String) {
        self.action = action
        self.sessionData = sessionData
    }

    /// The session to reject; the other action of the protocol is not carried out here.
    package func rejectedSession() throws(APIError) -> SessionID {
        switch action {
        case "reject": return SessionID(sessionData)
        case "forward": throw APIError(.callOperationNotSupported, "Forwarding a call is not offered by this gateway.")
        default:
            throw APIError(.requestInvalidValue, "The field \"callDispositionRequest.action\" must be \"reject\".")
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
        }
    }
}

extension CallDispositionResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("statusCode", statusCode) }
    }
}
