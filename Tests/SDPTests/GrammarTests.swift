import SDP
import TestSupport
import Testing

struct GrammarTests {
    static let fixtures = [
        "chromium-156", "firefox-153", "aiortc-1.16", "gstreamer-1.22", "pion-3.1.56", "wrtc-0.1.0",
    ].flatMap { Fixtures.files(in: "sdp/" + $0) }

    @Test(arguments: fixtures)
    func `what a peer wrote comes out as it went in`(_ path: String) throws {
        let text = try Fixtures.text(path)
        #expect(try SessionDescription(parsing: text).serialized == text)
    }

    @Test(arguments: fixtures)
    func `lines may end in a line feed alone`(_ path: String) throws {
        let text = try Fixtures.text(path)
        let bare = String(decoding: text.utf8.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        #expect(try SessionDescription(parsing: bare).serialized == text)
    }

    @Test(arguments: Fixtures.files(in: "sdp/reference-guide"))
    func `the excerpts of the reference guide come out as they went in`(_ path: String) throws {
        let text = try Fixtures.text(path)
        // Excerpts begin at m= or at o=, and none has t=.
        let whole =
            text.hasPrefix("o=")
            ? "v=0\r\n" + text.replacing("s=-\r\n", with: "s=-\r\nt=0 0\r\n")
            : "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n" + text
        #expect(try SessionDescription(parsing: whole).serialized == whole)
    }

    @Test
    func `every line of RFC 8866 §5 is kept in its place`() throws {
        let text = """
            v=0\r\no=jdoe 3724394400 3724394405 IN IP4 198.51.100.1\r\ns=Call to John Smith\r\ni=SDP Offer #1\r
            u=http://www.jdoe.example.com/home.html\r\ne=Jane Doe <jane@jdoe.example.com>\r\np=+1 617 555-6011\r
            c=IN IP4 198.51.100.1\r\nb=CT:154798\r\nt=3724394400 3724398000\r\nr=7d 1h 0 25h\r\nz=2882844526 -1h 2898848070 0\r
            t=0 0\r\nk=prompt\r\na=recvonly\r\na=cat:\r\nm=audio 49170/2 RTP/AVP 0\r\ni=Vivaldi\r\nc=IN IP4 233.252.0.1/127\r
            c=IN IP4 233.252.0.2/127\r\nb=AS:64\r\nb=X-YZ:128\r\nk=clear:x\r\na=sendonly\r\nm=video 51372 RTP/AVP 99\r
            c=IN IP6 2001:db8::2\r\na=rtpmap:99 h263-1998/90000\r\n
            """
        let session = try SessionDescription(parsing: text)
        #expect(session.serialized == text)
        #expect(
            session.origin
                == Origin(
                    username: "jdoe", sessionID: 3_724_394_400, version: 3_724_394_405, address: session.connection!))
        #expect(
            session.times == [
                ActiveTime(
                    start: 3_724_394_400, stop: 3_724_398_000, repeats: ["7d 1h 0 25h"],
                    zones: "2882844526 -1h 2898848070 0"),
                .unbounded,
            ])
        #expect(session.attributes == [Attribute("recvonly"), Attribute("cat", "")])
        #expect(session.media[0].portCount == 2)
        #expect(session.media[0].bandwidths == [Bandwidth(type: "AS", value: 64), Bandwidth(type: "X-YZ", value: 128)])
        #expect(session.media[0].connections.count == 2)
        #expect(session.media[1].attributes.value(of: "rtpmap") == "99 h263-1998/90000")
    }

    static let head = "v=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\nt=0 0\n"

    @Test(
        arguments: [
            ("", 1, .missingVersion),
            ("v=1\n", 1, .unsupportedVersion),
            ("o=- 1 1 IN IP4 0.0.0.0\n", 1, .missingVersion),
            ("v=0\ns=-\n", 2, .missingOrigin),
            ("v=0\no=- 1 1 IN IP4\n", 2, .originFields),
            ("v=0\no=- x 1 IN IP4 0.0.0.0\n", 2, .originNumbers),
            ("v=0\no=- 9223372036854775808 1 IN IP4 0.0.0.0\n", 2, .originNumbers),
            ("v=0\no=- 1 1 IN IP4 0.0.0.0\n", 3, .missingName),
            ("v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\n", 4, .missingTimes),
            ("v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0\n", 4, .timeFields),
            (head + "c=IN IP4 0.0.0.0\n", 5, .misplaced("c")),
            (head + "x=1\n", 5, .unknownType),
            (head + "A=x\n", 5, .unknownType),
            (head + "a\n", 5, .noType),
            (head + "\na=x\n", 5, .empty),
            (head + "a=\n", 5, .attributeName),
            (head + "a=:x\n", 5, .attributeName),
            (head + "a=x\u{0}y\n", 5, .controlCharacter),
            (head + "a=x\ry\n", 5, .controlCharacter),
            (head + "m=audio 9\n", 5, .mediaFields),
            (head + "m=audio 65536 RTP/AVP 0\n", 5, .mediaPort),
            (head + "m=audio -1 RTP/AVP 0\n", 5, .mediaPort),
            (head + "m=audio 9/0 RTP/AVP 0\n", 5, .mediaPortCount),
            (head + "m=audio 9 RTP/AVP 0\na=x\nb=AS:1\n", 7, .misplaced("b")),
            (head + "m=audio 9 RTP/AVP 0\nb=AS\n", 6, .bandwidthFields),
            (head + "m=audio 9 RTP/AVP 0\nc=IN IP4\n", 6, .connectionFields),
        ] as [(String, Int, SDPError.LineFault)])
    func `an error names the line and what is wrong with it`(_ text: String, _ line: Int, _ fault: SDPError.LineFault) {
        #expect(throws: SDPError.malformedLine(line, fault)) { try SessionDescription(parsing: text) }
    }

    @Test
    func `empty lines at the end and a missing last line end are tolerated`() throws {
        #expect(
            try SessionDescription(parsing: Self.head + "a=x\r\n\r\n\n")
                == SessionDescription(parsing: Self.head + "a=x"))
    }

    @Test(
        arguments: [
            (head + String(repeating: "a=0123456789\n", count: 5_400), .bytes(65_536)),
            (head + "a=" + String(repeating: "x", count: 4_095) + "\n", .lineBytes(4_096, line: 5)),
            (head + String(repeating: "a=x\n", count: 2_001), .attributeCount(2_000, line: 2_005)),
            (
                head + "m=audio 9 RTP/AVP 0\n" + String(repeating: "b=AS:1\n", count: 2_001),
                .attributeCount(2_000, line: 2_006)
            ),
            (head + String(repeating: "m=audio 9 RTP/AVP 0\n", count: 65), .mediaCount(64)),
        ] as [(String, SDPError.Limit)])
    func `what is too large is refused`(_ text: String, _ limit: SDPError.Limit) {
        #expect(throws: SDPError.limitExceeded(limit)) { try SessionDescription(parsing: text) }
    }

    @Test
    func `what is just small enough is read`() throws {
        let text =
            Self.head + String(repeating: "a=x\n", count: 1_999) + "a=" + String(repeating: "x", count: 4_094) + "\n"
        #expect(try SessionDescription(parsing: text).attributes.count == 2_000)
        #expect(
            try SessionDescription(parsing: Self.head + String(repeating: "m=audio 9 RTP/AVP 0\n", count: 64)).media
                .count == 64)
    }
}
