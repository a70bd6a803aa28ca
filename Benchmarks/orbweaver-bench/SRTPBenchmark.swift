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

    /// The parent runs itself once more with the library's own ciphers: a process can only have one set.
    @Flag(help: .hidden) var stock = false

    func validate() throws {
        guard 1...20 ~= rounds else { throw ValidationError("1 to 20 rounds are possible") }
    }

    func run() throws {
        if stock {
            SRTPLibrary.useStockCiphers()
            print(try Self.figures(packets: packets).map { String($0) }.joined(separator: " "))
            return
        }
        let names = [
            "AES_CM_128_HMAC_SHA1_80, 172 bytes", "AES_CM_128_HMAC_SHA1_80, 1200 bytes", "AEAD_AES_128_GCM, 172 bytes",
            "AEAD_AES_128_GCM, 1200 bytes",
        ]
        var (own, baseline) = (names.map { _ in Rounds() }, names.map { _ in Rounds() })
        for _ in 0..<rounds {
            for (index, figure) in try Self.figures(packets: packets).enumerated() { own[index].add(figure) }
            for (index, figure) in try Self.stockFigures(packets: packets).enumerated() { baseline[index].add(figure) }
        }
        for (index, name) in names.enumerated() {
            print(
                String(
                    format: "%@: %.0f ns, stock %.0f ns, ratio %@", name, own[index].median, baseline[index].median,
                    own[index].ratios(to: baseline[index]).text(digits: 2)))
        }
    }

    /// Those of both profiles and sizes, in the order in which they are told.
    private static func figures(packets: Int) throws -> [Double] {
        var figures: [Double] = []
        for profile in [SRTPSession.Profile.aes128CMSHA1_80, .aeadAES128GCM] {
            for size in [172, 1_200] { figures.append(try measure(profile, size: size, packets: packets)) }
        }
        return figures
    }

    /// Nanoseconds of CPU for one protect and one unprotect.
    private static func measure(_ profile: SRTPSession.Profile, size: Int, packets: Int) throws -> Double {
        let key = [UInt8](repeating: 7, count: profile == .aeadAES128GCM ? 28 : 30)
        let outbound = try SRTPSession(profile: profile, key: key, direction: .outbound)
        let inbound = try SRTPSession(profile: profile, key: key, direction: .inbound)
        var buffer = [UInt8](repeating: 0, count: 2_048)
        buffer[0] = 0x80
        let start = ThreadCPUClock.consumed
        for sequence in 0..<packets {
            buffer[2] = UInt8(truncatingIfNeeded: sequence >> 8)
            buffer[3] = UInt8(truncatingIfNeeded: sequence)
            var span = buffer.mutableSpan
            let count = try outbound.protect(&span, count: size)
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
