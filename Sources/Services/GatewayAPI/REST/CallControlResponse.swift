package import CallControl

/// `callControlResponse` of every successful call request (spidr-wire §6).
package struct CallControlResponse: WireObject, Equatable {
    package static let wrapper = "callControlResponse"

    package var statusCode = 0
    /// The new session, after `callStart`.
    package var sessionData: String?
    /// `RINGING` or `ANSWERED`, after a state query (spidr-wire §6.8).
    package var state: String?
    /// After a state query; an addition of ours.
    package var callSession: CallSessionField?
    /// What of `mediaPreferences` is ignored, a sentence each.
    package var warnings: [String]?

    package init() {}

    package init(warnings: [String]?) { self.warnings = warnings }

    package init(started session: SessionID, warnings: [String]? = nil) {
        sessionData = session.rawValue
        self.warnings = warnings
    }

    package init(_ session: CallSession) {
        state = session.progress.rawValue
        callSession = CallSessionField(session)
    }
}

extension CallControlResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("statusCode", statusCode)
            object.member("sessionData", sessionData)
            object.member("state", state)
            if let callSession { object.member("callSession", callSession) }
            object.member("warnings", warnings)
        }
    }
}
