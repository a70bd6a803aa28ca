import CallControl
import Cryptography
import EventAPI
import Foundation
import NIOHTTP1
import Observability
import Testing

@testable import WebhookDelivery

/// How events get from the log to a receiver. What happens when it refuses or is killed is in
/// Tests/IntegrationTests/test_webhooks.py and test_events_under_kills.py.
struct WebhookWorkerTests {
    /// Four events of each of so many calls, one call after the other.
    private func events(ofCalls count: Int64) -> [PublicEvent] {
        (0..<count * 4).map { number in
            PublicEvent(
                number: number + 1, call: String(number / 4, radix: 16), type: "leg.held", time: 5_000,
                scope: EventScope([.application(Rig.bots)]), json: Array(#"{"number":\#(number + 1)}"#.utf8))
        }
    }

    private func wait(until condition: () -> Bool) async throws {
        for _ in 0..<20_000 where !condition() { try await Task.sleep(for: .milliseconds(5)) }
        #expect(condition())
    }

    private func withRig(_ events: [PublicEvent], _ body: (Rig, Receiver) async throws -> Void) async throws {
        let receiver = try Receiver()
        let rig = try Rig(receiver.url, events)
        do {
            try await body(rig, receiver)
        } catch {
            Issue.record(error)
        }
        await rig.stop()
        try await receiver.stop()
    }

    @Test func `each event is sent once, signed, and those of a call in order`() async throws {
        let events = events(ofCalls: 50)
        try await withRig(events) { rig, receiver in
            try await wait { rig.outbox.place == 200 && rig.outbox.owed.isEmpty }
            let requests = receiver.requests
            #expect(requests.count == 200 && rig.metrics.webhookAttempts[.delivered].value == 200)
            var numbers: [Int64] = []
            for (head, body) in requests {
                let name = try #require(head.headers.first(name: "webhook-id"))
                let time = try #require(head.headers.first(name: "webhook-timestamp"))
                let signed = Array("\(name).\(time).\(body)".utf8)
                let code = Data(HMAC.sha256(key: Rig.key, signed.span)).base64EncodedString()
                #expect(head.headers.first(name: "webhook-signature") == "v1,\(code)")
                let number = try #require(Int64(name.dropFirst("evt_ab-".count)))
                #expect(body == #"{"id":"ab-\#(number)","number":\#(number)}"#)
                numbers.append(number)
            }
            #expect(Set(numbers).count == 200)
            for call in 0..<50 as Range<Int64> {
                let own = numbers.filter { ($0 - 1) / 4 == call }
                #expect(own == own.sorted(), "call \(call)")
            }
        }
    }

    @Test func `outcomes are written together while others are on their way`() async throws {
        try await withRig(events(ofCalls: 50)) { rig, _ in
            try await wait { rig.outbox.place == 200 && rig.outbox.owed.isEmpty }
            // Those that were on their way together, up to eight, are mostly written together as well.
            #expect(rig.outbox.writes.reduce(0, +) == 200 && rig.outbox.writes.count < 100)
        }
    }
}
