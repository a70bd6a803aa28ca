import Push
import Testing

/// Which of the pushes that are owed are sent.
@Suite struct `The outbox` {
    private var outbox = PushOutbox<Int>()

    private static func entry(
        _ name: String, _ subject: PushOutbox<Int>.Subject = .other, device: String = "d1", expires: UInt64 = 100
    ) -> PushOutbox<Int>.Entry {
        .init(name: name, device: device, subject: subject, expires: expires, content: 0)
    }

    /// Actions in a form that can be compared.
    private static func words(_ actions: [PushOutbox<Int>.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .send(let entry): "send \(entry.name)"
            case .withdraw(let name): "withdraw \(name)"
            case .settle(let name, let reason): "settle \(name) \(reason)"
            }
        }
    }

    private mutating func owe(_ entries: PushOutbox<Int>.Entry...) -> [String] {
        Self.words(entries.flatMap { outbox.owe($0) })
    }

    @Test mutating func `what is owed is handed over once, in order`() {
        #expect(owe(Self.entry("a"), Self.entry("b"), Self.entry("a")).isEmpty)
        #expect(Self.words(outbox.handOver(at: 1)) == ["send a", "send b"])
        #expect(outbox.handOver(at: 1).isEmpty && outbox.count == 2)
        #expect(owe(Self.entry("a")).isEmpty && outbox.handOver(at: 1).isEmpty)
        #expect(outbox.settled("a", mayHaveArrived: true).isEmpty)
        #expect(outbox.settled("b", mayHaveArrived: false).isEmpty)
        #expect(outbox.count == 0)
    }

    @Test mutating func `what is of no use any more is not sent`() {
        _ = owe(Self.entry("a", expires: 50), Self.entry("b", expires: 51))
        #expect(Self.words(outbox.handOver(at: 50)) == ["settle a expired", "send b"])
    }

    @Test mutating func `a call that ends before it was handed over wakes nobody`() {
        _ = owe(Self.entry("c", .call(session: "s")))
        #expect(owe(Self.entry("o", .callOver(session: "s"))) == ["settle c needless", "settle o needless"])
        #expect(outbox.handOver(at: 1).isEmpty && outbox.count == 0)
    }

    @Test mutating func `only the call of the same session on the same device is meant`() {
        _ = owe(Self.entry("c", .call(session: "s")))
        #expect(owe(Self.entry("o", .callOver(session: "s"), device: "d2")).isEmpty)
        #expect(owe(Self.entry("p", .callOver(session: "t"))).isEmpty)
        #expect(Self.words(outbox.handOver(at: 1)) == ["send c", "send o", "send p"])
    }

    @Test mutating func `a call that was handed over is ended by a push, once its outcome is known`() {
        _ = owe(Self.entry("c", .call(session: "s")))
        _ = outbox.handOver(at: 1)
        #expect(owe(Self.entry("o", .callOver(session: "s"))) == ["withdraw c"])
        #expect(owe(Self.entry("p", .callOver(session: "s"))) == ["settle p needless"])
        #expect(outbox.handOver(at: 2).isEmpty && outbox.count == 2)
        #expect(outbox.settled("c", mayHaveArrived: true).isEmpty)
        #expect(Self.words(outbox.handOver(at: 3)) == ["send o"])
        // Another call of the same name of the leg would ring anew.
        #expect(outbox.settled("o", mayHaveArrived: true).isEmpty && outbox.count == 0)
    }

    @Test mutating func `a call that cannot have arrived has no end`() {
        _ = owe(Self.entry("c", .call(session: "s")))
        _ = outbox.handOver(at: 1)
        _ = owe(Self.entry("o", .callOver(session: "s")))
        #expect(Self.words(outbox.settled("c", mayHaveArrived: false)) == ["settle o needless"])
        #expect(outbox.handOver(at: 2).isEmpty && outbox.count == 0)
    }

    @Test mutating func `the end of a call whose outcome is known is sent at once`() {
        _ = owe(Self.entry("c", .call(session: "s")))
        _ = outbox.handOver(at: 1)
        _ = outbox.settled("c", mayHaveArrived: true)
        #expect(owe(Self.entry("o", .callOver(session: "s"))).isEmpty)
        #expect(Self.words(outbox.handOver(at: 2)) == ["send o"])
    }

    @Test mutating func `a device that knows is not woken, and is told nothing of it`() {
        _ = owe(Self.entry("c", .call(session: "s")), Self.entry("d", .call(session: "s"), device: "d2"))
        _ = outbox.handOver(at: 1)
        _ = owe(Self.entry("e", .call(session: "s"), device: "d3"), Self.entry("f", .call(session: "t")))
        #expect(Self.words(outbox.withdraw(call: "s", from: "d2")) == ["withdraw d"])
        #expect(Self.words(outbox.withdraw(call: "s", from: nil)) == ["withdraw c", "withdraw d", "settle e needless"])
        #expect(Self.words(outbox.handOver(at: 2)) == ["send f"])
    }

    // MARK: Pushes that replace each other

    @Test mutating func `of pushes that wait and replace each other the latest is sent`() {
        let key = PushOutbox<Int>.Subject.replaceable(key: "mwi")
        #expect(owe(Self.entry("a", key)).isEmpty)
        #expect(owe(Self.entry("b", key), Self.entry("b", key)) == ["settle a needless"])
        // Those of another key, or of another device, are no such pushes.
        #expect(owe(Self.entry("c", .replaceable(key: "k")), Self.entry("d", key, device: "d2")).isEmpty)
        #expect(Self.words(outbox.handOver(at: 1)) == ["send b", "send c", "send d"])
    }

    /// The provider is down, and the earlier push is to be sent again later than the new one would be.
    @Test(arguments: [true, false])
    func `a push never comes behind the one that replaces it`(_ mayHaveArrived: Bool) {
        var suite = self
        let key = PushOutbox<Int>.Subject.replaceable(key: "mwi")
        _ = suite.owe(Self.entry("a", key))
        _ = suite.outbox.handOver(at: 1)
        #expect(suite.owe(Self.entry("b", key)) == ["withdraw a"])
        #expect(suite.owe(Self.entry("b", key)).isEmpty)
        #expect(suite.owe(Self.entry("c", key)) == ["settle b needless"])
        #expect(suite.outbox.handOver(at: 2).isEmpty && suite.outbox.count == 2)
        #expect(suite.outbox.settled("a", mayHaveArrived: mayHaveArrived).isEmpty)
        #expect(Self.words(suite.outbox.handOver(at: 3)) == ["send c"])
        #expect(suite.owe(Self.entry("d", key)) == ["withdraw c"])
        _ = suite.outbox.settled("c", mayHaveArrived: mayHaveArrived)
        #expect(Self.words(suite.outbox.handOver(at: 4)) == ["send d"])
        _ = suite.outbox.settled("d", mayHaveArrived: mayHaveArrived)
        #expect(suite.owe(Self.entry("e", key)).isEmpty && suite.outbox.count == 1)
    }

    @Test mutating func `a push that has expired before it was handed over is replaced by nothing`() {
        let key = PushOutbox<Int>.Subject.replaceable(key: "mwi")
        _ = owe(Self.entry("a", key, expires: 50))
        #expect(Self.words(outbox.handOver(at: 50)) == ["settle a expired"])
        #expect(owe(Self.entry("b", key)).isEmpty && outbox.count == 1)
    }

    @Test mutating func `of what an earlier process has owed the latest is sent`() {
        let key = PushOutbox<Int>.Subject.replaceable(key: "mwi")
        #expect(Self.words(outbox.restore([Self.entry("a", key), Self.entry("b", key)])) == ["settle a needless"])
        #expect(owe(Self.entry("c", key)) == ["settle b needless"])
        #expect(Self.words(outbox.handOver(at: 1)) == ["send c"])
    }

    @Test mutating func `a call that has expired before it was handed over has an end of its own`() {
        _ = owe(Self.entry("c", .call(session: "s"), expires: 50))
        #expect(Self.words(outbox.handOver(at: 50)) == ["settle c expired"])
        #expect(outbox.withdraw(call: "s", from: nil).isEmpty)
        #expect(owe(Self.entry("o", .callOver(session: "s"))).isEmpty && outbox.count == 1)
    }

    /// With a look through all that waits for each of them it takes a minute.
    @Test(.timeLimit(.minutes(1))) mutating func `a hundred thousand pushes are restored, begun and ended`() {
        let count = 100_000
        func entries(_ name: String, _ subject: (String) -> PushOutbox<Int>.Subject) -> [PushOutbox<Int>.Entry] {
            (0..<count).map { Self.entry("\(name)\($0)", subject("s\($0)"), device: "d\($0 % 7)") }
        }
        let start = ContinuousClock.now
        #expect(outbox.restore(entries("r") { .callOver(session: $0) }).isEmpty)
        #expect(outbox.handOver(at: 1).count == count)
        for entry in entries("c", { .call(session: "n" + $0) }) { _ = outbox.owe(entry) }
        for entry in entries("o", { .callOver(session: "n" + $0) }).prefix(count / 2) {
            #expect(outbox.owe(entry).count == 2)
        }
        #expect(outbox.handOver(at: 1).count == count / 2)
        for entry in entries("o", { .callOver(session: "n" + $0) }).suffix(count / 2) {
            #expect(outbox.owe(entry).count == 1)
        }
        for number in (count / 2)..<count { _ = outbox.settled("c\(number)", mayHaveArrived: false) }
        for number in 0..<count { _ = outbox.settled("r\(number)", mayHaveArrived: true) }
        #expect(outbox.count == 0)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test mutating func `no call of an earlier process rings, and its end is sent`() {
        let restored = [
            Self.entry("c", .call(session: "s")), Self.entry("e", .call(session: "t")), Self.entry("f"),
            Self.entry("o", .callOver(session: "s")),
        ]
        #expect(Self.words(outbox.restore(restored)) == ["settle c needless", "settle e needless"])
        // The call that was cut off by the end of the process.
        #expect(owe(Self.entry("p", .callOver(session: "t"))).isEmpty)
        #expect(Self.words(outbox.handOver(at: 1)) == ["send f", "send o", "send p"])
    }
}
