import Primitives

// Identifiers are written as plain values, durations as whole nanoseconds, or as milliseconds in a `CallQuality`.

/// An identifier that is written as its plain value.
package protocol SingleValueCodable: Codable {
    /// The type of the value that is written.
    associatedtype Plain: Codable

    /// The value that is written.
    var plain: Plain { get }
    /// Makes the identifier of a value that was written.
    init(_ plain: Plain)
}

extension SingleValueCodable {
    /// Reads the plain value.
    ///
    /// - Throws: `DecodingError` if it is not of the type `Plain`.
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Plain.self))
    }

    /// Writes the plain value.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(plain)
    }
}

extension CallID: SingleValueCodable {
    /// The raw value.
    package var plain: UInt64 { rawValue }
}

extension LegID: SingleValueCodable {
    /// The number of the leg.
    package var plain: UInt64 { number }
}

extension SessionID: SingleValueCodable {
    /// The raw value.
    package var plain: String { rawValue }
}

extension SubscriptionID: SingleValueCodable {
    /// The raw value.
    package var plain: String { rawValue }
}

extension UserAddress: Codable {
    /// Reads `user@domain`. The address of a guest becomes that guest's address again.
    ///
    /// - Throws: `DecodingError` if the text is not an address.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = UserAddress(written: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no address: \(text)")
        }
        self = address
    }

    /// Writes `user@domain`.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension ShownParty: Codable {
    private enum CodingKeys: CodingKey {
        case conference
    }

    /// Reads `{"name", "number"}`, which is a user, or `{"conference": domain}`.
    ///
    /// - Throws: `DecodingError` if it is neither.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if let domain = try values.decodeIfPresent(String.self, forKey: .conference) {
            self = .conference(domain: domain)
        } else {
            self = .user(try DisplayName(from: decoder))
        }
    }

    /// Writes `name` and `number` of a user, or `conference`.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .user(let name): try name.encode(to: encoder)
        case .conference(let domain):
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(domain, forKey: .conference)
        }
    }
}

extension CallEvent.Establishment: Codable {
    private enum CodingKeys: CodingKey {
        case setupNanoseconds
        case content
    }

    /// Reads `setupNanoseconds` and `content`.
    ///
    /// - Throws: `DecodingError` if one of them is missing or malformed.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        setup = .nanoseconds(try values.decode(Int64.self, forKey: .setupNanoseconds))
        content = try values.decode(CustomContent.self, forKey: .content)
    }

    /// Writes `setupNanoseconds` and `content`.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(setup.wholeNanoseconds, forKey: .setupNanoseconds)
        try values.encode(content, forKey: .content)
    }
}

extension CallRecord: Codable {
    private enum CodingKeys: CodingKey {
        case cause
        case setupNanoseconds
        case talkNanoseconds
    }

    /// Reads `cause`, and `setupNanoseconds` and `talkNanoseconds` if they are present.
    ///
    /// - Throws: `DecodingError` if the cause is missing, or a value is malformed.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        cause = try values.decode(CallEndCause.self, forKey: .cause)
        setup = try values.decodeIfPresent(Int64.self, forKey: .setupNanoseconds).map { .nanoseconds($0) }
        talk = try values.decodeIfPresent(Int64.self, forKey: .talkNanoseconds).map { .nanoseconds($0) }
    }

    /// Writes `cause`, and those of `setupNanoseconds` and `talkNanoseconds` that are known.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(cause, forKey: .cause)
        try values.encodeIfPresent(setup?.wholeNanoseconds, forKey: .setupNanoseconds)
        try values.encodeIfPresent(talk?.wholeNanoseconds, forKey: .talkNanoseconds)
    }
}

/// A duration that is written as a number of milliseconds.
private struct Milliseconds: Codable {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number = try container.decode(Double.self)
        guard let nanoseconds = Int64(exactly: (number * 1e6).rounded()) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no duration: \(number) ms")
        }
        duration = .nanoseconds(nanoseconds)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(duration.inMilliseconds)
    }
}

extension CallQuality: Codable {
    private enum CodingKeys: CodingKey {
        case sent
        case heard
        case roundTrip
    }

    /// Reads those of `sent`, `heard` and `roundTrip` that are present.
    ///
    /// - Throws: `DecodingError` if one of them is malformed.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        sent = try values.decodeIfPresent(Direction.self, forKey: .sent)
        heard = try values.decodeIfPresent(Direction.self, forKey: .heard)
        roundTrip = try values.decodeIfPresent(Milliseconds.self, forKey: .roundTrip)?.duration
    }

    /// Writes those of `sent`, `heard` and `roundTrip` that are known.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(sent, forKey: .sent)
        try values.encodeIfPresent(heard, forKey: .heard)
        try values.encodeIfPresent(roundTrip.map { Milliseconds($0) }, forKey: .roundTrip)
    }
}

extension CallQuality.Direction: Codable {
    private enum CodingKeys: CodingKey {
        case mos
        case rating
        case band
        case loss
        case recovered
        case burstRatio
        case jitter
    }

    /// Reads the members, of which only `recovered` may be absent.
    ///
    /// - Throws: `DecodingError` if another one is missing, or one is malformed.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        mos = try values.decode(Double.self, forKey: .mos)
        rating = try values.decode(Double.self, forKey: .rating)
        band = try values.decode(CallQuality.Band.self, forKey: .band)
        loss = try values.decode(Double.self, forKey: .loss)
        recovered = try values.decodeIfPresent(Double.self, forKey: .recovered)
        burstRatio = try values.decode(Double.self, forKey: .burstRatio)
        jitter = try values.decode(Milliseconds.self, forKey: .jitter).duration
    }

    /// Writes the members; `recovered` only if it is known.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(mos, forKey: .mos)
        try values.encode(rating, forKey: .rating)
        try values.encode(band, forKey: .band)
        try values.encode(loss, forKey: .loss)
        try values.encodeIfPresent(recovered, forKey: .recovered)
        try values.encode(burstRatio, forKey: .burstRatio)
        try values.encode(Milliseconds(jitter), forKey: .jitter)
    }
}
