import AudioStreams
import Primitives
import TestSupport
import Testing

@Suite struct `Connections to the programs of streams` {
    private static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime.zero + .milliseconds(milliseconds)
    }

    /// The times at which a program is tried that is never there, in milliseconds.
    private func attempts(_ configuration: StreamDialing.Configuration, seed: UInt64) -> [Int] {
        var random = SeededRandomSource(seed: seed)
        var dialing = StreamDialing(at: .zero, configuration)
        var times = [0]
        var now = MonotonicTime.zero
        while dialing.lost(.transient, at: now, random: &random) == .wait, let deadline = dialing.deadline {
            let isEarly = dialing.timeout(at: deadline - .nanoseconds(1))
            #expect(!isEarly)
            now = deadline
            let isTime = dialing.timeout(at: now)
            #expect(isTime && dialing.state == .connecting)
            times.append(Int((now - MonotonicTime.zero).wholeNanoseconds / 1_000_000))
        }
        #expect(dialing.state == .over && dialing.deadline == nil)
        return times
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `waits double, have jitter, and end at the limit`(_ seed: UInt64) {
        let times = attempts(.init(), seed: seed)
        let waits = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(times.count > 7 && times.allSatisfy { $0 <= 60_000 })
        for (index, wait) in waits.enumerated() {
            let whole = min(500 << index, 10_000)
            #expect((whole / 2 - 1...whole).contains(wait), "wait \(index) is \(wait) ms")
        }
    }

    @Test func `streams do not come back all at once`() {
        #expect(Set((1...50).map { attempts(.init(), seed: $0)[1] }).count > 20)
    }

    @Test func `without a limit it is tried once`() {
        #expect(attempts(.init(limit: .zero), seed: 1) == [0])
    }

    @Test func `the program and the gateway end a stream without another attempt`() {
        var random = SeededRandomSource(seed: 1)
        var dialing = StreamDialing(at: .zero)
        dialing.opened(at: Self.time(10))
        #expect(dialing.isOpen && dialing.deadline == nil)
        #expect(dialing.lost(.ended, at: Self.time(20), random: &random) == .end)
        #expect(dialing.state == .over)
        #expect(dialing.lost(.transient, at: Self.time(30), random: &random) == .end)
        let isTime = dialing.timeout(at: Self.time(100_000))
        #expect(!isTime)
        var wrong = StreamDialing(at: .zero)
        #expect(wrong.lost(.final, at: Self.time(20), random: &random) == .giveUp)
        #expect(wrong.state == .over)
    }

    @Test func `a socket that lasted gives the program all its time again`() throws {
        var random = SeededRandomSource(seed: 1)
        var dialing = StreamDialing(at: .zero)
        dialing.opened(at: .zero)
        #expect(dialing.lost(.transient, at: Self.time(3_600_000), random: &random) == .wait)
        let deadline = try #require(dialing.deadline)
        #expect(deadline <= Self.time(3_600_500))
    }

    @Test func `a program that takes sockets and loses them at once is given up`() {
        var random = SeededRandomSource(seed: 1)
        var dialing = StreamDialing(at: .zero)
        var now = MonotonicTime.zero
        var count = 0
        while true {
            dialing.opened(at: now)
            guard dialing.lost(.transient, at: now + .milliseconds(100), random: &random) == .wait,
                let deadline = dialing.deadline
            else { break }
            now = deadline
            let isTime = dialing.timeout(at: now)
            #expect(isTime)
            count += 1
        }
        #expect((5...20).contains(count) && now <= Self.time(61_000))
    }
}
