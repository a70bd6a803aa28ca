import SDP

/// Descriptions as scripted peers write and read them: sound on the first m-line, a picture on the second.
enum ScriptedDescription {
    /// - Parameter version: of `o=`, which no peer counts down.
    static func audio(
        _ ufrag: String, _ direction: MediaDirection, video: MediaDirection? = nil, setup: String = "actpass",
        version: Int = 1
    ) -> String {
        session(ufrag, [direction] + (video.map { [$0] } ?? []), setup: setup, version: version)
    }

    /// - Parameters:
    ///   - lines: one direction for each m-line; `nil`: rejected.
    ///   - peer: tells apart peers that speak for the same end, by their session ids and fingerprints.
    static func session(
        _ ufrag: String, _ lines: [MediaDirection?], setup: String = "actpass", version: Int = 1, peer: Int = 1
    ) -> String {
        let fingerprint = Array(repeating: peer == 1 ? "AB" : "0\(peer)", count: 32).joined(separator: ":")
        let transport = [
            "a=rtcp-mux", "a=ice-ufrag:\(ufrag)", "a=ice-pwd:password+password+password", "a=setup:\(setup)",
            "a=fingerprint:sha-256 \(fingerprint)",
        ]
        let carried = lines.indices.filter { lines[$0] != nil }.map { " \($0)" }.joined()
        let head = ["v=0", "o=- \(peer) \(version) IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE\(carried)"]
        let media = lines.enumerated().flatMap { index, direction in
            let (kind, format, name) = index == 0 ? ("audio", 111, "opus/48000/2") : ("video", 96, "VP8/90000")
            let line = [
                "m=\(kind) \(direction == nil ? 0 : 9) UDP/TLS/RTP/SAVPF \(format)", "c=IN IP4 0.0.0.0",
                "a=mid:\(index)",
            ]
            let rest = ["a=\((direction ?? .inactive).rawValue)", "a=rtpmap:\(format) \(name)"]
            return line + rest + (direction == nil ? [] : transport)
        }
        return (head + media + [""]).joined(separator: "\r\n")
    }

    /// The direction of the first m-line.
    static func direction(_ text: String) throws -> MediaDirection? { try directions(text).first ?? nil }

    /// What every m-line says; `nil`: it is rejected.
    static func directions(_ text: String) throws -> [MediaDirection?] {
        try SessionDescription(parsing: text).media.map { media in
            // With `a=bundle-only` port 0 says nothing (RFC 9143 §6).
            guard media.port != 0 || media.attributes.contains(where: { $0.name == "bundle-only" }) else { return nil }
            return media.attributes.lazy.compactMap { MediaDirection(rawValue: $0.name) }.first ?? .sendReceive
        }
    }
}
