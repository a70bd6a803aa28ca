import SDP
import TestSupport
import Testing

/// The excerpts in the guide of the mobile SDK: what its users' codec replacement and bandwidth limits make of an
/// offer.
struct ReferenceGuideTests {
    static let codecExcerpts = Fixtures.files(in: "sdp/reference-guide").filter { $0.contains("/codecs-") }

    /// The excerpts begin at their first m-line.
    private func offer(_ path: String, session: [String]) throws -> String {
        let head =
            ["v=0", "o=- 1173675450103298446 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE audio video"]
            + session
        return try head.joined(separator: "\r\n") + "\r\n" + Fixtures.text(path)
    }

    @Test(arguments: codecExcerpts)
    func `keys in the description are refused as such`(_ path: String) throws {
        var call = TestCall()
        let text = try offer(path, session: [])
        #expect(throws: SDPError.noUsableMedia([.keysInDescription, .keysInDescription])) {
            try call.offer(text)
        }
    }

    @Test(arguments: codecExcerpts)
    func `with a fingerprint, whatever payload numbers the app chose are offered on`(_ path: String) throws {
        var call = TestCall()
        let text = try offer(path, session: ["a=fingerprint:sha-256 " + PeerText.digest, "a=setup:actpass"])
        let session = try SessionDescription(parsing: text)
        let offered = try call.offer(text)
        #expect(offered.media[0].formats == session.media[0].formats)
        #expect(offered.media[0].attributes.values(of: "rtpmap") == session.media[0].attributes.values(of: "rtpmap"))
        let fec = ["104", "124", "106"]  // red, its rtx and ulpfec
        #expect(offered.media[1].formats == session.media[1].formats.filter { !fec.contains($0) })
        #expect(
            offered.media[1].attributes.values(of: "fmtp")
                == session.media[1].attributes.values(of: "fmtp").filter { $0 != "124 apt=104" })
        #expect(offered.media.map { $0.attributes.value(of: "mid") } == ["audio", "video"])
        #expect(!offered.serialized.contains("a=crypto"))
    }
}
