import MediaServer
import Testing

/// What the gateway makes of the audio of two who share no codec, rated as it rates calls: the bounds that a change of
/// jitter buffer, reports or E-model has to keep. In virtual time and from one seed, so that every run has the same
/// scores; five seconds take a fraction of one.
@Suite struct ConversationQualityTests {
    typealias Conditions = SimulatedConversation.Network.Conditions

    struct Expectation: Sendable {
        var conditions: Conditions
        /// Of every second, in both directions.
        var worst: Double
        /// Of Opus, and of G.711, which hides a loss less well.
        var opus: ClosedRange<Double>
        var muLaw: ClosedRange<Double>
    }

    @Test(arguments: [
        // A jitter that the playout holds back for costs next to nothing.
        Expectation(
            conditions: Conditions(latency: .milliseconds(60), jitter: .milliseconds(40)), worst: 4.35,
            opus: 4.4...4.5, muLaw: 4.35...4.5),
        Expectation(
            conditions: Conditions(loss: 0.02, latency: .milliseconds(60), jitter: .milliseconds(40)), worst: 3.5,
            opus: 4.2...4.45, muLaw: 3.9...4.25),
        Expectation(
            conditions: Conditions(loss: 0.1, latency: .milliseconds(60), jitter: .milliseconds(80)), worst: 2.9,
            opus: 3.6...4.1, muLaw: 3.2...3.7),
    ])
    func `the opinion score of a conversation is what its network allows`(_ expected: Expectation) throws {
        var conversation = try SimulatedConversation([(500, .opus, 0), (1_000, .muLaw, 0)], isMix: false, seed: 11)
        conversation.run(for: .seconds(5), under: [expected.conditions, expected.conditions])
        for (place, range) in [expected.opus, expected.muLaw].enumerated() {
            let scores = conversation.scores(of: place)
            #expect(scores.count == 4, "leg \(place): one after each second that is over")
            #expect(scores.allSatisfy { $0 >= expected.worst }, "leg \(place): \(scores)")
            #expect(range.contains(scores.reduce(0, +) / Double(scores.count)), "leg \(place): \(scores)")
        }
    }
}
