package import CallControl

/// A candidate as clients write it: `RTCIceCandidateInit` (W3C WebRTC §4.8.1.1, spidr-wire §8.10).
package struct CandidateField: Decodable, Hashable, Sendable {
    package var candidate: String
    package var sdpMid: String?
    package var sdpMLineIndex: Int?
    package var usernameFragment: String?

    package init(_ line: TrickledLine) {
        candidate = line.candidate
        sdpMid = line.mid
        sdpMLineIndex = line.mediaIndex
        usernameFragment = line.usernameFragment
    }

    /// Length of its texts.
    var bytes: Int { candidate.utf8.count + (sdpMid?.utf8.count ?? 0) + (usernameFragment?.utf8.count ?? 0) }

    package var line: TrickledLine {
        TrickledLine(candidate: candidate, mid: sdpMid, mediaIndex: sdpMLineIndex, usernameFragment: usernameFragment)
    }
}

extension CandidateField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("candidate", candidate)
            object.member("sdpMid", sdpMid)
            object.member("sdpMLineIndex", sdpMLineIndex)
            object.member("usernameFragment", usernameFragment)
        }
    }
}
