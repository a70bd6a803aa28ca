/// The part of the format parameters that must be equal on both sides; formats that differ in it are different formats
/// (RFC 3264 §6.1).
///
/// Parameters are compared by meaning: a missing one counts as its default, and digits compare as numbers. What each
/// side declares for itself is left out: levels and receiver capabilities. All comparisons of formats use this type.
/// Its table is in docs/protocols/sdp.md.
enum FormatIdentity: Equatable, Sendable {
    /// Only the encoding matters: each side declares its own parameters (RFC 7587 §7.1), or there are none.
    case encoding
    /// H.264 (RFC 6184 §8.2.2).
    case h264(H264Profile, packetizationMode: Int)
    /// H.265 (RFC 7798 §7.2.2).
    case h265(profileSpace: Int, profile: Int, isHighTier: Int, transmission: String)
    /// VP9 (RFC 9628 §7.1).
    case vp9(profile: Int)
    /// AV1 (RTP Payload Format for AV1 §7.2.3).
    case av1(profile: Int, tier: Int)

    init(_ codec: Codec) {
        let parameters = FormatParameters(codec.parameters ?? "")
        switch codec.name.lowercased() {
        case "h264":
            self = .h264(
                H264Profile(profileLevelID: parameters[Codec.profileLevelID]),
                packetizationMode: parameters.number("packetization-mode") ?? 0)
        case "h265":
            self = .h265(
                profileSpace: parameters.number("profile-space") ?? 0, profile: parameters.number("profile-id") ?? 1,
                isHighTier: parameters.number("tier-flag") ?? 0,
                transmission: (parameters["tx-mode"] ?? "SRST").uppercased())
        case "vp9": self = .vp9(profile: parameters.number("profile-id") ?? 0)
        case "av1": self = .av1(profile: parameters.number("profile") ?? 0, tier: parameters.number("tier") ?? 0)
        default: self = .encoding
        }
    }
}

/// A profile of H.264: a subset of its coding tools. Several values of `profile-level-id` can stand for one profile
/// (RFC 6184 §8.1, table 5).
enum H264Profile: Equatable, Sendable {
    case constrainedBaseline
    case baseline
    case main
    case extended
    /// A profile with a single notation, or one that the table does not have.
    case other(idc: UInt8, constraints: UInt8)
    /// The text is no profile.
    case unreadable(String)

    /// Reads `profile-level-id`.
    ///
    /// - Parameter text: Six hexadecimal digits. The last two are the level and are ignored. `nil` means Baseline.
    init(profileLevelID text: String?) {
        guard let text else {
            self = .baseline
            return
        }
        guard text.utf8.count == 6, text.allSatisfy(\.isHexDigit), let value = UInt32(text, radix: 16) else {
            self = .unreadable(text)
            return
        }
        let (idc, constraints) = (UInt8(truncatingIfNeeded: value >> 16), UInt8(truncatingIfNeeded: value >> 8))
        // constraint_set0_flag, constraint_set1_flag and constraint_set2_flag; the table requires the last four bits to
        // be 0.
        let (set0, set1, set2) = (constraints & 0x80 != 0, constraints & 0x40 != 0, constraints & 0x20 != 0)
        self =
            switch (idc, constraints & 0x0F) {
            case (0x42, 0): set1 ? .constrainedBaseline : .baseline
            case (0x4D, 0) where set0: .constrainedBaseline
            case (0x4D, 0) where !set2: .main
            case (0x58, 0) where set0: set1 ? .constrainedBaseline : .baseline
            case (0x58, 0) where !set1: .extended
            default: .other(idc: idc, constraints: constraints)
            }
    }
}

extension Codec {
    fileprivate static let profileLevelID = "profile-level-id"

    /// Whether packets of one format can be sent as the other: the encoding is the same, and so is the profile for
    /// codecs whose profiles are separate formats.
    package func isSameFormat(as other: Codec) -> Bool {
        isSameEncoding(as: other) && FormatIdentity(self) == FormatIdentity(other)
    }

    /// This answered format with the profile of the offered one, if it has none. Some agents answer H.264 without
    /// `profile-level-id` and mean what was offered.
    func completed(from offered: Codec) -> Codec {
        guard isNamed("h264"), isSameEncoding(as: offered) else { return self }
        var parameters = FormatParameters(parameters ?? "")
        guard parameters[Self.profileLevelID] == nil,
            let profile = FormatParameters(offered.parameters ?? "")[Self.profileLevelID]
        else { return self }
        parameters[Self.profileLevelID] = profile
        var completed = self
        completed.parameters = parameters.text
        return completed
    }
}

extension FormatParameters {
    /// The parameter as a number; `nil` if it is missing, -1 if it is no number.
    fileprivate func number(_ name: String) -> Int? {
        self[name].map { Int(decimal: $0.utf8) ?? -1 }
    }
}
