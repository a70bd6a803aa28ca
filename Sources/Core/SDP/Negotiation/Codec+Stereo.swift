/// Two channels of Opus (RFC 7587 §6.1): whoever says `stereo=1` would like to receive them, whoever says `sprop-stereo=1` is likely to
/// send them. Both are declarative: each side says its own, and neither has to follow the other (§7.1).
extension Codec {
    /// What the other end of a stream says when it takes what this one sends, and sends what this one takes.
    package var withStereoReversed: Codec {
        guard isNamed("opus"), let parameters else { return self }
        var format = FormatParameters(parameters)
        let (taken, sent) = (format["stereo"], format["sprop-stereo"])
        guard taken != sent else { return self }
        format["stereo"] = sent
        format["sprop-stereo"] = taken
        return with(format)
    }

    /// The same, in one channel both ways.
    var withoutStereo: Codec {
        guard isNamed("opus"), let parameters else { return self }
        var format = FormatParameters(parameters)
        guard format["stereo"] != nil || format["sprop-stereo"] != nil else { return self }
        format["stereo"] = nil
        format["sprop-stereo"] = nil
        return with(format)
    }

    /// This format with the parameters that a peer gave it, if that is Opus.
    func described(like said: Codec?) -> Codec {
        guard isNamed("opus"), let said, said.isSameEncoding(as: self) else { return self }
        var described = self
        described.parameters = said.parameters
        return described
    }

    private func with(_ format: FormatParameters) -> Codec {
        var codec = self
        codec.parameters = format.text.isEmpty ? nil : format.text
        return codec
    }
}
