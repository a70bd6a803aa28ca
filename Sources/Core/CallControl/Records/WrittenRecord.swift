// The written form of records, as the database keeps them. Fields are added, never renamed (docs/adr/0008).

extension CallLogRecord: Codable {
    /// The version of the written form. Fields may be added without a new version.
    package static let version = 1

    private enum CodingKeys: CodingKey {
        case version, id, user, direction, startedAt, answeredAt, endedAt, caller, callee, parties, ending, endedBy,
            timeline
    }

    /// Reads a record.
    ///
    /// - Throws: `DecodingError` if a field is missing or malformed, or the record has another version.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: values, debugDescription: "version \(version) is not known")
        }
        id = try values.decode(SessionID.self, forKey: .id)
        user = try values.decode(UserAddress.self, forKey: .user)
        direction = try values.decode(Direction.self, forKey: .direction)
        startedAt = try values.decode(Int64.self, forKey: .startedAt)
        answeredAt = try values.decodeIfPresent(Int64.self, forKey: .answeredAt)
        endedAt = try values.decode(Int64.self, forKey: .endedAt)
        caller = try values.decode(ShownParty.self, forKey: .caller)
        callee = try values.decode(ShownParty.self, forKey: .callee)
        parties = try values.decode([Party].self, forKey: .parties)
        ending = try values.decodeIfPresent(CallEnding.self, forKey: .ending)
        endedBy = try values.decode(CallSide.self, forKey: .endedBy)
        timeline = try values.decode([Event].self, forKey: .timeline)
    }

    /// Writes all fields, and the version.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(id, forKey: .id)
        try values.encode(user, forKey: .user)
        try values.encode(direction, forKey: .direction)
        try values.encode(startedAt, forKey: .startedAt)
        try values.encodeIfPresent(answeredAt, forKey: .answeredAt)
        try values.encode(endedAt, forKey: .endedAt)
        try values.encode(caller, forKey: .caller)
        try values.encode(callee, forKey: .callee)
        try values.encode(parties, forKey: .parties)
        try values.encodeIfPresent(ending, forKey: .ending)
        try values.encode(endedBy, forKey: .endedBy)
        try values.encode(timeline, forKey: .timeline)
    }
}

extension EndingCause: Codable {
    private enum CodingKeys: CodingKey {
        case ended, forwarded, transferFailed
    }

    /// Reads `{"ended": cause}`, `{"transferFailed": reason}` or `{"forwarded": true}`.
    ///
    /// - Throws: `DecodingError` if it is none of them.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if let cause = try values.decodeIfPresent(CallEndCause.self, forKey: .ended) {
            self = .ended(cause)
        } else if let failure = try values.decodeIfPresent(TransferFailure.self, forKey: .transferFailed) {
            self = .transferFailed(failure)
        } else {
            _ = try values.decode(Bool.self, forKey: .forwarded)
            self = .forwarded
        }
    }

    /// Writes one member, which is named as the case is.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .ended(let cause): try values.encode(cause, forKey: .ended)
        case .forwarded: try values.encode(true, forKey: .forwarded)
        case .transferFailed(let failure): try values.encode(failure, forKey: .transferFailed)
        }
    }
}
