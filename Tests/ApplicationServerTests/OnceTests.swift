import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Testing

@Suite struct `Requests with a key` {
    private let body = #"{"to":"bob@example.com"}"#

    @Test func `a request is carried out once, and answered the same again, also by the next process`() async throws {
        let rig = try await Rig()
        let first = await rig.ask(.post, "/v1/calls", body, key: "k")
        #expect(first.status == 201)
        #expect(first.headers[.idempotentReplayed] == nil)
        for rig in [rig, rig.restarted()] {
            let again = await rig.ask(.post, "/v1/calls", body, key: "k")
            #expect(again.status == 201)
            #expect(again.bytes == first.bytes)
            #expect(again.headers[.idempotentReplayed] == "true")
            #expect(again.headers[.location] == first.headers[.location])
            #expect(again.headers[.eTag] == first.headers[.eTag])
        }
        #expect(rig.calls.requests.count == 1)
    }

    @Test func `another body, path or application is another request`() async throws {
        let rig = try await Rig()
        _ = await rig.ask(.post, "/v1/calls", body, key: "k")
        let other = await rig.ask(.post, "/v1/calls", #"{"to":"carol@example.com"}"#, key: "k")
        #expect(other.status == 422)
        #expect(other.code == "idempotency.key_reused")
        #expect(await rig.ask(.post, "/v1/calls/c1/ring", key: "k").code == "idempotency.key_reused")
        let principal = V1Principal.application(
            Rig.other, scopes: Rig.everything, addresses: [ApplicationAddress(Rig.alice)])
        #expect(await rig.ask(.post, "/v1/calls", body, key: "k", as: principal).status == 201)
        #expect(rig.calls.requests.count == 2)
        #expect(await rig.ask(.post, "/v1/calls", body, key: "two words").code == "idempotency.key_invalid")
    }

    @Test func `of a hundred equal requests at once one is carried out`() async throws {
        let rig = try await Rig()
        let answers = await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { await rig.ask(.post, "/v1/calls", body, key: "k").bytes } }
            var all: Set<[UInt8]> = []
            for await answer in group { all.insert(answer) }
            return all
        }
        #expect(answers.count == 1)
        #expect(rig.calls.requests.count == 1)
    }

    @Test func `a refusal is kept, unless waiting helps`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c0"))
        rig.calls.refuse(.notAllowed(RecordedCalls.call("c0"), "Not now."))
        let refused = await rig.ask(.post, "/v1/calls/c0/hold", key: "a")
        #expect(refused.code == "call.not_allowed")
        rig.calls.refuse(.limited("Too many.", retryAfter: .seconds(1)))
        #expect(await rig.ask(.post, "/v1/calls/c0/hold", key: "b").status == 429)
        rig.calls.refuse(.unavailable)
        #expect(await rig.ask(.post, "/v1/calls/c0/hold", key: "c").status == 503)
        rig.calls.refuse(nil)
        let again = await rig.ask(.post, "/v1/calls/c0/hold", key: "a")
        #expect(again.bytes == refused.bytes)
        #expect(again.headers[.eTag] == refused.headers[.eTag])
        for key in ["b", "c"] { #expect(await rig.ask(.post, "/v1/calls/c0/hold", key: key).status == 200) }
    }

    @Test func `a key is forgotten after a day`() async throws {
        let rig = try await Rig()
        _ = await rig.ask(.post, "/v1/calls", body, key: "k")
        rig.clock.advance(by: .seconds(86_399))
        _ = await rig.ask(.post, "/v1/calls", body, key: "k")
        #expect(rig.calls.requests.count == 1)
        rig.clock.advance(by: .seconds(2))
        _ = await rig.ask(.post, "/v1/calls", body, key: "k")
        #expect(rig.calls.requests.count == 2)
    }
}
