import ArgumentParser
import Foundation
import SRTP

struct SRTPBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "srtp",
        abstract: "SRTP protect + unprotect: the replaced ciphers next to the ones libsrtp2 came with.")

    @Option(help: "Packets per figure.")
    var packets = 200_000

    /// The parent runs itself once more with the library's own ciphers: a process can only have one set.
    @Flag(help: .hidden) var stock = false

    func run() throws {
        if stock { SRTPLibrary.useStockCiphers() }
        var figures: [Double] = []
        for profile in [SRTPSession.Profile.aes128CMSHA1_80, .aeadAES128GCM] {
            for size in [172, 1_200] { figures.append(try Self.measure(profile, size: size, packets: packets)) }
        }
        if stock {
            print(figures.map { String($0) }.joined(separator: " "))
            return
        }
        let baseline = try Self.stockFigures(packets: packets)
        let names = [
            "AES_CM_128_HMAC_SHA1_80, 172 bytes", "AES_CM_128_HMAC_SHA1_80, 1200 bytes", "AEAD_AES_128_GCM, 172 bytes",
            "AEAD_AES_128_GCM, 1200 bytes",
        ]
        for (index, name) in names.enumerated() {
            print(
                String(
                    format: "%@: %.0f ns, stock %.0f ns, ratio %.2f", name, figures[index], baseline[index],
                    figures[index] / baseline[index]))
        }
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
