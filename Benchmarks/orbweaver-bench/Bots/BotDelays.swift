import ArgumentParser
import Audio
import BenchValues
import DTLS
import Foundation
import NIOCore
import NIOHTTP1
import PeerSupport
import Primitives
import SDP
import Sockets

/// How long sound takes from a bot to the wire and back, and how long a command takes until it is heard: calls one
/// after the other, each of which meets the gateway's cycle of 20 ms at another moment.
struct BotDelays {
    /// From the bot's piece of 20 ms to the packet of the caller that starts with it.
    private(set) var toWire = DelayHistogram()
    /// From a packet of the caller to the bot's message with its sound.
    private(set) var fromWire = DelayHistogram()
    /// From the request `play` to the first packet of the caller with its sound.
    private(set) var play = DelayHistogram()

    private static let ssrc: UInt32 = 0xAABB_CCDD
    private static let frame = Duration.milliseconds(20)
    private static let patience = Duration.seconds(1)
    /// How many of each kind a call has. All packets of a caller come at the same moment of the gateway's cycle, so
    /// many calls are needed to meet many of these.
    private static let perCall = 5
    private static let headerSize = 12

    /// 1,000 Hz for 20 ms.
    private static func tone(rate: Int) -> [Int16] {
        (0..<(rate / 50)).map { Int16(12_000 * sin(2 * .pi * 1_000 * Double($0) / Double(rate))) }
    }

    private let piece = BotSocket.piece(Self.tone(rate: 16_000))
    private let loud = Self.tone(rate: 8_000).map { G711.muLaw.encode($0) }
    private let quiet = [UInt8](repeating: G711.muLaw.silence, count: 160)

    /// Takes so many of each.
    ///
    /// - Throws: `ValidationError` if something is not heard for a second.
    mutating func measure(_ bots: BotCalls, _ count: Int) async throws {
        for first in stride(from: 0, to: count, by: Self.perCall) {
            try await measureCall(bots, min(Self.perCall, count - first))
        }
    }

    private mutating func measureCall(_ bots: BotCalls, _ count: Int) async throws {
        let peer = try LoopbackPeer(role: .client)
        peer.isSpinning = true
        let offer = PeerDescriptions.audio(
            peer.credentials, peer.fingerprint, ssrc: Self.ssrc, .pcmu, setup: "actpass")
        let call = try await bots.answered(offer: offer)
        peer.connect(to: call.media.address, call.media.credentials)
        guard try peer.run(for: .seconds(10), until: { $0.isConnected }) else {
            throw ValidationError("the peer did not connect")
        }
        let socket = try await BotSocket(bots, call.id)
        // Idle connections are closed by the gateway.
        let client = try await HTTPClient(port: bots.gateway.port)
        for _ in 0..<count { try takeToWire(peer, socket) }
        for _ in 0..<count { try await takePlay(peer, bots, call.id, client) }
        try takeFromWire(peer, socket, count)
        await socket.close()
        try await bots.tell(call.id, "end", over: client)
        await client.close()
    }

    private mutating func takeToWire(_ peer: LoopbackPeer, _ socket: BotSocket) throws {
        try settle(peer)
        let start = MonotonicClock.now
        socket.send(piece)
        guard try peer.run(for: Self.patience, until: Self.hears) else {
            throw ValidationError("what the bot said did not come")
        }
        toWire.record(nanoseconds: (MonotonicClock.now - start).nanoseconds)
    }

    private mutating func takePlay(
        _ peer: LoopbackPeer, _ bots: BotCalls, _ call: String, _ client: HTTPClient
    ) async throws {
        try settle(peer)
        let start = MonotonicClock.now
        let answer = client.submit(
            .POST, "/v1/calls/\(call)/play", key: bots.key, body: ByteBuffer(string: #"{"items":[{"tone":"dial"}]}"#))
        let isHeard = try peer.run(for: Self.patience, until: Self.hears)
        let time = MonotonicClock.now - start
        let status = try await answer.get().status
        guard isHeard, status == 200 else {
            throw ValidationError("play was answered with \(status), and \(isHeard ? "" : "not ")heard")
        }
        play.record(nanoseconds: time.nanoseconds)
        try await bots.tell(call, "stop", over: client)
    }

    /// Waits until what was said before has come, and for a random moment more.
    private func settle(_ peer: LoopbackPeer) throws {
        _ = try peer.run(for: .microseconds(Int.random(in: 150_000..<170_000)))
        peer.clear()
        _ = try peer.run(for: .milliseconds(30))
        guard !Self.hears(peer) else { throw ValidationError("what was said before has not ended") }
        peer.clear()
    }

    /// The caller sends a packet every 20 ms. After a second of silence, and then from time to time, one is loud.
    ///
    /// Its first packet comes at a random moment of the gateway's cycle, and all others at the same one. Without the
    /// pause it would come as long after a cycle as the command before it takes.
    private mutating func takeFromWire(_ peer: LoopbackPeer, _ socket: BotSocket, _ count: Int) throws {
        _ = try peer.run(for: .microseconds(Int.random(in: 0..<20_000)))
        var number: UInt16 = 0
        var due = MonotonicClock.now
        func send(_ payload: [UInt8], until isOver: () -> Bool) throws {
            try peer.send(RTPSample.packet(sequence: number, size: Self.headerSize) + payload)
            number &+= 1
            due = due + Self.frame
            peer.clear()
            let pause = due - MonotonicClock.now
            if pause > .zero { _ = try peer.run(for: pause) { _ in isOver() } }
            // The next packet leaves in time, whatever was heard.
            let rest = due - MonotonicClock.now
            if rest > .zero { _ = try peer.run(for: rest) }
        }
        for sample in 0..<count {
            for _ in 0..<(sample == 0 ? 50 : Int.random(in: 15...25)) { try send(quiet) { false } }
            socket.listen()
            let start = MonotonicClock.now
            try send(loud) { socket.loudTime != nil }
            while socket.loudTime == nil, MonotonicClock.now < start + Self.patience {
                try send(quiet) { socket.loudTime != nil }
            }
            guard let heard = socket.loudTime else { throw ValidationError("what the caller said did not come") }
            fromWire.record(nanoseconds: (heard - start).nanoseconds)
        }
    }

    /// Whether a packet of the gateway with sound has come. It ends with its 20 ms of µ-law.
    private static func hears(_ peer: LoopbackPeer) -> Bool {
        peer.received.contains { packet in
            packet.count > headerSize
                && packet.suffix(160).contains { G711.muLaw.decode($0).magnitude > BotSocket.loudness }
        }
    }
}
