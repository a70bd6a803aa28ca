import Primitives

extension LocalMedia {
    /// How an m-line is written with regard to its transport.
    enum Placement {
        /// With address and candidates: the tagged m-line (RFC 9143 §5), and every m-line with a transport of its own.
        case tagged
        /// With the address only (RFC 9143 §7.3.1).
        case bundled
        /// With port 0.
        case rejected
    }

    func description(_ placement: Placement, identity: LegIdentity, isOffer: Bool) -> MediaDescription {
        switch placement {
        case .rejected: return rejection()
        case .tagged, .bundled: break
        }
        let destination = identity.defaultDestination
        var media = MediaDescription(
            type: kind.token, port: destination.port, transportProtocol: transportProtocol,
            formats: codecs.map { String($0.payloadType.rawValue) },
            connections: [destination.connection], bandwidths: bandwidths)
        media.attributes.reserveCapacity(160)
        if namesMid { media.attributes.append(Attribute("mid", mid)) }
        media.attributes.append(Attribute(direction.rawValue))
        if placement == .tagged {
            media.attributes += identity.candidates.map { Attribute("candidate", $0) }
            media.attributes.append(Attribute("end-of-candidates"))
        }
        media.attributes += identity.transportAttributes(credentials, setup: setup)
        media.attributes += rtcpAttributes(isOffer: isOffer)
        if allowsMixedExtensions { media.attributes.append(Attribute("extmap-allow-mixed")) }
        media.attributes += extensions.map { Attribute("extmap", $0.value) }
        for codec in codecs { codec.describe(in: &media.attributes) }
        if let packetTime { media.attributes.append(Attribute("ptime", packetTime)) }
        if let maximumPacketTime { media.attributes.append(Attribute("maxptime", maximumPacketTime)) }
        // Chromium does not play a source again that a description in between left out.
        if direction.sends || sources.areAnnounced { media.attributes += sourceAttributes(identity) }
        return media
    }

    /// The rejected m-line.
    ///
    /// Deviation: RFC 3264 §6 gives the formats of a rejected m-line no meaning, so none of them would be needed. The
    /// rtpmaps, `a=rtcp-mux` and `a=setup` are written because some agents (aiortc, GStreamer) look for them before
    /// they look at the port. Formats that depend on others are left out: a browser that is made to ignore the port
    /// refuses `rtx` without its `apt`.
    private func rejection() -> MediaDescription {
        let shown = codecs.filter(\.carriesMedia)
        var attributes = namesMid ? [Attribute("mid", mid)] : []
        attributes += [Attribute(MediaDirection.inactive.rawValue), Attribute("setup", setup.rawValue)]
        if kind.isRelayed {
            attributes.append(Attribute("rtcp-mux"))
            attributes += shown.map { Attribute("rtpmap", $0.map.value) }
        }
        let formats = shown.isEmpty ? Array(rejectedFormats.prefix(1)) : shown.map { String($0.payloadType.rawValue) }
        return MediaDescription(
            type: kind.token, port: 0, transportProtocol: transportProtocol, formats: formats,
            connections: [.unspecified],
            attributes: attributes)
    }

    /// The gateway has one port for RTP and RTCP, so its offers leave no choice (RFC 8858 §4.2).
    private func rtcpAttributes(isOffer: Bool) -> [Attribute] {
        var attributes = [Attribute("rtcp-mux")]
        if isOffer { attributes.append(Attribute("rtcp-mux-only")) }
        if allowsReducedSizeRTCP { attributes.append(Attribute("rtcp-rsize")) }
        return attributes
    }

    /// `a=msid` (RFC 8830) and the sources (RFC 5576). The msid is repeated below each source for agents older than
    /// RFC 8830.
    private func sourceAttributes(_ identity: LegIdentity) -> [Attribute] {
        let streamID = "\(identity.streamID) \(identity.streamID)-\(kind.token)-\(sources.ssrc.rawValue)"
        var attributes = [Attribute("msid", streamID)]
        if let retransmissionSSRC {
            let group = SourceGroup(
                semantics: SourceGroup.flowIdentification, sources: [sources.ssrc, retransmissionSSRC])
            attributes.append(Attribute("ssrc-group", group.value))
        }
        for source in [sources.ssrc, retransmissionSSRC].compactMap(\.self) {
            attributes.append(
                Attribute("ssrc", SourceAttribute(source, Attribute("cname", identity.canonicalName)).value))
            attributes.append(Attribute("ssrc", SourceAttribute(source, Attribute("msid", streamID)).value))
        }
        return attributes
    }
}

extension Codec {
    /// Writes `a=rtpmap`, `a=rtcp-fb` and `a=fmtp` of this codec.
    fileprivate func describe(in attributes: inout [Attribute]) {
        let format = String(payloadType.rawValue) + " "
        attributes.append(Attribute("rtpmap", map.value))
        for value in feedback { attributes.append(Attribute("rtcp-fb", format + value)) }
        if let parameters { attributes.append(Attribute("fmtp", format + parameters)) }
    }
}
