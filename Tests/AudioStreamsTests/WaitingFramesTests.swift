import AudioStreams
import Testing

struct WaitingFramesTests {
    @Test func `frames come out in their order, whenever they have come`() {
        var waiting = WaitingFrames()
        #expect(waiting.isEmpty && waiting.popFirst() == nil)
        #expect(waiting.append([.text("a"), .binary([1])]) == 0)
        #expect(waiting.popFirst() == .text("a"))
        #expect(waiting.append([.text("b"), .text("c")]) == 0)
        #expect(waiting.count == 3)
        #expect(waiting.popFirst() == .binary([1]) && waiting.popFirst() == .text("b") && !waiting.isEmpty)
        #expect(waiting.count == 1)
        #expect(waiting.popFirst() == .text("c") && waiting.popFirst() == nil && waiting.isEmpty)
    }

    @Test func `what is beyond the limit is left out, until there is room again`() {
        let frame = StreamFrame.binary([UInt8](repeating: 0, count: 1_000_000))
        var waiting = WaitingFrames()
        #expect(waiting.append([frame, frame, frame]) == 0)
        // The fifth one begins below the limit.
        #expect(waiting.append([frame, frame, frame, .text("a")]) == 2)
        #expect(waiting.append([.text("b")]) == 1, "nothing overtakes what was left out")
        #expect(waiting.popFirst() == frame)
        #expect(waiting.append([.text("c")]) == 0)
        for _ in 0..<4 { #expect(waiting.popFirst() == frame) }
        #expect(waiting.popFirst() == .text("c") && waiting.isEmpty)
        #expect(waiting.append([frame, frame, frame, frame, frame, frame]) == 1)
    }
}
