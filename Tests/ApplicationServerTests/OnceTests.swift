import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Primitives
import Storage
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

    @Test func `a key of a removed application is none of another one with its name`() async throws {
        let rig = try await Rig()
        let first = await rig.ask(.post, "/v1/calls", body, key: "k")
        #expect(first.status == 201)
        let next = ApplicationIdentity(name: Rig.bot.name, number: 3)
        try await rig.database.applications.remove(Rig.bot.name)
        try await rig.database.applications.add(
            StoredApplication(name: next.name, number: next.number, domain: "", secret: Redacted("s")))
        let principal = V1Principal.application(
            next, scopes: Rig.everything, addresses: [ApplicationAddress(Rig.address)])
        let own = await rig.ask(.post, "/v1/calls", body, key: "k", as: principal)
        #expect(own.status == 201 && own.headers[.idempotentReplayed] == nil)
        #expect(rig.calls.requests.count == 2)
        // What comes late of the former one is not carried out.
        #expect(await rig.ask(.post, "/v1/calls", body, key: "k").status == 503)
        #expect(rig.calls.requests.count == 2)
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

    @Test func `an application that uses too many keys is refused further ones, and others are not`() async throws {
        let rig = try await Rig()
        for number in 1...Rig.keys {
            #expect(await rig.ask(.post, "/v1/calls", body, key: "k\(number)").status == 201)
        }
        for rig in [rig, rig.restarted()] {
            let refused = await rig.ask(.post, "/v1/calls", body, key: "more")
            #expect(refused.status == 429 && refused.code == "idempotency.limited")
            #expect(refused.headers[.retryAfter] == "86401", "the first one is kept for a day")
            #expect(await rig.ask(.post, "/v1/calls", body, key: "k1").headers[.idempotentReplayed] == "true")
        }
        #expect(rig.calls.requests.count == Rig.keys)
        #expect(await rig.ask(.post, "/v1/calls", body).status == 201, "without a key")
        let principal = V1Principal.application(
            Rig.other, scopes: Rig.everything, addresses: [ApplicationAddress(Rig.alice)])
        #expect(await rig.ask(.post, "/v1/calls", body, key: "more", as: principal).status == 201)
    }

    @Test func `a refusal is not kept, and the next request with the key is carried out`() async throws {
        let rig = try await Rig()
        let call = RecordedCalls.call("c0")
        rig.calls.add(call)
        for (refusal, status) in [
            (.notAllowed(call, .pending), 409), (.versionMismatch(call), 412),
            (.limited(.startsOfApplication, retryAfter: .seconds(1)), 429), (.unavailable, 503),
        ] as [(ApplicationRefusal, Int)] {
            rig.calls.refuse(refusal)
            let key = "k-\(status)"
            #expect(await rig.ask(.post, "/v1/calls/c0/hold", key: key).status == status)
            rig.calls.refuse(nil)
            let carriedOut = rig.calls.commands.count
            let next = await rig.ask(.post, "/v1/calls/c0/hold", key: key)
            #expect(next.status == 200 && next.headers[.idempotentReplayed] == nil, "\(status)")
            #expect(await rig.ask(.post, "/v1/calls/c0/hold", key: key).bytes == next.bytes)
            #expect(rig.calls.commands.count == carriedOut + 1)
        }
        #expect(await rig.ask(.post, "/v1/calls", "{}", key: "body").status == 400)
        #expect(await rig.ask(.post, "/v1/calls", body, key: "body").status == 201, "a body that was put right")
    }

    @Test func `a request that was carried out is answered as it was, whatever version it names`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c0"))
        let first = await rig.ask(.post, "/v1/calls/c0/hold", key: "k", match: "\"1\"")
        #expect(first.status == 200)
        for match in ["\"1\"", "\"2\"", nil] {
            #expect(await rig.ask(.post, "/v1/calls/c0/hold", key: "k", match: match).bytes == first.bytes)
        }
        #expect(rig.calls.commands.count == 1)
        #expect(await rig.ask(.post, "/v1/calls/c0/mute", key: "m", match: "\"1\"").status == 412)
        #expect(await rig.ask(.post, "/v1/calls/c0/mute", key: "m", match: "\"2\"").status == 200)
    }

    @Test func `an answer that could not be stored is given again, and nothing is done twice`() async throws {
        let rig = try await Rig()
        let (failing, requests) = rig.withFailingRequests()
        requests.fail()
        for _ in 0..<2 {
            #expect(await failing.ask(.post, "/v1/calls", body, key: "k").code == "service.unavailable")
        }
        requests.fail(false)
        for rig in [failing, failing, rig.restarted()] {
            let again = await rig.ask(.post, "/v1/calls", body, key: "k")
            #expect(again.status == 201 && again.headers[.idempotentReplayed] == "true")
            #expect(again.headers[.location] == "/v1/calls/c1")
        }
        #expect(rig.calls.requests.count == 1)
    }

    @Test func `a key that could not be given up is used again`() async throws {
        let rig = try await Rig()
        let (failing, requests) = rig.withFailingRequests()
        rig.calls.refuse(.limited(.startsOfApplication, retryAfter: .seconds(1)))
        requests.fail()
        #expect(await failing.ask(.post, "/v1/calls", body, key: "k").status == 429)
        requests.fail(false)
        rig.calls.refuse(nil)
        let next = await failing.ask(.post, "/v1/calls", body, key: "k")
        #expect(next.status == 201 && next.headers[.idempotentReplayed] == nil)
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
