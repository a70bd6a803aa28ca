import CallControl
import Foundation
import TestSupport
import Testing

/// The written form of every fact (docs/call-events.md): what was logged once can be read, and is written the same way.
struct WrittenFactTests {
    private static let lines = (try? Fixtures.text("events/facts.jsonl"))?.split(separator: "\n").map(String.init) ?? []

    private static func entries() throws -> [LoggedEvent] {
        try lines.map { try JSONDecoder().decode(LoggedEvent.self, from: Data($0.utf8)) }
    }

    @Test(arguments: lines) func `a line that is read and written again is the same`(_ line: String) throws {
        let entry = try JSONDecoder().decode(LoggedEvent.self, from: Data(line.utf8))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(String(decoding: try encoder.encode(entry), as: UTF8.self) == line)
    }

    @Test func `every fact has a line, under its name`() throws {
        let entries = try Self.entries()
        #expect(Set(entries.map { FactName($0.event.fact) }) == Set(FactName.allCases))
        for (entry, line) in zip(entries, Self.lines) {
            #expect(line.contains(#""fact":{"\#(FactName(entry.event.fact))":{"#))
        }
    }

    @Test func `every cause of an end has a line, under its name`() throws {
        var causes: Set<CallEndCause> = []
        for (entry, line) in zip(try Self.entries(), Self.lines) {
            guard case .released(let cause, _) = entry.event.fact else { continue }
            causes.insert(cause)
            #expect(line.contains(#""cause":{"\#(CauseName(cause))":{"#))
        }
        #expect(Set(causes.map { CauseName($0) }) == Set(CauseName.allCases))
        for reason in CallEndCause.Unreachable.allCases { #expect(causes.contains(.unreachable(reason))) }
        for failure in MediaFailure.allCases { #expect(causes.contains(.mediaFailed(.callee, failure))) }
    }

    @Test(arguments: [0, 1, 999, 12_345_678, 86_400_000_000_001] as [Int64])
    func `a measured time is read as it was written`(_ nanoseconds: Int64) throws {
        let quality = CallQuality(roundTrip: .nanoseconds(nanoseconds))
        let text = try JSONEncoder().encode(quality)
        #expect(try JSONDecoder().decode(CallQuality.self, from: text) == quality)
    }

    @Test(arguments: [
        #"{"roundTrip":1e300}"#, #"{"roundTrip":"12"}"#,
        #"{"heard":{"mos":4,"rating":90,"band":"superb","loss":0,"burstRatio":1,"jitter":2}}"#,
        #"{"heard":{"mos":4,"rating":90,"band":"good","loss":0,"burstRatio":1}}"#,
    ])
    func `a quality with a time or a band that cannot be is refused`(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CallQuality.self, from: Data(text.utf8)) }
    }

    @Test func `no value is without a name`() {
        #expect(Self.lines.allSatisfy { !$0.contains(#""_"#) })
    }
}

/// The names of the facts. A fact that is added does not compile without one, and fails without a line.
private enum FactName: CaseIterable {
    case joined, invited, waking, awoke, notWoken, wakingOver, rings, alerted, progressed, talks, established
    case stoppedRinging, rejected, forwarded
    case changedDevice, renewedSubscription, released, left, moved, ended
    case offered, answered, unanswered, candidates, held, resumed
    case transferStarted, transferFailed, completed
    case mediaReached, mediaRestarted, pathLost, pathRecovered, playbackEnded, qualityMeasured
    case content, keyPressed, played, gathered

    init(_ fact: CallEvent.Fact) {
        self =
            switch fact {
            case .joined: .joined
            case .invited: .invited
            case .waking: .waking
            case .awoke: .awoke
            case .notWoken: .notWoken
            case .wakingOver: .wakingOver
            case .rings: .rings
            case .alerted: .alerted
            case .progressed: .progressed
            case .talks: .talks
            case .established: .established
            case .stoppedRinging: .stoppedRinging
            case .rejected: .rejected
            case .forwarded: .forwarded
            case .changedDevice: .changedDevice
            case .renewedSubscription: .renewedSubscription
            case .released: .released
            case .left: .left
            case .moved: .moved
            case .ended: .ended
            case .offered: .offered
            case .answered: .answered
            case .unanswered: .unanswered
            case .candidates: .candidates
            case .held: .held
            case .resumed: .resumed
            case .transferStarted: .transferStarted
            case .transferFailed: .transferFailed
            case .completed: .completed
            case .mediaReached: .mediaReached
            case .mediaRestarted: .mediaRestarted
            case .pathLost: .pathLost
            case .pathRecovered: .pathRecovered
            case .playbackEnded: .playbackEnded
            case .qualityMeasured: .qualityMeasured
            case .content: .content
            case .keyPressed: .keyPressed
            case .played: .played
            case .gathered: .gathered
            }
    }
}

/// The names of the causes of an end.
private enum CauseName: CaseIterable {
    case completed, cancelled, rejected, unanswered, unreachable, mediaFailed, subscriptionEnded, callerLeft, clientLost
    case transferred, joinFailed, targetNotReached, tooLong, drained, endedByOperator, interrupted

    init(_ cause: CallEndCause) {
        self =
            switch cause {
            case .completed: .completed
            case .cancelled: .cancelled
            case .rejected: .rejected
            case .unanswered: .unanswered
            case .unreachable: .unreachable
            case .mediaFailed: .mediaFailed
            case .subscriptionEnded: .subscriptionEnded
            case .callerLeft: .callerLeft
            case .clientLost: .clientLost
            case .transferred: .transferred
            case .joinFailed: .joinFailed
            case .targetNotReached: .targetNotReached
            case .tooLong: .tooLong
            case .drained: .drained
            case .endedByOperator: .endedByOperator
            case .interrupted: .interrupted
            }
    }
}
