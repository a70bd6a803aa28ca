extension PeerDescription {
    /// Reads a description in three steps: each m-line by itself, then the groups, then whether each m-line is usable.
    ///
    /// M-lines that the gateway cannot carry are no error; their `refusal` says why.
    ///
    /// - Throws: `.malformedSession` or `.malformedMedia` if the value of an attribute cannot be read, and
    ///   `.malformedMedia` if two m-lines have the same mid.
    package init(reading session: SessionDescription, as role: Role) throws(SDPError) {
        let defaults = try SessionDefaults(reading: session.attributes)
        var media: [PeerMedia] = []
        media.reserveCapacity(session.media.count)
        for (index, section) in session.media.enumerated() {
            var line = try PeerMedia(reading: section, at: index, defaults: defaults)
            if session.holdsByAddress(section) { line.direction = line.direction.heldByAddress }
            media.append(line)
        }
        try Self.nameMedia(&media)
        self.init(role: role, isLite: session.attributes.contains("ice-lite"), groups: [], media: media)
        bundleMedia(groups: session.attributes.values(of: "group"))
    }

    // MARK: Names

    /// Gives a made-up mid to each m-line without one.
    ///
    /// - Throws: `.malformedMedia` if two m-lines have the same mid (RFC 5888 §4).
    private static func nameMedia(_ media: inout [PeerMedia]) throws(SDPError) {
        var seen: Set<String> = []
        for section in media where section.namesMid {
            guard seen.insert(section.mid).inserted else {
                throw .malformedMedia(section.index, .repeatedMid)
            }
        }
        for index in media.indices where !media[index].namesMid {
            var mid = "\(index)"
            while !seen.insert(mid).inserted { mid = "m" + mid }
            media[index].mid = mid
        }
    }

    // MARK: Groups

    private mutating func bundleMedia(groups: [String]) {
        let groups = bundleGroups(reading: groups)
        for group in groups {
            guard let tagged = group.first else { continue }
            for index in group.dropFirst() {
                media[index].transport = media[index].transport.filled(from: media[tagged].transport)
            }
        }
        let grouped = Set(groups.joined())
        for index in media.indices {
            media[index].refusal = refusal(of: media[index], isBundled: grouped.contains(index))
        }
        self.groups = groups
        limitTransports()
        if role == .offer { keepExtensionsApart() }
    }

    /// Reads the BUNDLE groups as m-line indices.
    ///
    /// A group that names an unknown mid is ignored. All groups are ignored if an m-line has no mid (RFC 5888 §6). An
    /// m-line is in at most one BUNDLE group (RFC 9143 §5).
    private func bundleGroups(reading values: [String]) -> [[Int]] {
        guard media.allSatisfy(\.namesMid) else { return [] }
        let places = Dictionary(uniqueKeysWithValues: media.map { ($0.mid, $0.index) })
        var taken: Set<Int> = []
        return values.compactMap { value in
            let tags = value.split(separator: " ").map(String.init)
            guard tags.first == "BUNDLE" else { return nil }
            let indices = tags.dropFirst().compactMap { places[$0] }
            guard indices.count == tags.count - 1, !indices.isEmpty, indices.allSatisfy({ taken.insert($0).inserted })
            else { return nil }
            return indices
        }
    }

    /// Refuses the m-lines that would need more than `maximumTransports` transports.
    private mutating func limitTransports() {
        var transports: [[Int]] = []
        for index in media.indices where media[index].refusal == nil {
            let sharers = sharers(of: index)
            if transports.contains(sharers) { continue }
            if transports.count < Self.maximumTransports {
                transports.append(sharers)
            } else {
                media[index].refusal = .outsideBundle
            }
        }
    }

    /// Removes extension mappings of an offer that contradict those of an m-line before it on another transport.
    ///
    /// M-lines on different transports may use one extension id for different URIs; RFC 9143 §9.1 concerns only m-lines
    /// that share one. On the call's other legs they may share a transport, so the first meaning of an id stays and a
    /// later one is left out.
    private mutating func keepExtensionsApart() {
        for index in media.indices.dropFirst() where media[index].refusal == nil {
            let sharers = sharers(of: index)
            let others = media[..<index].filter { $0.refusal == nil && !sharers.contains($0.index) }
            guard !others.isEmpty else { continue }
            let mappings = others.flatMap(\.extensions)
            media[index].extensions.removeAll { mapping in
                mappings.contains { ($0.id == mapping.id) != ($0.uri == mapping.uri) }
            }
        }
    }

    // MARK: Usability

    private func refusal(of media: PeerMedia, isBundled: Bool) -> MediaRefusal? {
        let isHidden = role == .offer && media.isBundleOnly && isBundled
        guard media.port != 0 || isHidden else { return .disabledByPeer }
        guard media.kind.isRelayed else { return .unsupportedKind(media.kind.token) }
        guard Self.securedProtocols.contains(media.transportProtocol.uppercased()) else {
            return .unsupportedProtocol(media.transportProtocol)
        }
        guard media.codecs.contains(where: \.carriesMedia) else { return .noCodecs }
        guard !media.transport.fingerprints.isEmpty else {
            return media.transport.offersSDESKeys ? .keysInDescription : .noFingerprint
        }
        guard media.transport.credentials != nil else { return .noICECredentials }
        guard media.transport.multiplexesRTCP else { return .noRTCPMultiplexing }
        switch (role, media.transport.setup) {
        // Without a=setup an offer means `active` (RFC 4145 §4); the gateway is then passive, as it is for `actpass`.
        case (.offer, nil), (_, .active), (_, .passive), (.offer, .actpass): return nil
        case (.answer, nil), (.answer, .actpass), (_, .holdconn): return .unusableSetup
        }
    }

    /// `UDP/TLS/RTP/SAVPF` and the names that older agents write instead (RFC 8829 §5.1.2). The fingerprint shows that
    /// DTLS-SRTP is meant.
    private static let securedProtocols: Set<String> = [
        "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "TCP/DTLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP",
    ]
}
