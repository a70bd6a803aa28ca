import AudioStreams
import CallRuntime
import Sockets
import Testing

@Suite struct `The queues of a stream` {
    /// Counts how often it is woken.
    private final class Bell: Sendable {
        private let rings = Lock(0)
        var count: Int { rings.withLock { $0 } }
        func ring() { rings.withLock { $0 += 1 } }
    }

    @Test func `messages come out in their order, once`() {
        let link = StreamLink()
        #expect(link.receive(.text("a")))
        #expect(link.receive(.binary([1, 2])))
        #expect(link.takeInward() == [.text("a"), .binary([1, 2])])
        #expect(link.takeInward().isEmpty)
        link.send([.text("b")])
        link.send([.text("c"), .binary([3])])
        #expect(link.takeOutward().frames == [.text("b"), .text("c"), .binary([3])])
        #expect(link.takeOutward().frames.isEmpty)
    }

    @Test func `a program that cannot be understood is given up, and one that was told to go is not`() {
        for (end, loss) in [(StreamEnd.faults, StreamLoss.final), (.stopped, .ended), (.shutdown, .ended)] {
            let link = StreamLink()
            #expect(link.loss == .transient)
            link.end(end)
            #expect(link.loss == loss)
        }
    }

    @Test(arguments: [StreamLoss.transient, .ended, .final])
    func `what the gateway has ended is so, however the socket ends then`(_ own: StreamLoss) {
        let link = StreamLink()
        #expect(link.loss(unlessEnded: own) == own)
        // The program does not read the closing frame, or answers it with a code of its own.
        link.end(.faults)
        #expect(link.loss(unlessEnded: own) == .final)
        link.stop()
        #expect(link.loss(unlessEnded: own) == .ended, "the application wants no fallback any more")
        let ended = StreamLink()
        ended.end(.callEnded)
        #expect(ended.loss(unlessEnded: own) == .ended)
    }

    @Test func `the end of a socket is told once its last messages are judged`() {
        let (link, bell) = (StreamLink(), Bell())
        _ = link.receive(.text("last words"))
        link.disconnect { bell.ring() }
        link.judged(waitsForRoom: false)
        #expect(link.takeInward() == [.text("last words")] && bell.count == 0)
        link.judged(waitsForRoom: false)
        link.judged(waitsForRoom: false)
        #expect(bell.count == 1 && link.loss == .transient)
        link.end(.faults)
        #expect(link.loss == .transient, "it is told already")
    }

    @Test(arguments: [StreamLoss.transient, .ended, .final])
    func `last messages that cannot be read count, however the socket has ended`(_ own: StreamLoss) {
        let (link, bell) = (StreamLink(), Bell())
        _ = link.receive(.text("nonsense"))
        link.disconnect { bell.ring() }
        link.end(.faults)
        #expect(bell.count == 1 && link.loss(unlessEnded: own) == .final)
        let (other, otherBell) = (StreamLink(), Bell())
        _ = other.receive(.text("nonsense"))
        other.disconnect { otherBell.ring() }
        other.end(.callEnded)
        #expect(otherBell.count == 1 && other.loss(unlessEnded: own) == own)
    }

    @Test func `the end of a socket is told at once if nothing that it has brought is to be judged`() {
        let bell = Bell()
        let silent = StreamLink()
        silent.disconnect { bell.ring() }
        #expect(bell.count == 1)
        let judged = StreamLink()
        _ = judged.receive(.text("a"))
        _ = judged.takeInward()
        judged.judged(waitsForRoom: false)
        judged.disconnect { bell.ring() }
        #expect(bell.count == 2)
        let full = StreamLink()
        _ = full.receive(.text("a"))
        full.judged(waitsForRoom: true)
        full.disconnect { bell.ring() }
        #expect(bell.count == 3)
        let ended = StreamLink()
        _ = ended.receive(.text("a"))
        ended.end(.callEnded)
        ended.disconnect { bell.ring() }
        #expect(bell.count == 4)
    }

    @Test func `the end of a socket is told although no media plane looks`() async throws {
        let (link, bell) = (StreamLink(), Bell())
        _ = link.receive(.text("a"))
        link.disconnect { bell.ring() }
        for _ in 0..<3_000 where bell.count == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(bell.count == 1 && link.loss == .transient)
        link.judged(waitsForRoom: true)
        #expect(bell.count == 1)
    }

    @Test func `keys wait until they are taken, and not too many of them`() {
        let link = StreamLink()
        link.press("5", milliseconds: 90)
        link.press("#", milliseconds: nil)
        #expect(link.takeKeys().map { "\($0.0) \($0.1 ?? -1)" } == ["5 90", "# -1"])
        #expect(link.takeKeys().isEmpty)
        for _ in 0..<2 * StreamLink.keyLimit { link.press("1", milliseconds: nil) }
        #expect(link.takeKeys().count == StreamLink.keyLimit)
    }

    @Test func `a program that sends too much is not read until what it sent was taken`() {
        let (link, bell) = (StreamLink(), Bell())
        link.connect { bell.ring() }
        let large = StreamFrame.binary([UInt8](repeating: 0, count: StreamLink.inwardLimit))
        #expect(link.receive(.text("small")))
        #expect(!link.receive(large))
        #expect(!link.takeOutward().mayRead)
        #expect(link.takeInward().count == 2)
        #expect(bell.count == 1, "the socket reads on")
        #expect(link.takeOutward().mayRead)
        // Many small messages count as well.
        var count = 0
        while link.receive(.binary([0])) { count += 1 }
        #expect((500...2_000).contains(count))
    }

    @Test func `a large message is made up for before the next one is taken`() {
        let link = StreamLink()
        _ = link.receive(.binary([UInt8](repeating: 0, count: 4 * StreamLink.inwardLimit)))
        #expect(link.takeInward().count == 1)
        _ = link.receive(.text("next"))
        var cycles = 1
        while link.takeInward().isEmpty { cycles += 1 }
        #expect(cycles == 4)
    }

    @Test func `the socket is woken when there is something to send, and once`() {
        let (link, bell) = (StreamLink(), Bell())
        link.send([.text("early")])
        link.connect { bell.ring() }
        #expect(bell.count == 1, "it was too early")
        _ = link.takeOutward()
        link.send([.text("a")])
        link.send([.text("b")])
        #expect(bell.count == 2)
        link.end(.callEnded)
        link.end(.faults)
        #expect(bell.count == 3)
        let last = link.takeOutward()
        #expect(last.frames == [.text("a"), .text("b")])
        #expect(last.end == .callEnded, "the first reason counts")
        link.send([.text("late")])
        #expect(link.takeOutward().frames.isEmpty)
    }

    @Test func `all of what a socket has brought can be taken at its end, whatever is to be made up for`() {
        let link = StreamLink()
        let large = StreamFrame.binary([UInt8](repeating: 0, count: 4 * StreamLink.inwardLimit))
        _ = link.receive(large)
        #expect(link.takeInward() == [large])
        _ = link.receive(.text("a"))
        _ = link.receive(.text("b"))
        #expect(link.takeInward().isEmpty, "the large one is made up for")
        #expect(link.takeAllInward() == [.text("a"), .text("b")])
        #expect(link.takeAllInward().isEmpty)
    }

    @Test func `what a program does not read is bounded`() {
        let link = StreamLink()
        let frame = StreamFrame.binary([UInt8](repeating: 0, count: 1_000))
        for _ in 0..<2_000 { link.send([frame]) }
        let taken = link.takeOutward()
        #expect(taken.isOverfull)
        #expect(taken.frames.count <= StreamLink.outwardLimit / 1_000)
    }

    @Test func `a socket that is gone is sent nothing, and what it has said is still taken`() {
        let (link, bell) = (StreamLink(), Bell())
        link.connect { bell.ring() }
        _ = link.receive(.text("last words"))
        #expect(!link.isGone)
        link.disconnect()
        #expect(link.isGone)
        link.send([.text("a")])
        link.end(.callEnded)
        #expect(bell.count == 0)
        #expect(link.takeOutward().frames.isEmpty)
        #expect(link.takeInward() == [.text("last words")])
    }
}
