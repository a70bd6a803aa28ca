/// `callControlRequest`: every call operation in one shape (spidr-wire §6). Which fields matter depends on `type`.
package struct CallControlRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "callControlRequest"

    /// The operation, such as `callStart` or `transfer` (spidr-wire §6).
    package var type: String
    /// In `callStart`: the caller as `Name <sip:user@domain>`.
    ///
    /// Only the display name is used, and only if the account has none (spidr-wire §6.1). A guest with tokens gives a
    /// token (§7).
    package var from: String?
    /// In `callStart`: the callee, as a URI, an address, a name or a number (spidr-wire §6.1). A guest with tokens
    /// gives a token (§7).
    package var to: String?
    /// The session description. `nil` or empty in `callStart` and `startCallUpdate`: the other party is asked for an
    /// offer (spidr-wire §8.1).
    package var sdp: String?
    /// In `callStart` and the answers: features of the client, `earlymedia` and `replacecall`; compared without case.
    package var supported: [String]?
    /// Parameters for the other party's application (spidr-wire §8.4).
    package var customParameters: [CustomParameterField]?
    /// Bodies for the other party's application (spidr-wire §8.4).
    package var customBodies: [CustomBodyField]?
    /// In `transfer`: the address of the target, who takes the requester's place (spidr-wire §8.5).
    package var address: String?
    /// In `transfer`: the requester's own call with the target. `nil`: a blind transfer (spidr-wire §8.5).
    package var sessionData: String?
    /// In `join`: the requester's leg of the first call (spidr-wire §8.7).
    package var firstSessionData: String?
    /// In `join`: the requester's leg of the second call.
    package var secondSessionData: String?
    /// In `updateIceCandidate`: the trickled candidates (spidr-wire §8.10).
    package var iceCandidates: [CandidateField]?

    /// In `callStart` and `callAnswer`: what the client wants to receive; an addition of this gateway.
    package var mediaPreferences: MediaPreferencesField?

    /// The top-level key that the request was sent with; the reasons of refusals name fields below it.
    package var envelope = Self.wrapper

    private enum CodingKeys: String, CodingKey {
        case type, from, to, sdp, supported, customParameters, customBodies, address, sessionData, firstSessionData,
            secondSessionData, iceCandidates
        case mediaPreferences
    }

    /// Makes a request of its parts; each parameter is the property of that name. ``envelope`` is ``wrapper``.
    package init(
        type: String, from: String? = nil, to: String? = nil, sdp: String? = nil, supported: [String]? = nil,
        customParameters: [CustomParameterField]? = nil, customBodies: [CustomBodyField]? = nil, address: String? = nil,
        sessionData: String? = nil,
        firstSessionData: String? = nil, secondSessionData: String? = nil, iceCandidates: [CandidateField]? = nil,
        mediaPreferences: MediaPreferencesField? = nil
    ) {
        self.type = type
        self.from = from
        self.to = to
        self.sdp = sdp
        self.supported = supported
        self.customParameters = customParameters
        self.customBodies = customBodies
        self.address = address
        self.sessionData = sessionData
        self.firstSessionData = firstSessionData
        self.secondSessionData = secondSessionData
        self.iceCandidates = iceCandidates
        self.mediaPreferences = mediaPreferences
    }
}

/// A named text from one application to the other (spidr-wire §8.4).
///
/// `{"name": "X-GPS", "value": "1,2"}`
package struct CustomParameterField: Codable, Hashable, Sendable {
    /// The name, passed on as written.
    package var name: String
    /// The value, passed on unread.
    package var value: String

    /// Makes a parameter of a name and a value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    private enum CodingKeys: String, CodingKey { case name, value }

    /// Reads a parameter. A value written as a number or boolean is taken as its text.
    ///
    /// - Throws: `DecodingError` if a member is missing or has another type.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        name = try fields.decode(String.self, forKey: .name)
        value = try fields.decodeLenientText(forKey: .value)
    }
}
