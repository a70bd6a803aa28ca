import Primitives
import Push
import Testing
import TestSupport

@Suite struct `The queue of pushes` {
    private var random = SeededRandomSource(seed: 7)

    private func at(_ seconds: Double) -> MonotonicTime { .zero + .nanoseconds(Int64(seconds * 1e9)) }

    private func queue(
        needsCredential: Bool = false, _ change: (inout PushQueue.Configuration) -> Void = { _ in }
    ) -> PushQueue {
        var configuration = PushQueue.Configuration()
        change(&configuration)
        return PushQueue(configuration, needsCredential: needsCredential)
    }

    private func overloaded(_ number: UInt64, last: String? = nil) -> [PushQueue.Action] {
        [.ended(number, .givenUp(.overloaded(last: last)))]
    }

    @Test mutating func `a push is sent at once and ends with its verdict`() {
        var queue = queue()
        #expect(queue.submit(1, deadline: at(30), at: at(0)) == [.send(1)])
        #expect(
            queue.answered(1, .delivered(name: "n"), at: at(1), random: &random) == [.ended(1, .delivered(name: "n"))])
        #expect(queue.count == 0 && queue.nextDeadline == nil)
        // A second answer is none.
        #expect(queue.answered(1, .delivered(name: nil), at: at(1), random: &random) == [])
    }

    @Test(
        arguments: [
            (.registrationDead(reason: "Unregistered", since: 5), .registrationDead(reason: "Unregistered", since: 5)),
            (.refused(status: 400, reason: "BadTopic"), .givenUp(.refused(status: 400, reason: "BadTopic"))),
        ] as [(PushVerdict, PushOutcome)])
    func `a verdict that is final ends the push`(_ verdict: PushVerdict, _ outcome: PushOutcome) {
        var (queue, random) = (queue(), random)
        _ = queue.submit(1, deadline: at(30), at: at(0))
        #expect(queue.answered(1, verdict, at: at(1), random: &random) == [.ended(1, outcome)])
    }

    @Test mutating func `pushes beyond those in flight wait in order, and one too many is refused`() {
        var queue = queue { ($0.inFlight, $0.capacity) = (1, 3) }
        #expect(queue.submit(1, deadline: at(30), at: at(0)) == [.send(1)])
        #expect(queue.submit(2, deadline: at(30), at: at(0)) == [])
        #expect(queue.submit(3, deadline: at(30), at: at(0)) == [])
        #expect(queue.submit(4, deadline: at(30), at: at(0)) == overloaded(4))
        for number in 1...2 {
            #expect(
                queue.answered(UInt64(number), .delivered(name: nil), at: at(1), random: &random)
                    == [.ended(UInt64(number), .delivered(name: nil)), .send(UInt64(number) + 1)])
        }
    }

    @Test mutating func `the latest push that has not left makes room, whether it waits or is to be sent again`() {
        var queue = queue { $0.inFlight = 2 }
        for number in 1...4 as ClosedRange<UInt64> { _ = queue.submit(number, deadline: at(30), at: at(0)) }
        #expect(queue.answered(1, .retry(reason: "busy", after: nil), at: at(1), random: &random) == [.send(3)])
        #expect(queue.giveUpLatest() == overloaded(4))
        #expect(queue.giveUpLatest() == overloaded(1, last: "busy"))
        #expect(queue.giveUpLatest() == [], "2 and 3 have left")
        #expect(queue.count == 2 && queue.nextDeadline == nil)
        #expect(
            queue.answered(2, .delivered(name: nil), at: at(2), random: &random) == [.ended(2, .delivered(name: nil))])
    }

    @Test mutating func `what is urgent makes room after all others, or not at all`() {
        var queue = queue { $0.inFlight = 1 }
        for number in 1...4 as ClosedRange<UInt64> {
            _ = queue.submit(number, isUrgent: number != 2, deadline: at(30), at: at(0))
        }
        #expect(queue.giveUpLatest(onlyOthers: true) == overloaded(2))
        #expect(queue.giveUpLatest(onlyOthers: true) == [])
        #expect(queue.giveUpLatest() == overloaded(4))
        _ = queue.submit(5, isUrgent: false, deadline: at(30), at: at(0))
        #expect(queue.giveUpLatest() == overloaded(5))
    }

    @Test mutating func `a push whose time is over while it waits is given up then, and is not sent`() {
        var queue = queue { $0.inFlight = 1 }
        _ = queue.submit(1, deadline: at(30), at: at(0))
        _ = queue.submit(2, deadline: at(5), at: at(0))
        #expect(queue.nextDeadline == at(5))
        #expect(queue.timeout(at: at(5)) == [.ended(2, .givenUp(.expired(last: nil)))])
        #expect(
            queue.answered(1, .delivered(name: nil), at: at(6), random: &random) == [.ended(1, .delivered(name: nil))])
        #expect(queue.submit(3, deadline: at(6), at: at(6)) == [.ended(3, .givenUp(.expired(last: nil)))])
    }

    @Test mutating func `a push is sent again after delays that grow, and never after its time`() throws {
        var queue = queue()
        #expect(queue.submit(1, deadline: at(30), at: at(0)) == [.send(1)])
        var (now, delays) = (at(0), [Duration]())
        while true {
            let actions = queue.answered(1, .retry(reason: "busy", after: nil), at: now, random: &random)
            guard let next = queue.nextDeadline else {
                #expect(actions == [.ended(1, .givenUp(.expired(last: "busy")))])
                break
            }
            #expect(actions == [] && next < at(30))
            delays.append(next - now)
            now = next
            #expect(queue.timeout(at: now) == [.send(1)])
        }
        #expect((6...10).contains(delays.count))
        for (index, delay) in delays.enumerated() {
            let whole = min(Duration.milliseconds(500 << index), .seconds(8))
            #expect(delay >= whole / 2 && delay <= whole)
        }
    }

    @Test mutating func `the provider's time to wait is kept, and a push that cannot wait so long is given up`() {
        var queue = queue()
        _ = queue.submit(1, deadline: at(30), at: at(0))
        _ = queue.submit(2, deadline: at(5), at: at(0))
        #expect(queue.answered(1, .retry(reason: "busy", after: .seconds(10)), at: at(0), random: &random) == [])
        #expect(queue.nextDeadline.map { $0 >= at(10) && $0 <= at(10.5) } == true)
        #expect(
            queue.answered(2, .retry(reason: "busy", after: .seconds(10)), at: at(0), random: &random)
                == [.ended(2, .givenUp(.expired(last: "busy")))])
    }

    /// A call rings for a minute, and its provider is down for 40 s.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a call whose provider is back while it rings is delivered soon`(_ seed: UInt64) throws {
        var (queue, random) = (queue(), SeededRandomSource(seed: seed))
        var (now, actions) = (at(0), queue.submit(1, deadline: at(60), at: at(0)))
        while now < at(40) {
            #expect(actions == [.send(1)])
            #expect(queue.answered(1, .retry(reason: "status 503", after: nil), at: now, random: &random) == [])
            let deadline = queue.nextDeadline
            now = try #require(deadline)
            actions = queue.timeout(at: now)
        }
        #expect(actions == [.send(1)] && now <= at(48))
        #expect(
            queue.answered(1, .delivered(name: nil), at: now, random: &random) == [.ended(1, .delivered(name: nil))])
    }

    @Test mutating func `a push that is of use for a day is sent again all day, at most every five minutes`() throws {
        var queue = queue()
        _ = queue.submit(1, deadline: at(86_400), at: at(0))
        var (now, gaps) = (at(0), [Duration]())
        while queue.answered(1, .retry(reason: "busy", after: nil), at: now, random: &random) == [] {
            let deadline = queue.nextDeadline
            let next = try #require(deadline)
            gaps.append(next - now)
            now = next
            #expect(queue.timeout(at: now) == [.send(1)])
        }
        #expect(queue.count == 0 && now > at(86_400 - 300))
        for (index, gap) in gaps.enumerated() {
            let whole = index < 10 ? min(Duration.milliseconds(500 << index), .seconds(300)) : .seconds(300)
            #expect(gap >= whole / 2 && gap <= whole)
        }
        #expect((288...600).contains(gaps.count))
    }

    /// Twice as many as there is room for, at a provider that is down for six hours.
    @Test func `a provider that is down for long is asked little, and is not flooded when it is back`() throws {
        var queue = queue { ($0.inFlight, $0.capacity) = (10, 500) }
        var random = random
        let start = at(0)
        var (flying, overloaded, delivered) = ([UInt64](), 0, [MonotonicTime]())
        var asked: [Double] = []
        func take(_ actions: [PushQueue.Action], at now: MonotonicTime) {
            for action in actions {
                switch action {
                case .send(let number):
                    flying.append(number)
                    asked.append((now - start) / Duration.seconds(3_600))
                case .ended(_, .givenUp(.overloaded)): overloaded += 1
                case .ended(_, .delivered): delivered.append(now)
                case .ended, .obtainCredential: Issue.record("\(action)")
                }
            }
            #expect(flying.count <= 10 && queue.count <= 500)
        }
        let back = at(6 * 3_600)
        var now = start
        for number in 1...1_000 as ClosedRange<UInt64> {
            take(queue.submit(number, isUrgent: false, deadline: at(86_400), at: now), at: now)
        }
        #expect(overloaded == 500)
        while queue.count > 0 {
            // An answer takes 50 ms. What is due meanwhile has to wait.
            let deadline = queue.nextDeadline
            if flying.isEmpty {
                now = max(now, try #require(deadline))
            } else {
                now = now + .milliseconds(50)
            }
            take(queue.timeout(at: now), at: now)
            for number in flying {
                let verdict: PushVerdict = now < back ? .retry(reason: "down", after: nil) : .delivered(name: nil)
                flying.removeAll { $0 == number }
                take(queue.answered(number, verdict, at: now, random: &random), at: now)
            }
        }
        #expect(delivered.count == 500 && delivered.allSatisfy { $0 <= back + .seconds(310) })
        // In the last hour without an answer each was tried every 2.5 to 5 minutes.
        #expect(asked.filter { (5..<6).contains($0) }.count <= 500 * 25)
        #expect(Set(delivered).count > 100, "they come back one after the other")
    }

    @Test mutating func `a call takes the place of a push that is to be sent again`() {
        var queue = queue { $0.capacity = 2 }
        for number in 1...2 as ClosedRange<UInt64> {
            _ = queue.submit(number, isUrgent: false, deadline: at(86_400), at: at(0))
            _ = queue.answered(number, .retry(reason: "down", after: nil), at: at(0), random: &random)
        }
        #expect(queue.submit(3, deadline: at(60), at: at(1)) == overloaded(2, last: "down") + [.send(3)])
        #expect(queue.submit(4, isUrgent: false, deadline: at(60), at: at(1)) == overloaded(4))
    }

    /// The answer to the first attempt is lost: the device may ring.
    @Test(
        arguments: [
            (.refused(status: 400, reason: "x"), .refused(status: 400, reason: "x", last: "time-out")),
            (.credentialExpired(reason: "old"), .credential(reason: "old", last: "time-out")),
            (nil, .unreachable(reason: "no route", last: "time-out")),
        ] as [(PushVerdict?, PushFailure)])
    func `a push that is given up after an attempt without an answer may have arrived`(
        _ verdict: PushVerdict?, _ failure: PushFailure
    ) {
        var (queue, random) = (queue(), random)
        _ = queue.submit(1, deadline: at(60), at: at(0))
        #expect(queue.answered(1, .retry(reason: "time-out", after: nil), at: at(1), random: &random) == [])
        #expect(queue.timeout(at: at(2)) == [.send(1)])
        let actions =
            if let verdict {
                queue.answered(1, verdict, at: at(3), random: &random)
            } else {
                queue.abandoned(1, .unreachable(reason: "no route"), at: at(3))
            }
        #expect(actions == [.ended(1, .givenUp(failure))])
        #expect(PushOutcome.givenUp(failure).mayHaveArrived && !PushOutcome.givenUp(failure).hasFailed)
    }

    @Test mutating func `a push that waits for a key which cannot be used may have arrived before`() {
        var queue = queue(needsCredential: true)
        _ = queue.submit(1, deadline: at(60), at: at(0))
        _ = queue.credentialObtained(renewal: nil, at: at(0))
        _ = queue.answered(1, .retry(reason: "time-out", after: nil), at: at(0), random: &random)
        _ = queue.submit(2, deadline: at(60), at: at(0))
        #expect(
            queue.answered(2, .credentialExpired(reason: "old"), at: at(0.1), random: &random) == [.obtainCredential])
        #expect(queue.timeout(at: at(1)) == [])
        #expect(
            queue.credentialFailed("no key", isFinal: true, at: at(2)) == [
                .ended(1, .givenUp(.credential(reason: "no key", last: "time-out"))),
                .ended(2, .givenUp(.credential(reason: "no key"))),
            ])
    }

    @Test func `pushes that failed together are not sent again together`() {
        var (queue, random) = (queue(), random)
        for number in 1...50 { _ = queue.submit(UInt64(number), deadline: at(30), at: at(0)) }
        for number in 1...50 {
            _ = queue.answered(UInt64(number), .retry(reason: "busy", after: nil), at: at(0), random: &random)
        }
        var times: Set<MonotonicTime> = []
        while let next = queue.nextDeadline {
            times.insert(next)
            _ = queue.timeout(at: next)
        }
        #expect(times.count > 40)
    }

    // MARK: Credentials

    @Test mutating func `the first push asks for a credential, once, and all wait for it`() {
        var queue = queue(needsCredential: true)
        #expect(queue.submit(1, deadline: at(30), at: at(0)) == [.obtainCredential])
        #expect(queue.submit(2, deadline: at(30), at: at(0)) == [])
        #expect(queue.credentialObtained(renewal: .seconds(100), at: at(1)) == [.send(1), .send(2)])
        #expect(queue.nextDeadline == at(101))
    }

    @Test mutating func `a credential is renewed in time, while the old one is used`() {
        var queue = queue(needsCredential: true)
        _ = queue.submit(1, deadline: at(30), at: at(0))
        _ = queue.credentialObtained(renewal: .seconds(100), at: at(0))
        _ = queue.answered(1, .delivered(name: nil), at: at(0), random: &random)
        #expect(queue.timeout(at: at(100)) == [.obtainCredential])
        #expect(queue.submit(2, deadline: at(130), at: at(100)) == [.send(2)])
        // It does not ask again while it waits for the answer.
        #expect(queue.timeout(at: at(101)) == [])
        #expect(queue.credentialFailed("none", isFinal: false, at: at(102)) == [])
        #expect(queue.nextDeadline == at(104))
        #expect(queue.timeout(at: at(104)) == [.obtainCredential])
        #expect(queue.credentialObtained(renewal: nil, at: at(105)) == [])
        #expect(queue.nextDeadline == nil)
    }

    @Test mutating func `a push whose credential has expired is sent again with a new one, once`() {
        var queue = queue(needsCredential: true)
        _ = queue.submit(1, deadline: at(30), at: at(0))
        _ = queue.submit(2, deadline: at(30), at: at(0))
        _ = queue.credentialObtained(renewal: nil, at: at(0))
        let expired = PushVerdict.credentialExpired(reason: "ExpiredProviderToken")
        #expect(queue.answered(1, expired, at: at(1), random: &random) == [.obtainCredential])
        // The second one had the same credential.
        #expect(queue.answered(2, expired, at: at(1), random: &random) == [])
        #expect(Set(queue.credentialObtained(renewal: nil, at: at(2))) == [.send(1), .send(2)])
        #expect(
            queue.answered(1, expired, at: at(3), random: &random)
                == [.ended(1, .givenUp(.credential(reason: "ExpiredProviderToken")))])
        #expect(
            queue.answered(2, .delivered(name: nil), at: at(3), random: &random) == [.ended(2, .delivered(name: nil))])
    }

    @Test mutating func `a late answer to an old credential does not spend a new one`() {
        var queue = queue(needsCredential: true)
        _ = queue.submit(1, deadline: at(30), at: at(0))
        _ = queue.submit(2, deadline: at(30), at: at(0))
        _ = queue.credentialObtained(renewal: nil, at: at(0))
        let expired = PushVerdict.credentialExpired(reason: "old")
        _ = queue.answered(1, expired, at: at(1), random: &random)
        _ = queue.credentialObtained(renewal: nil, at: at(2))
        #expect(queue.answered(2, expired, at: at(3), random: &random) == [.send(2)])
    }

    @Test mutating func `without a credential pushes wait for their time, and for no key they do not wait`() {
        var queue = queue(needsCredential: true)
        _ = queue.submit(1, deadline: at(10), at: at(0))
        #expect(queue.credentialFailed("no answer", isFinal: false, at: at(1)) == [])
        #expect(queue.timeout(at: at(3)) == [.obtainCredential])
        #expect(queue.timeout(at: at(10)) == [.ended(1, .givenUp(.expired(last: "no answer")))])
        _ = queue.submit(2, deadline: at(30), at: at(11))
        #expect(
            queue.credentialFailed("no key", isFinal: true, at: at(12))
                == [.ended(2, .givenUp(.credential(reason: "no key")))])
        #expect(queue.nextDeadline == nil)
        #expect(queue.submit(3, deadline: at(30), at: at(13)) == [.obtainCredential])
    }

    @Test mutating func `urgent pushes go first, and take the place of others`() {
        var queue = queue { ($0.inFlight, $0.capacity) = (1, 4) }
        _ = queue.submit(1, isUrgent: false, deadline: at(30), at: at(0))
        _ = queue.submit(2, isUrgent: false, deadline: at(30), at: at(0))
        _ = queue.submit(3, isUrgent: false, deadline: at(30), at: at(0))
        #expect(queue.submit(4, deadline: at(30), at: at(0)) == [])
        #expect(queue.submit(5, isUrgent: false, deadline: at(30), at: at(0)) == overloaded(5))
        #expect(queue.submit(6, deadline: at(30), at: at(0)) == overloaded(3))
        #expect(queue.submit(7, deadline: at(30), at: at(0)) == overloaded(2))
        #expect(queue.submit(8, deadline: at(30), at: at(0)) == overloaded(8))
        var left: [UInt64] = []
        var (next, random) = ([1] as [UInt64], random)
        while let number = next.popLast() {
            for case .send(let sent) in queue.answered(number, .delivered(name: nil), at: at(1), random: &random) {
                left.append(sent)
                next.append(sent)
            }
        }
        #expect(left == [4, 6, 7] && queue.count == 0)
    }

    @Test mutating func `a push that is not wanted any more is not sent again`() {
        var queue = queue { $0.inFlight = 1 }
        for number in 1...3 as ClosedRange<UInt64> { _ = queue.submit(number, deadline: at(30), at: at(0)) }
        #expect(queue.withdraw(2) == [.ended(2, .givenUp(.withdrawn(last: nil)))])
        #expect(queue.withdraw(1) == [], "it has left, and may have arrived")
        let busy = PushVerdict.retry(reason: "busy", after: nil)
        #expect(
            queue.answered(1, busy, at: at(1), random: &random)
                == [.ended(1, .givenUp(.withdrawn(last: "busy"))), .send(3)])
        #expect(queue.answered(3, busy, at: at(1), random: &random) == [])
        #expect(queue.withdraw(3) == [.ended(3, .givenUp(.withdrawn(last: "busy")))])
        #expect(queue.withdraw(4) == [] && queue.count == 0 && queue.nextDeadline == nil)
    }

    @Test mutating func `what is not wanted any more and has arrived has arrived`() {
        var queue = queue()
        _ = queue.submit(1, deadline: at(30), at: at(0))
        _ = queue.withdraw(1)
        #expect(
            queue.answered(1, .delivered(name: "n"), at: at(1), random: &random) == [.ended(1, .delivered(name: "n"))])
    }

    @Test mutating func `a queue that is shut down gives up everything`() {
        var queue = queue { $0.inFlight = 1 }
        _ = queue.submit(1, deadline: at(30), at: at(0))
        _ = queue.submit(2, deadline: at(30), at: at(0))
        #expect(
            queue.shutDown() == [.ended(1, .givenUp(.shutDown)), .ended(2, .givenUp(.shutDown))])
        #expect(queue.count == 0)
    }

    /// From random inputs: every push ends exactly once, nothing is sent at or after its deadline, and no more are in
    /// flight than allowed.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `every push ends once, in time and within the limits`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        var queue = queue(needsCredential: true) { ($0.inFlight, $0.capacity) = (3, 12) }
        var deadlines: [UInt64: MonotonicTime] = [:]
        var (ended, flying, credentialWanted) = (Set<UInt64>(), Set<UInt64>(), false)
        var now = at(0)
        func take(_ actions: [PushQueue.Action]) {
            for action in actions {
                switch action {
                case .send(let number):
                    #expect(deadlines[number].map { $0 > now } == true)
                    flying.insert(number)
                case .ended(let number, _):
                    #expect(ended.insert(number).inserted)
                    flying.remove(number)
                case .obtainCredential:
                    #expect(!credentialWanted)
                    credentialWanted = true
                }
            }
            #expect(flying.count <= 3 && queue.count <= 12)
        }
        for number in 1...200 as ClosedRange<UInt64> {
            now = now + .milliseconds(Int64(random.next() % 400))
            deadlines[number] = now + .milliseconds(Int64(random.next() % 5_000))
            take(queue.submit(number, deadline: deadlines[number] ?? now, at: now))
            if let next = queue.nextDeadline, next <= now { take(queue.timeout(at: now)) }
            if credentialWanted, random.next() % 2 == 0 {
                credentialWanted = false
                take(
                    random.next() % 4 == 0
                        ? queue.credentialFailed("no", isFinal: random.next() % 2 == 0, at: now)
                        : queue.credentialObtained(renewal: .seconds(3), at: now))
            }
            guard let flyer = flying.sorted().first, random.next() % 3 != 0 else { continue }
            flying.remove(flyer)
            let verdicts: [PushVerdict] = [
                .delivered(name: nil), .retry(reason: "r", after: nil), .credentialExpired(reason: "c"),
                .refused(status: 400, reason: "x"), .retry(reason: "r", after: .seconds(1)),
            ]
            take(queue.answered(flyer, verdicts[Int(random.next() % 5)], at: now, random: &random))
        }
        take(queue.shutDown())
        #expect(ended.count == 200 && queue.count == 0)
    }
}
