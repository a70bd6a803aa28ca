import ArgumentParser
import BenchValues
import CallControl
import CallRuntime
import DTLS
import Foundation
import Logging
import MediaServer
import Observability
import PeerSupport
import Primitives
import RelayBaseline
import SDP
import SRTP
import Sockets

struct RelayBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "The relay loop of a media worker next to the same loop in C, with the same ciphers.",
        discussion:
            "A real peer sends SRTP to the worker over loopback in bursts, another receives it; counted is the worker thread's CPU."
    )

    @Option(help: "Packets per figure.")
    var packets = 200_000

    @Option(help: "Packets sent before the answers are awaited.")
    var burst = 32

    @Flag(
        help: "Video that is kept for receivers that have what they miss repeated, next to the same packets not kept.")
    var video = false

    @Flag(
        help: "Sending alone: datagrams that may not be fragmented (IP_PMTUDISC_DO, as the gateway's) next to others.")
    var fragments = false

    @Option(help: "How many addresses datagrams of --fragments go to in turns; may be given several times.")
    var destinations = [100, 800, 2_000]

    @Option(help: "How often each figure is taken, in turns, at most 20; what is told is the median.")
    var rounds = 5

    func validate() throws {
        guard 1...20 ~= rounds else { throw ValidationError("1 to 20 rounds are possible") }
        guard !(video && fragments) else { throw ValidationError("--video and --fragments are two measurements") }
        guard destinations.allSatisfy({ 1...SendingLoop.maximumDestinations ~= $0 }) else {
            throw ValidationError("1 to \(SendingLoop.maximumDestinations) destinations are possible")
        }
        guard packets >= 1 else { throw ValidationError("a figure needs at least 1 packet") }
    }

    func run() throws {
        if video { return try compareVideo() }
        if fragments { return try compareSending() }
        for size in [172, 1_200] {
            var (own, bare, allocations) = (Rounds(), Rounds(), 0.0)
            for _ in 0..<rounds {
                bare.add(try baseline(size: size))
                let figure = try gateway(size: size)
                own.add(figure.nanoseconds)
                allocations = max(allocations, figure.allocations)
            }
            print(
                String(
                    format: "%d bytes: gateway %.0f ns per packet, C loop %.0f ns, ratio %@, "
                        + "at most %.4f allocations per packet",
                    size, own.median, bare.median, own.ratios(to: bare).text(digits: 2), allocations))
        }
    }

    // MARK: The gateway

    private func gateway(size: Int, _ codec: Codec = .pcmu) throws -> RelayLoop.Figures {
        try RelayLoop(packets: packets, burst: burst).measure(size: size, codec)
    }

    // MARK: Video

    /// The two kinds of receiver take turns, so that what else the machine does concerns both.
    private func compareVideo() throws {
        for size in [172, 1_200] {
            var (plain, kept, allocations) = (Rounds(), Rounds(), 0.0)
            for _ in 0..<rounds {
                plain.add(try gateway(size: size, .vp8(isRepeated: false)).nanoseconds)
                let figure = try gateway(size: size, .vp8(isRepeated: true))
                kept.add(figure.nanoseconds)
                allocations = max(allocations, figure.allocations)
            }
            print(
                String(
                    format: "%d bytes of video: kept %.0f ns per packet, not kept %.0f ns, ratio %@, "
                        + "at most %.4f allocations per packet",
                    size, kept.median, plain.median, kept.ratios(to: plain).text(digits: 2), allocations))
        }
    }

    // MARK: Sending alone

    /// The two settings take turns, and each is as often the first of a round as the other.
    private func compareSending() throws {
        for count in destinations {
            for call in SendingLoop.Call.allCases {
                let loop = SendingLoop(call: call, destinations: count)
                var (whole, other) = (Rounds(), Rounds())
                for round in 0..<rounds {
                    if round % 2 == 0 { whole.add(try loop.measure(packets: packets, mayFragment: false)) }
                    other.add(try loop.measure(packets: packets, mayFragment: true))
                    if round % 2 == 1 { whole.add(try loop.measure(packets: packets, mayFragment: false)) }
                }
                print(
                    "\(SendingLoop.size) bytes to \(count) destinations, \(call.rawValue): "
                        + "IP_PMTUDISC_DO \(whole.text("ns")) per packet, IP_PMTUDISC_WANT \(other.text("ns")), "
                        + "ratio \(whole.ratios(to: other).text(digits: 2))")
            }
        }
    }

    // MARK: The baseline

    private func baseline(size: Int) throws -> Double {
        let keys = [[UInt8](repeating: 1, count: 28), [UInt8](repeating: 2, count: 28)]
        let loopback = IPAddress(v4: 0x7F00_0001)
        let sender = try UDPSocket(bind: SocketAddress(loopback, port: 0))
        let receiver = try UDPSocket(bind: SocketAddress(loopback, port: 0))
        let outbound = try SRTPSession(profile: .aeadAES128GCM, key: keys[0], direction: .outbound)
        let loop = try BaselineLoop(keys: keys, packets: UInt64(packets), destination: receiver.localAddress.port)
        var pool = DatagramPool(sockets: [sender, receiver])
        var poller = try Poller(wakeUp: WakeUp())
        try poller.add(receiver, as: SocketIndex(1))
        var sequence: UInt16 = 0
        while !loop.isFinished {
            for _ in 0..<burst {
                var packet = RTPSample.packet(sequence: sequence, size: size) + [UInt8](repeating: 0, count: 32)
                sequence &+= 1
                var span = packet.mutableSpan
                let count = try outbound.protect(&span, count: size)
                pool.queue(
                    copying: packet.span.extracting(0..<count), to: SocketAddress(loopback, port: loop.port),
                    via: SocketIndex(0))
            }
            _ = pool.flush()
            var arrived = 0
            let end = MonotonicClock.now + .milliseconds(100)
            while arrived < burst, MonotonicClock.now < end, !loop.isFinished {
                if try poller.wait(until: .zero) > 0 { arrived += pool.receive(from: SocketIndex(1)) }
            }
        }
        return try loop.nanosecondsPerPacket()
    }
}
