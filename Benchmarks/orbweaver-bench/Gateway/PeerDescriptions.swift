import ArgumentParser
import Primitives
import SDP

/// Descriptions of scripted peers, and what they need to know of the gateway's.
enum PeerDescriptions {
    /// One audio m-line with one codec, everything in one bundle. A description of its own each time: the gateway takes
    /// the same one for a request that comes again (docs/call-states.md).
    static func audio(_ peer: LoadPeer, _ codec: Codec = .pcmu, setup: String) -> String {
        audio(peer.credentials, peer.fingerprint, ssrc: peer.ssrc, codec, setup: setup)
    }

    /// The same with the peer's address, for servers that want to know it beforehand.
    static func complete(_ peer: LoadPeer, setup: String) -> String {
        audio(peer.credentials, peer.fingerprint, ssrc: peer.ssrc, .pcmu, setup: setup, at: peer.address)
            + "a=candidate:1 1 udp 2130706431 \(peer.address.address) \(peer.address.port) typ host\r\n"
            + "a=end-of-candidates\r\n"
    }

    /// The same for any peer.
    static func audio(
        _ credentials: ICECredentials, _ fingerprint: Fingerprint, ssrc: UInt32, _ codec: Codec, setup: String,
        at address: SocketAddress? = nil
    ) -> String {
        let encoding = "\(codec.name)/\(codec.clockRate)" + (codec.channels == 2 ? "/2" : "")
        return """
            v=0
            o=- \(UInt64.random(in: 0..<(1 << 62))) 1 IN IP4 127.0.0.1
            s=-
            t=0 0
            a=group:BUNDLE 0
            m=audio \(address?.port ?? 9) UDP/TLS/RTP/SAVPF \(codec.payloadType.rawValue)
            c=IN IP4 \(address.map { "\($0.address)" } ?? "0.0.0.0")
            a=mid:0
            a=sendrecv
            a=rtcp-mux
            a=rtpmap:\(codec.payloadType.rawValue) \(encoding)
            a=ice-ufrag:\(credentials.ufrag)
            a=ice-pwd:\(credentials.password.value)
            a=fingerprint:\(fingerprint.value)
            a=setup:\(setup)
            a=ssrc:\(ssrc) cname:bench

            """.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
    }

    /// The same offer of another session (`o=`): the gateway takes the same description for a request that comes again.
    static func renamed(_ sdp: String) -> String {
        sdp.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("o=") else { return String(line) }
            var fields = line.split(separator: " ").map(String.init)
            fields[1] = String(UInt64.random(in: 1_000_000_000_000_000_000..<9_000_000_000_000_000_000))
            return fields.joined(separator: " ")
        }.joined(separator: "\r\n")
    }

    /// Where the gateway is, and what its checks are made with.
    static func gateway(in description: String) throws -> (address: SocketAddress, credentials: ICECredentials) {
        var (ufrag, password, address) = (String?.none, String?.none, SocketAddress?.none)
        for line in description.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("a=ice-ufrag:") { ufrag = String(line.dropFirst(12)) }
            if line.hasPrefix("a=ice-pwd:") { password = String(line.dropFirst(10)) }
            let fields = line.split(separator: " ")
            if line.hasPrefix("a=candidate:"), fields.count > 5, fields[1] == "1",
                fields[2].lowercased() == "udp", address == nil,
                let ip = IPAddress(fields[4]), let port = UInt16(fields[5])
            {
                address = SocketAddress(ip, port: port)
            }
        }
        guard let ufrag, let password, let address else {
            throw ValidationError("the gateway's description lacks something:\n\(description)")
        }
        return (address, ICECredentials(ufrag: ufrag, password: password))
    }
}
