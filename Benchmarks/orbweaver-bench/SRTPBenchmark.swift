import ArgumentParser
import BenchValues
import Foundation
import SRTP

struct SRTPBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "srtp",
        abstract: "SRTP protect + unprotect: the replaced ciphers next to the ones libsrtp2 came with.")

    @Option(help: "Packets per figure.")
    var packets = 200_000

    @Option(help: "How often each figure is taken, in turns, at most 20; what is told is the median.")
    var rounds = 5

    @Option(help: "How many sessions each way packets take turns over; may be given several times.")
    var sessions = [1, 100, 800, 2_000]

    /// The parent runs itself once more with the library's own ciphers: a process can only have one set.
    @Flag(help: .hidden) var stock = false

    func validate() throws {
        guard 1...20 ~= rounds else { throw ValidationError("1 to 20 rounds are possible") }
        guard packets >= 1 else { throw ValidationError("a figure needs at least 1 packet") }
        guard sessions.allSatisfy({ 1...SRTPRelays.maximumCount ~= $0 }) else {
            throw ValidationError("1 to \(SRTPRelays.maximumCount) sessions are possible")
        }
    }

    func run() throws {
        if stock {
            SRTPLibrary.useStockCiphers()
            print(try Self.figures(packets: packets).map { String($0) }.joined(separator: " "))
            return
        }
        var (own, baseline) = (SRTPPacketKind.all.map { _ in Rounds() }, SRTPPacketKind.all.map { _ in Rounds() })
        for _ in 0..<rounds {
            for (index, figure) in try Self.figures(packets: packets).enumerated() { own[index].add(figure) }
            for (index, figure) in try Self.stockFigures(packets: packets).enumerated() { baseline[index].add(figure) }
        }
        for (index, kind) in SRTPPacketKind.all.enumerated() {
            print(
                "\(kind.name): \(Self.text(own[index])), stock \(Self.text(baseline[index])), "
                    + "ratio \(own[index].ratios(to: baseline[index]).text(digits: 2))")
        }
        try reportSessions()
    }

    /// Prints what a packet costs with each number of sessions, and the ratio to the first number.
    private func reportSessions() throws {
        // Of the longer packets, those of one profile show how much less the contexts matter.
        for kind in SRTPPacketKind.all where kind.profile == .aeadAES128GCM || kind.size == 172 {
            var figures = sessions.map { _ in Rounds() }
            for _ in 0..<rounds {
                for (index, count) in sessions.enumerated() {
                    figures[index].add(try SRTPRelays(kind: kind, count: count).measure(packets: packets))
                }
            }
            for (count, figure) in zip(sessions, figures) {
                let ratio = figure.ratios(to: figures[0]).text(digits: 2)
                print(
                    "\(kind.name), \(Self.text(count)): \(figure.text("ns")), "
                        + "ratio to \(Self.text(sessions[0])) \(ratio)")
            }
        }
    }

    private static func text(_ figure: Rounds) -> String { String(format: "%.0f ns", figure.median) }
    private static func text(_ sessions: Int) -> String { sessions == 1 ? "1 session" : "\(sessions) sessions" }

    /// Those of both profiles and sizes, in the order in which they are told.
    private static func figures(packets: Int) throws -> [Double] {
        try SRTPPacketKind.all.map { try measure($0, packets: packets) }
    }

    /// Nanoseconds of CPU for one protect and one unprotect.
    private static func measure(_ kind: SRTPPacketKind, packets: Int) throws -> Double {
        let outbound = try kind.session(.outbound, key: 7)
        let inbound = try kind.session(.inbound, key: 7)
        var buffer = [UInt8](repeating: 0, count: 2_048)
        buffer[0] = 0x80
        let start = ThreadCPUClock.consumed
        for sequence in 0..<packets {
            buffer[2] = UInt8(truncatingIfNeeded: sequence >> 8)
            buffer[3] = UInt8(truncatingIfNeeded: sequence)
            var span = buffer.mutableSpan
            let count = try outbound.protect(&span, count: kind.size)
            _ = try inbound.unprotect(&span, count: count)
        }
        return (ThreadCPUClock.consumed - start) / .nanoseconds(1) / Double(packets)
    }

    private static func stockFigures(packets: Int) throws -> [Double] {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["srtp", "--stock", "--packets", String(packets)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let figures = text.split(separator: " ").compactMap {
            Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        guard figures.count == 4 else { throw ValidationError("the run with stock ciphers failed: \(text)") }
        return figures
    }
}
