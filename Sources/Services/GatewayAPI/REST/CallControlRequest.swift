/// `callControlRequest`, every operation in one shape (spidr-wire §6); which fields matter depends on `type`.
package struct CallControlRequest: WireObject, Equatable {
    package static let wrapper = "callControlRequest"

    package var type: String
    package var from: String?
    package var to: String?
    package var sdp: String?
    package var supported: [String]?
    package var customParameters: [CustomParameterField]?
    package var customBodies: [CustomBodyField]?
    /// Of `transfer`: who takes the requester's place.
    package var address: String?
    /// Of `transfer`: the requester's call with that somebody.
    package var sessionData: String?
    /// Of `join`: the calls to be brought together.
    package var firstSessionData: String?
    package var secondSessionData: String?
    /// Of `updateIceCandidate`.
    package var iceCandidates: [CandidateField]?

    /// In `callStart` and `callAnswer`; an addition of ours.
    package var mediaPreferences: MediaPreferencesField?

    /// What it travelled under; errors name fields below it.
    package var envelope = Self.wrapper

    private enum CodingKeys: String, CodingKey {
        case type, from, to, sdp, supported, customParameters, customBodies, address, sessionData, firstSessionData,
            secondSessionData, iceCandidates
        case mediaPreferences
    }

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

/// `{"name": "X-GPS", "value": "1,2"}`; a value written as a number is taken as its text.
package struct CustomParameterField: Codable, Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    private enum CodingKeys: String, CodingKey { case name, value }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        name = try fields.decode(String.self, forKey: .name)
        value = try fields.decodeLenientText(forKey: .value)
    }
}

extension CallControlRequest: JSONWritable {
    /// As clients write it.
    package func write(to writer: inout JSONWriter) {
        writer.object { writeMembers(to: &$0) }
    }

    func writeMembers(to object: inout JSONWriter) {
        object.member("type", type)
        object.member("from", from)
        object.member("to", to)
        object.member("sdp", sdp)
        object.member("supported", supported)
        object.member("customParameters", customParameters)
        object.member("customBodies", customBodies)
        object.member("address", address)
        object.member("sessionData", sessionData)
        object.member("firstSessionData", firstSessionData)
        object.member("secondSessionData", secondSessionData)
        object.member("iceCandidates", iceCandidates)
        if let mediaPreferences { object.member("mediaPreferences", mediaPreferences) }
    }
}

extension CustomParameterField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("name", name)
            object.member("value", value)
        }
    }
}
