extension PeerDescription {
    /// This description with the preferences for receiving applied: bandwidth, packet time and Opus parameters. It also
    /// contains the payload types that are wanted in offers.
    package func asking(_ preferences: MediaPreferences) -> PeerDescription {
        guard !preferences.isEmpty else { return self }
        var description = self
        description.payloadNumbers = preferences.payloadNumbers
        for index in media.indices { description.media[index].ask(preferences) }
        return description
    }

    /// This description with only the preferred codecs, in the preferred order. An m-line without any of them is
    /// refused.
    package func choosing(_ preferences: MediaPreferences) -> PeerDescription {
        guard !preferences.isEmpty else { return self }
        var description = self
        for index in media.indices {
            let names = preferences.codecs(of: media[index].kind)
            guard !names.isEmpty else { continue }
            description.media[index].codecs = media[index].codecs.choosing(names)
            guard media[index].refusal == nil, description.media[index].codecs.isEmpty else { continue }
            description.media[index].refusal = .noChosenCodecs(names)
        }
        return description
    }
}

extension PeerMedia {
    fileprivate mutating func ask(_ preferences: MediaPreferences) {
        if let limit = preferences.bandwidth(of: kind) { bandwidths.limit(toKilobits: UInt64(limit)) }
        guard kind == .audio else { return }
        if let wanted = preferences.opus.packetTime {
            // The limit is what the peer itself said (RFC 8866 §6.5).
            let most = maximumPacketTime.flatMap { Int(decimal: $0.utf8) } ?? wanted
            packetTime = String(Swift.min(wanted, most))
        }
        for index in codecs.indices where codecs[index].isNamed("opus") { codecs[index].ask(preferences.opus) }
    }
}

extension [Bandwidth] {
    /// Sets `AS` in kbit/s (RFC 8866 §5.8) and `TIAS` in bit/s (RFC 3890), unless the description has a lower limit.
    fileprivate mutating func limit(toKilobits limit: UInt64) {
        let isLower = contains {
            $0.isApplicationSpecific && $0.value < limit || $0.isTransportIndependent && $0.value < limit * 1_000
        }
        guard !isLower else { return }
        removeAll { $0.isApplicationSpecific || $0.isTransportIndependent }
        self = [Bandwidth(type: "AS", value: limit), Bandwidth(type: "TIAS", value: limit * 1_000)] + self
    }
}

extension Bandwidth {
    fileprivate var isApplicationSpecific: Bool { type == "AS" }
    fileprivate var isTransportIndependent: Bool { type == "TIAS" }
}

extension Codec {
    fileprivate mutating func ask(_ opus: OpusParameters) {
        guard opus != OpusParameters() else { return }
        var format = FormatParameters(parameters ?? "")
        let wanted = [
            ("maxplaybackrate", opus.maximumPlaybackRate), ("maxaveragebitrate", opus.maximumAverageBitrate),
            ("usedtx", opus.usesDTX.map { $0 ? 1 : 0 }), ("useinbandfec", opus.usesInbandFEC.map { $0 ? 1 : 0 }),
        ]
        for case (let name, let value?) in wanted { format[name] = String(value) }
        parameters = format.text.isEmpty ? nil : format.text
    }
}

extension [Codec] {
    /// The codecs with these names in this order, each followed by the formats that depend on it, and then the formats
    /// that accompany all of them.
    fileprivate func choosing(_ names: [String]) -> [Codec] {
        let chosen = names.flatMap { name in filter { $0.carriesMedia && $0.isNamed(name) } }
        guard !chosen.isEmpty else { return [] }
        let attached = filter { !$0.carriesMedia && ($0.isRetransmission || $0.isNamed("red")) }
        let others = filter { !$0.carriesMedia && !$0.isRetransmission && !$0.isNamed("red") }
        var ordered: [Codec] = []
        var placed = PayloadTypeSet()
        for codec in chosen where !placed.contains(codec.payloadType) {
            ordered.append(codec)
            placed.insert(codec.payloadType)
            for follower in attached
            where !placed.contains(follower.payloadType) && follower.requiredPayloadTypes.contains(codec.payloadType) {
                ordered.append(follower)
                placed.insert(follower.payloadType)
            }
        }
        return (ordered + attached.filter { !placed.contains($0.payloadType) } + others).withoutOrphans()
    }
}
