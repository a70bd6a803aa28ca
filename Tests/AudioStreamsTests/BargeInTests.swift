import AudioStreams
import Testing

struct BargeInTests {
    @Test func `playback goes on when the bot does not decide`() {
        var bargeIn = BargeIn(.init(decision: 100))
        #expect(bargeIn.speechStarted(isPlaying: true) == .pause)
        for _ in 0..<4 { #expect(bargeIn.tick() == nil) }
        #expect(bargeIn.isDeciding)
        #expect(bargeIn.tick() == .resume)
        #expect(bargeIn.tick() == nil)
    }

    @Test func `a decision ends it`() {
        var bargeIn = BargeIn(.init(decision: 100))
        #expect(bargeIn.speechStarted(isPlaying: true) == .pause)
        bargeIn.decided()
        for _ in 0..<10 { #expect(bargeIn.tick() == nil) }
    }

    @Test func `speech over silence, and speech during the decision, change nothing`() {
        var bargeIn = BargeIn(.init(decision: 100))
        #expect(bargeIn.speechStarted(isPlaying: false) == nil)
        #expect(!bargeIn.isDeciding)
        #expect(bargeIn.speechStarted(isPlaying: true) == .pause)
        #expect(bargeIn.speechStarted(isPlaying: true) == nil)
    }

    @Test(arguments: [(0, 100), (99, 100), (1_500, 1_500), (20_000, 10_000)])
    func `the time to decide is in range`(_ wanted: Int, _ used: Int) {
        #expect(BargeIn.Configuration(decision: wanted).decision == used)
    }
}
