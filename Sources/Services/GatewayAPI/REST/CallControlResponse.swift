package import CallControl
import SPiDR

/// `callControlResponse`: the answer to every successful call request (spidr-wire §6).
package struct CallControlResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "callControlResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// After `callStart` and `join`: the requester's leg of the new call. `nil` after other requests.
    package var sessionData: String?
    /// After a state query: `RINGING` or `ANSWERED` (spidr-wire §6.8). `nil` after other requests.
    package var state: String?
    /// After a state query: what the user may know about the call; an addition of this gateway.
    package var callSession: CallSessionField?
    /// The values of `mediaPreferences` that are ignored, one sentence each that begins with the field. `nil`: none.
    package var warnings: [String]?

    /// Makes the answer to an operation that has nothing to tell.
    package init() {}

    /// Makes the answer to an operation that carried `mediaPreferences`.
    package init(warnings: [String]?) { self.warnings = warnings }

    /// Makes the answer to `callStart` or `join`.
    package init(started session: SessionID, warnings: [String]? = nil) {
        sessionData = session.rawValue
        self.warnings = warnings
    }

    /// Makes the answer to a state query.
    package init(_ session: CallSession) {
        state = session.progress.word
        callSession = CallSessionField(session)
    }
}

extension CallControlResponse: JSONWritable {
    /// Writes the members; those that are `nil` are left out.
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
