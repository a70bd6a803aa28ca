import Audio
import CallControl
import CallRuntime
import MediaServer
import PeerSupport
import Primitives
import Spandsp
import Testing

/// Digits on their way to a real peer that knows no events, whatever else happens to the leg meanwhile.
@Suite(.serialized)
struct DigitDeliveryTests {
    private static let digits = "159D"

    private enum Change: CaseIterable {
        case nothing, musicThroughout, musicStarts, musicStops, toneForMusic
    }

    @Test(arguments: Change.allCases) private func `no digit is lost`(_ change: Change) throws {
        var rig = try Rig()
        try rig.establish()
        if change != .nothing, change != .musicStarts {
            rig.server.send(.play(Playback(.music), number: 1, to: .callee), for: rig.call)
        }
        _ = try rig.callee.run(for: .milliseconds(100))
        let digits = try #require(DigitSequence(Self.digits, duration: .milliseconds(80), gap: .milliseconds(80)))
        rig.server.send(.sendDigits(digits, to: .callee), for: rig.call)
        // In the middle of the second digit.
        _ = try rig.callee.run(for: .milliseconds(200))
        switch change {
        case .nothing, .musicThroughout: break
        case .musicStarts: rig.server.send(.play(Playback(.music), number: 1, to: .callee), for: rig.call)
        case .musicStops: rig.server.send(.stopPlaying(to: .callee), for: rig.call)
        case .toneForMusic: rig.server.send(.play(Playback(.tone(.ringback)), number: 2, to: .callee), for: rig.call)
        }
        _ = try rig.callee.run(for: .seconds(60)) { Self.heard($0.received) == Self.digits }
        #expect(Self.heard(rig.callee.received) == Self.digits)
        let headers = rig.callee.received.map { Rig.header(of: $0) }
        #expect(zip(headers, headers.dropFirst()).allSatisfy { $1.sequence == $0.sequence &+ 1 })
        // Afterwards the leg hears what it should.
        rig.callee.clear()
        if change == .nothing || change == .musicStops {
            try rig.expectMedia()
        } else {
            #expect(try rig.callee.run(for: .seconds(60)) { $0.received.count > 10 })
        }
        rig.server.stop()
    }

    private static func heard(_ packets: [[UInt8]]) -> String {
        var detector = DTMFDetector()
        var digits = ""
        for packet in packets {
            let samples = packet.dropFirst(12).map(G711.muLaw.decode)
            detector.hear(samples.span)
            while let digit = detector.next() { digits.append(digit) }
        }
        return digits
    }
}
