import Audio
import Foundation
import HeapProbe
import TestSupport
import Testing

/// An hour of audio that the gateway codes itself, over networks that lose, double and hold up packets, whose routes
/// change, between ends whose clocks are 300 ppm apart from the gateway's.
///
/// `ORBWEAVER_SIMULATED_MINUTES` says how many minutes it is (scripts/nightly: 60); four if nothing is said. Each
/// conversation is a process of its own, so that its memory is nobody else's.
@Suite(.serialized) struct LongConversationTests {
    private static let minutes =
        ProcessInfo.processInfo.environment["ORBWEAVER_SIMULATED_MINUTES"].flatMap { Int($0) }.map { max(3, $0) } ?? 4
    /// From the end of this minute on nothing more is to be taken from the heap: by then everything has been through
    /// all that befalls it.
    private static let settled = max(2, minutes / 12)
    /// Bytes: a queue that grew by eight bytes in every second of an hour would take three times as many.
    private static let heapTolerance = 8_192
    /// Beyond what is to be held back, 40 s after the last change of the route: what the playout
    /// tolerates, and a packet.
    private static let depthTolerance = Duration.milliseconds(15 + 20)
    /// No more than so much ever waits beyond what is to be held back (`AudioPlayout.Configuration.cap`).
    private static let cap = Duration.milliseconds(400)
    /// The most that is ever to be held back (`DelayEstimator.Configuration.maximum`), and a packet more for its
    /// redundancy.
    private static let mostHeldBack = Duration.milliseconds(220)

    @Test func `two who share no codec hear each other for an hour: depth bounded, nothing grows`() async {
        await #expect(processExitsWith: .success) {
            try LongConversationTests.hold([(500, .opus, 300), (1_000, .muLaw, -300)], isMix: false)
        }
    }

    @Test func `three in a mix hear the others and not themselves for an hour: depth bounded, nothing grows`() async {
        await #expect(processExitsWith: .success) {
            try LongConversationTests.hold([(500, .opus, 300), (1_000, .muLaw, -300), (400, .g722, 0)], isMix: true)
        }
    }

    private static func hold(_ voices: [(Double, AudioCodec, Double)], isMix: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var conversation = try SimulatedConversation(voices, isMix: isMix, seed: seed)
        var heap = 0
        for minute in 1...minutes {
            try expectMinute(minute, of: &conversation, isMix: isMix, "minute \(minute), seed \(seed)")
            if minute == settled { heap = heap_bytes_in_use() }
        }
        let growth = heap_bytes_in_use() - heap
        #expect(growth <= heapTolerance, "\(growth) bytes more than \(minutes - settled) minutes before, seed \(seed)")
        for place in conversation.places { expectPace(of: place, in: conversation, "seed \(seed)") }
    }

    private static func expectMinute(
        _ minute: Int, of conversation: inout SimulatedConversation, isMix: Bool, _ said: String
    ) throws {
        let heard = try pass(minute, of: &conversation)
        for place in conversation.places {
            expectDepth(of: place, in: conversation, said)
            expectOthers(heard[place], at: place, in: conversation, isMix: isMix, said)
        }
    }

    // MARK: What befalls them

    /// Twenty seconds on a route, another one for as long, then one that stays.
    private static func pass(_ minute: Int, of conversation: inout SimulatedConversation) throws -> [[Int16]] {
        for part in 0..<2 {
            conversation.run(for: .seconds(18), under: conversation.places.map { conditions(of: $0, minute, part) })
            // Now and then nothing comes for a while, or everything later.
            if minute % 10 == 1 {
                conversation.run(for: .milliseconds(300), under: conversation.places.map { _ in .init(loss: 1) })
                conversation.run(
                    for: .milliseconds(700), under: conversation.places.map { _ in .init(latency: .milliseconds(900)) })
            }
            conversation.run(for: .seconds(2), under: conversation.places.map { conditions(of: $0, minute, part) })
        }
        conversation.run(for: .seconds(38), under: conversation.places.map { conditions(of: $0, minute, 2) })
        return try conversation.listen(
            for: .seconds(2), under: conversation.places.map { conditions(of: $0, minute, 2) })
    }

    /// Every end has conditions of its own, and the next ones in the next minute.
    private static func conditions(of place: Int, _ minute: Int, _ part: Int)
        -> SimulatedConversation.Network.Conditions
    {
        let losses = [0.02, 0.1, 0, 0.05, 0.01]
        let latencies = [20, 180, 60, 250, 30, 120, 90]
        // More than the 20 ms between packets lets them overtake each other.
        let jitters = [0, 50, 10, 80]
        return .init(
            loss: losses[(minute + place) % losses.count], duplication: 0.01,
            latency: .milliseconds(latencies[(minute * 3 + part + 2 * place) % latencies.count]),
            jitter: .milliseconds(jitters[(minute + 3 * place) % jitters.count]))
    }

    // MARK: What is to come of it

    private static func expectDepth(of place: Int, in conversation: SimulatedConversation, _ said: String) {
        guard let waiting = conversation.waiting(from: place) else {
            Issue.record("leg \(place) is decoded, \(said)")
            return
        }
        #expect(waiting.depth <= waiting.target + depthTolerance, "leg \(place), \(said)")
        let playout = conversation.playout(of: place)
        #expect(playout.excess <= cap && playout.deepest <= cap + mostHeldBack, "leg \(place): \(playout), \(said)")
    }

    /// Of two the other one; in a mix all others alike, and not oneself.
    private static func expectOthers(
        _ heard: [Int16], at place: Int, in conversation: SimulatedConversation, isMix: Bool, _ said: String
    ) {
        let codec = conversation.voice(place).codec
        #expect(heard.count >= codec.rate * 3 / 2, "leg \(place), \(said)")
        for other in conversation.places {
            let share = codec.share(of: conversation.voice(other).frequency, in: heard)
            let (least, most) = other == place ? (0, 0.05) : isMix ? (0.25, 0.75) : (0.7, 1)
            #expect(least...most ~= share, "of \(other) at \(place), \(said)")
        }
    }

    /// Clocks are followed by taking out and putting in, and neither takes the place of what was said.
    private static func expectPace(of place: Int, in conversation: SimulatedConversation, _ said: String) {
        guard let statistics = conversation.statistics(of: place) else {
            Issue.record("leg \(place) is measured, \(said)")
            return
        }
        let played = Double(statistics.played)
        #expect(played > Double(minutes * 60 - 1) * 48_000, "leg \(place), \(said)")
        #expect(Double(statistics.concealed) < 0.1 * played, "leg \(place): \(statistics), \(said)")
        #expect(
            Double(statistics.shortened + statistics.lengthened) < 0.03 * played, "leg \(place): \(statistics), \(said)"
        )
    }
}
