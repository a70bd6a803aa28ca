/// Stereo of Opus (RFC 7587 §6.1). A peer that says `stereo=1` prefers to receive two channels; a peer that says
/// `sprop-stereo=1` is likely to send them. Both parameters are declarative: each side says its own and need not follow
/// the other (§7.1).
extension Codec {
    /// This format as the other end of the stream describes it, with `stereo` and `sprop-stereo` swapped.
    package var withStereoReversed: Codec {
        guard isNamed("opus"), let parameters else { return self }
        var format = FormatParameters(parameters)
        let (taken, sent) = (format["stereo"], format["sprop-stereo"])
        guard taken != sent else { return self }
        format["stereo"] = sent
        format["sprop-stereo"] = taken
        return with(format)
    }

    /// This format with one channel in both directions.
    var withoutStereo: Codec {
        guard isNamed("opus"), let parameters else { return self }
        var format = FormatParameters(parameters)
        guard format["stereo"] != nil || format["sprop-stereo"] != nil else { return self }
        format["stereo"] = nil
        format["sprop-stereo"] = nil
        return with(format)
    }

    /// This format with the parameters of the peer's description, if it is Opus and the peer described it.
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
