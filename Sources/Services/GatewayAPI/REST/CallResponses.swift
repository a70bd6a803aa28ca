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
    /// The values of `mediaPreferences` that are ignored, one sentence each that starts with the field. `nil`: none.
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

/// `callMeResponse`: a `callControlResponse` under another top-level key (spidr-wire §7).
package struct CallMeResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "callMeResponse"

    /// The members of the answer.
    package var call: CallControlResponse

    /// Makes the answer to a guest; without parameter that of an operation that has nothing to tell.
    package init(_ call: CallControlResponse = CallControlResponse()) { self.call = call }

    /// Reads an answer as a guest's client does.
    ///
    /// - Throws: `DecodingError` if a field is missing or has the wrong type.
    package init(from decoder: any Decoder) throws { call = try CallControlResponse(from: decoder) }

    /// Writes the same members.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws { try call.encode(to: encoder) }
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

/// The answer to a media request that was carried out.
///
/// `{"mediaResponse": {"statusCode": 0}}`
package struct MediaResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "mediaResponse"
    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0

    /// Makes the answer, which has no other content.
    package init() {}
}
