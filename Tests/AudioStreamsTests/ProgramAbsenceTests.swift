import AudioStreams
import Primitives
import Testing

@Suite struct `Programs that open their streams themselves` {
    private static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime.zero + .milliseconds(milliseconds)
    }

    private let configuration = StreamDialing.Configuration(limit: .seconds(5), steadyTime: .seconds(2))

    @Test func `a program that was there for a while has all the time`() {
        var absence = ProgramAbsence(openedAt: .zero, configuration)
        #expect(absence.deadline == nil)
        let waits = absence.lost(.transient, at: Self.time(30_000))
        #expect(waits && absence.deadline == Self.time(35_000))
        let isEarly = absence.timeout(at: Self.time(34_999))
        let isTime = absence.timeout(at: Self.time(35_000))
        #expect(!isEarly && isTime && absence.deadline == nil)
        let isTwice = absence.timeout(at: Self.time(36_000))
        #expect(!isTwice, "it is given up once")
    }

    @Test func `a program that comes back and loses its sockets at once does not start anew`() {
        var absence = ProgramAbsence(openedAt: .zero, configuration)
        _ = absence.lost(.transient, at: Self.time(10_000))
        for start in stride(from: 10_500, to: 14_000, by: 1_000) {
            absence.opened(at: Self.time(start), configuration)
            #expect(absence.deadline == nil)
            let waits = absence.lost(.transient, at: Self.time(start + 500))
            #expect(waits && absence.deadline == Self.time(15_000))
        }
        // One that stays is a success.
        absence.opened(at: Self.time(14_900), configuration)
        let waits = absence.lost(.transient, at: Self.time(16_900))
        #expect(waits && absence.deadline == Self.time(21_900))
    }

    @Test func `who is too late already is given up at the next look`() {
        var absence = ProgramAbsence(openedAt: .zero, .init(limit: .zero))
        let waits = absence.lost(.transient, at: Self.time(20))
        let isTime = absence.timeout(at: Self.time(20))
        #expect(waits && isTime)
    }

    @Test func `a stream that its program has ended is over, and what is wrong is not waited for`() {
        var ended = ProgramAbsence(openedAt: .zero, configuration)
        let isAwaited = ended.lost(.ended, at: Self.time(100))
        #expect(!isAwaited && ended.deadline == nil)
        // The next one starts anew, with terms of its own.
        ended.opened(at: Self.time(60_000), .init(limit: .seconds(1)))
        let waits = ended.lost(.transient, at: Self.time(60_000))
        #expect(waits && ended.deadline == Self.time(61_000))
        var wrong = ProgramAbsence(openedAt: .zero, configuration)
        let isNoted = wrong.lost(.final, at: Self.time(100))
        let isTime = wrong.timeout(at: Self.time(100))
        #expect(isNoted && isTime)
    }

    @Test(
        arguments: [
            (1_000, .ended), (1_001, .transient), (1_005, .transient), (1_006, .transient), (1_011, .transient),
            (1_012, .transient), (1_013, .transient), (1_014, .transient), (1_002, .final), (1_008, .final),
            (1_009, .final), (4_000, .final),
        ] as [(Int, StreamLoss)])
    func `the code of a closed socket says whether its program may come back`(_ code: Int, _ loss: StreamLoss) {
        #expect(StreamLoss(closedWith: code) == loss)
    }
}
