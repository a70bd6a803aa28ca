import CallControl
import Foundation
import GatewayAPI
import Testing

@Suite struct `Routes of calls and the call log` {
    private let user = "/rest/version/1/user/joe@example.com"

    @Test func `all calls that go on are listed`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", user + "/callControl/callSessions")
            #expect(answer.status == 200)
            let session = try #require(
                try WireJSON.decode(CallSessionsResponse.self, from: Data(answer.body.utf8)).callSessions.first)
            #expect([session.sessionData, session.state, session.callState] == ["A1", "RINGING", "DIALING"])
            #expect(await server.switchboard.events.contains(.calls(address("joe"))))
        }
    }

    @Test func `the state query tells more than the protocol asks for, after what it does ask for`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", user + "/callControl/callSessions/A1")
            #expect(answer.body.hasPrefix(#"{"callControlResponse":{"statusCode":0,"state":"RINGING","callSession":{"#))
        }
    }

    @Test(arguments: [
        ("", 0, 25), ("?startIndex=10", 10, 25), ("?startIndex=0&count=5", 0, 5), ("?count=1000", 0, 100),
        ("?count=0&x=y", 0, 0),
    ])
    func `a part of the log is asked for`(_ query: String, _ start: Int, _ count: Int) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", user + "/logHistory" + query)
            #expect(answer.status == 200)
            let item = try #require(
                try WireJSON.decode(LogHistoryResponse.self, from: Data(answer.body.utf8)).logItems?.first)
            #expect(item.type == "CallLog")
            #expect(
                [item.params.recordId, item.params.startTime, item.params.duration, item.params.direction] == [
                    "A1", "1000", "31", "outgoing",
                ])
            #expect(await server.switchboard.events.contains(.log(address("joe"), from: start, count: count)))
        }
    }

    @Test(arguments: ["startIndex=-1", "count=many", "count=", "startIndex=1e3", "count=99999999999999999999"])
    func `a part that makes no sense is refused by name`(_ query: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", user + "/logHistory?" + query)
            #expect(answer.status == 400)
            #expect(try answer.member("logHistory.code") == "request.invalid_value")
            #expect(try answer.member("logHistory.reason")?.contains(String(query.prefix { $0 != "=" })) == true)
        }
    }

    @Test func `the log and its items are deleted`() async throws {
        try await TestServer.run { server in
            let one = try await server.request("DELETE", user + "/logRecord/A1")
            let all = try await server.request("DELETE", user + "/logHistory")
            #expect(one.body == #"{"logRecord":{"statusCode":0}}"#)
            #expect(all.body == #"{"logHistory":{"statusCode":0}}"#)
            let events = await server.switchboard.events
            #expect(
                events.contains(.removeRecord(address("joe"), SessionID("A1")))
                    && events.contains(.clearLog(address("joe"))))
        }
    }

    @Test(arguments: ["GET", "DELETE"])
    func `an unknown record has a code of its own`(_ method: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request(method, user + "/logRecord/B7")
            #expect(answer.status == 404)
            #expect(try answer.member("logRecord.code") == "log.record_not_found")
            #expect(try answer.member("logRecord.statusCode") == "42")
        }
    }
}
