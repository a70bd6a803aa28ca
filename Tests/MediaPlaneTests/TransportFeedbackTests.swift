import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Congestion control ends at the gateway: each leg is a transport of its own.
struct TransportFeedbackTests {
    private static let id: UInt8 = 5
    private static let number = HeaderExtension(
        id: id, uri: HeaderExtension.transportSequenceNumber, direction: .receiveOnly)

    /// A call in which the peers of `sides` number their packets.
    private static func rig(_ sides: [LegIndex] = [.a]) -> BridgeRig {
        var rig = BridgeRig(ready: false)
        for side in LegIndex.allCases {
            rig.configure(side) { leg in
                guard sides.contains(side) else { return }
                for line in leg.media.indices {
                    leg.media[line].extensions.append(Self.number)
                    leg.media[line].codecs[0].feedback.append(Codec.transportFeedback)
                }
            }
            rig.peerReady(side)
        }
        _ = rig.feedback(to: .a) + rig.feedback(to: .b)
        return rig
    }

    /// A video packet with an audio level before the number and a mid behind it.
    private static func packet(_ number: UInt16, transport: UInt16, twoByte: Bool = false) -> [UInt8] {
        let (high, low) = (UInt8(transport >> 8), UInt8(transport & 0xFF))
        let elements: [UInt8] =
            twoByte
            ? [1, 1, 0x55, id, 2, high, low, 4, 1, 0x31, 0, 0] : [0x10, 0x55, id << 4 | 1, high, low, 0x40, 0x31, 0]
        var bytes = BridgeRig.packet(ssrc: 1002, number, timestamp: UInt32(number) * 3_000, payloadType: BridgeRig.vp8)
        bytes[0] |= 0x10
        bytes.insert(contentsOf: (twoByte ? [0x10, 0x00, 0, 3] : [0xBE, 0xDE, 0, 2]) + elements, at: 12)
        return bytes
    }

    private func feedback(_ packets: [RTCPPacket]) -> [TransportFeedback] {
        packets.compactMap { if case .transportFeedback(let feedback) = $0 { feedback } else { nil } }
    }

    @Test func `a peer is told which packets came, every tenth of a second`() throws {
        var rig = Self.rig()
        rig.advance(by: .milliseconds(4))
        for (number, transport) in [(1, 65_534), (2, 65_535), (3, 1)] as [(UInt16, UInt16)] {
            _ = rig.send(Self.packet(number, transport: transport), from: .a)
            rig.advance(by: .milliseconds(10))
        }
        #expect(feedback(rig.feedback(to: .a)).isEmpty, "not yet")
        rig.advance(by: .milliseconds(100))
        let told = try #require(feedback(rig.feedback(to: .a)).first)
        #expect(told.sender == SSRC(0xA0) && told.media == SSRC(1002))
        #expect(told.base == SequenceNumber(65_534))
        #expect(told.deltas.map { $0 == nil } == [false, false, true, false])
        #expect(told.deltas[1] == 40 && told.deltas[3] == 40)
        #expect(feedback(rig.feedback(to: .b)).isEmpty)
        rig.advance(by: .milliseconds(500))
        #expect(feedback(rig.feedback(to: .a)).isEmpty, "nothing new")
    }

    @Test func `a burst is told of at once`() {
        var rig = Self.rig()
        for number in 1...UInt16(450) { _ = rig.send(Self.packet(number, transport: number), from: .a) }
        #expect(feedback(rig.feedback(to: .a)).map(\.deltas.count) == [400])
    }

    @Test(arguments: [false, true], [[LegIndex.a], [.a, .b]])
    func `numbers do not cross the gateway`(_ twoByte: Bool, _ sides: [LegIndex]) throws {
        var rig = Self.rig(sides)
        var buffer = Self.packet(7, transport: 0xABCD, twoByte: twoByte)
        let before = buffer
        var span = buffer.mutableSpan
        guard case .media(let arrival) = rig.bridge.receive(span.span, from: .a, at: rig.clock.now) else {
            Issue.record("the packet is of use")
            return
        }
        let relaying = rig.bridge.relay(arrival, toReceiver: 0, in: &span, count: before.count, at: rig.clock.now)
        #expect(relaying == .relay(to: .b, over: .first, count: before.count))
        let header = try RTPHeader(parsing: buffer.span)
        let number = header.extensionElement(Self.id, in: buffer.span)
        #expect(number == nil)
        // What is around it stays.
        for id in [1, 4] as [UInt8] {
            let (was, element) = (
                header.extensionElement(id, in: before.span), header.extensionElement(id, in: buffer.span)
            )
            let range = try #require(element)
            #expect(was == range)
            #expect(Array(buffer[range]) == Array(before[range]))
        }
        #expect(Array(buffer[header.payloadRange]) == [1, 2, 3, 4])
    }

    @Test func `nobody is told who did not ask`() {
        var rig = Self.rig([])
        for number in 1...UInt16(20) { _ = rig.send(Self.packet(number, transport: number), from: .a) }
        rig.advance(by: .seconds(1))
        #expect(feedback(rig.feedback(to: .a)).isEmpty)
    }

    @Test func `feedback about the gateway's packets is about nothing`() {
        var rig = Self.rig()
        let received = TransportFeedback(
            sender: SSRC(1), media: SSRC(0xA1), base: SequenceNumber(1), reference: 0, count: 0, deltas: [1])
        rig.receive(.transportFeedback(received), from: .a)
        #expect(rig.feedback(to: .b).isEmpty)
        #expect(rig.bridge.statistics(of: .a).controlDrops[.ignored] == 1)
    }

    @Test func `the count goes on over another offer, and ends with the extension`() {
        var rig = Self.rig()
        _ = rig.send(Self.packet(1, transport: 1), from: .a)
        rig.advance(by: .milliseconds(100))
        rig.configure(.a) { leg in
            leg.media[1].extensions.append(Self.number)
            leg.media[1].codecs[0].feedback.append(Codec.transportFeedback)
        }
        _ = rig.send(Self.packet(2, transport: 2), from: .a)
        rig.advance(by: .milliseconds(100))
        #expect(feedback(rig.feedback(to: .a)).map(\.count) == [0, 1])
        rig.configure(.a)
        _ = rig.send(Self.packet(3, transport: 3), from: .a)
        rig.advance(by: .milliseconds(200))
        #expect(feedback(rig.feedback(to: .a)).isEmpty)
    }
}
