import ApplicationServer
import CallControl
import CallRuntime
import Foundation
import GatewayAPI
import HTTPTypes
import Testing

@Suite struct `Recordings of applications` {
    private func ids(_ reply: Rig.Reply) -> [String] {
        (reply.json["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }

    @Test func `what is known of a recording is shown`() async throws {
        let rig = try await Rig()
        rig.recordings.add(KnownRecordings.recording(1, tag: "order 7", bytes: 44))
        let shown = await rig.ask(.get, "/v1/recordings/c1-1")
        #expect(shown.status == 200)
        #expect(shown.json["session"] as? String == "c1" && shown.json["call"] as? String == "ab")
        #expect(shown.json["state"] as? String == "stopped" && shown.json["reason"] as? String == "command")
        #expect(shown.json["tag"] as? String == "order 7" && shown.json["bytes"] as? Int == 44)
        rig.recordings.add(KnownRecordings.recording(2))
        let going = await rig.ask(.get, "/v1/recordings/c1-2")
        #expect(going.json["state"] as? String == "recording")
        #expect(going.json["bytes"] == nil && going.json["milliseconds"] == nil && going.json["reason"] == nil)
    }

    @Test func `recordings come in pages, and filtered`() async throws {
        let rig = try await Rig()
        for number in 10..<35 {
            rig.recordings.add(
                KnownRecordings.recording(number, tag: number == 20 ? "x" : nil, bytes: number == 30 ? nil : 1))
        }
        var paused = KnownRecordings.recording(40)
        paused.state = .paused
        rig.recordings.add(paused)
        rig.recordings.add(KnownRecordings.recording(50, of: Rig.other, bytes: 1))
        var (seen, cursor) = ([String](), "")
        while true {
            let page = await rig.ask(.get, "/v1/recordings?limit=7" + cursor)
            seen += ids(page)
            guard let next = page.json["next"] as? String else { break }
            cursor = "&cursor=\(next)"
        }
        #expect(seen == (Array(10..<35) + [40]).map { "c1-\($0)" })
        #expect(ids(await rig.ask(.get, "/v1/recordings?tag=x")) == ["c1-20"])
        #expect(ids(await rig.ask(.get, "/v1/recordings?state=recording")) == ["c1-30"])
        #expect(ids(await rig.ask(.get, "/v1/recordings?state=paused&limit=1")) == ["c1-40"])
        #expect(ids(await rig.ask(.get, "/v1/recordings?session=c2")).isEmpty)
        for query in ["state=old", "cursor=x", "limit=0", "user=a"] {
            #expect(await rig.ask(.get, "/v1/recordings?\(query)").code == "request.invalid_parameter", "\(query)")
        }
    }

    @Test func `a file is sent whole`() async throws {
        let rig = try await Rig()
        // More than is sent at a time.
        rig.recordings.add(KnownRecordings.recording(1, bytes: 200_000))
        let whole = await rig.ask(.get, "/v1/recordings/c1-1/audio")
        #expect(whole.status == 200 && whole.bytes.count == 200_000)
        #expect(whole.bytes.indices.allSatisfy { whole.bytes[$0] == UInt8(truncatingIfNeeded: $0) })
        #expect(whole.headers[.contentLength] == "200000" && whole.headers[.acceptRanges] == "bytes")
        #expect(whole.headers[.eTag] == "\"c1-1\"")
        #expect(whole.headers[.contentDisposition] == "attachment; filename=\"c1-1.wav\"")
    }

    @Test(
        arguments: [
            ("bytes=0-99", 206, 0..<100), ("bytes=100-", 206, 100..<200_000), ("bytes=-100", 206, 199_900..<200_000),
            ("bytes=199999-300000", 206, 199_999..<200_000), ("bytes=-300000", 206, 0..<200_000),
            ("Bytes=65535-65536", 206, 65_535..<65_537), ("bytes=0-99999999999999999999", 206, 0..<200_000),
            // What is no single range is ignored.
            ("bytes=5-4", 200, 0..<200_000), ("bytes=-", 200, 0..<200_000), ("bytes=a-b", 200, 0..<200_000),
            ("bytes=0-1,5-6", 200, 0..<200_000), ("lines=0-1", 200, 0..<200_000), ("bytes", 200, 0..<200_000),
            ("bytes=200000-", 416, 0..<0), ("bytes=-0", 416, 0..<0),
            ("bytes=99999999999999999999-", 416, 0..<0),
        ] as [(String, Int, Range<Int>)])
    func `a range of a file is sent`(_ range: String, _ status: Int, _ place: Range<Int>) async throws {
        let rig = try await Rig()
        rig.recordings.add(KnownRecordings.recording(1, bytes: 200_000))
        let part = await rig.ask(.get, "/v1/recordings/c1-1/audio", range: range)
        #expect(part.status == status)
        switch status {
        case 416:
            #expect(part.code == "request.range_not_satisfiable" && part.headers[.contentRange] == "bytes */200000")
        default:
            #expect(part.bytes == place.map { UInt8(truncatingIfNeeded: $0) })
            #expect(part.headers[.contentLength] == "\(place.count)")
            let shown = "bytes \(place.lowerBound)-\(place.upperBound - 1)/200000"
            #expect(part.headers[.contentRange] == (status == 206 ? shown : nil))
        }
    }

    @Test func `a range holds only for the file that it was meant for`() async throws {
        let rig = try await Rig()
        rig.recordings.add(KnownRecordings.recording(1, bytes: 100))
        for (condition, status) in [
            ("\"c1-1\"", 206), ("\"c1-2\"", 200), ("W/\"c1-1\"", 200), ("Tue, 15 Nov 1994 12:45:26 GMT", 200),
        ] {
            let answer = await rig.ask(
                .get, "/v1/recordings/c1-1/audio", range: "bytes=0-1", condition: condition)
            #expect(answer.status == status, "\(condition)")
        }
    }

    @Test func `a recording that goes on is neither sent nor removed`() async throws {
        let rig = try await Rig()
        rig.recordings.add(KnownRecordings.recording(1))
        #expect(await rig.ask(.get, "/v1/recordings/c1-1/audio").code == "recording.not_ended")
        #expect(await rig.ask(.delete, "/v1/recordings/c1-1").code == "recording.not_ended")
    }

    @Test func `a recording of another application is not there`() async throws {
        let rig = try await Rig()
        rig.recordings.add(KnownRecordings.recording(1, of: Rig.other, bytes: 100))
        for (method, path) in [
            (HTTPRequest.Method.get, "/v1/recordings/c1-1"), (.get, "/v1/recordings/c1-1/audio"),
            (.delete, "/v1/recordings/c1-1"), (.get, "/v1/recordings/..%2Fsecret/audio"),
        ] {
            let answer = await rig.ask(method, path)
            #expect(answer.status == 404 && answer.code == "recording.not_found", "\(path)")
        }
        #expect(await rig.ask(.get, "/v1/recordings/c1-1/other").code == "resource.not_found")
    }

    @Test func `a removed recording is gone`() async throws {
        let rig = try await Rig()
        rig.recordings.add(KnownRecordings.recording(1, bytes: 100))
        let removed = await rig.ask(.delete, "/v1/recordings/c1-1")
        #expect(removed.status == 200 && removed.json["id"] as? String == "c1-1")
        #expect(await rig.ask(.delete, "/v1/recordings/c1-1").code == "recording.not_found")
    }

    @Test func `a call that is to be recorded needs the scope for it`() async throws {
        let rig = try await Rig()
        let without = V1Principal.application(
            Rig.bot, scopes: Rig.everything.subtracting([.recordings]), addresses: [ApplicationAddress(Rig.address)])
        let body = #"{"to":"alice@example.com","record":{"format":"wav"}}"#
        #expect(await rig.ask(.post, "/v1/calls", body, as: without).code == "auth.forbidden")
        #expect(rig.calls.requests.isEmpty)
        #expect(await rig.ask(.post, "/v1/calls", body).status == 201)
        #expect(rig.calls.requests.map(\.record?.format) == [.wav])
        let wrong = await rig.ask(.post, "/v1/calls", #"{"to":"alice@example.com","record":{"channels":3}}"#)
        #expect(wrong.code == "request.invalid_value" && wrong.detail?.contains("record.channels") == true)
    }

    @Test func `where nothing is recorded, it is said so`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        rig.calls.refuse(.recordingNotProvided)
        let refused = await rig.ask(.post, "/v1/calls/c1/record")
        #expect(refused.status == 403 && refused.code == "service.not_provided")
        #expect(refused.detail?.contains("recordings.folder") == true)
    }
}
