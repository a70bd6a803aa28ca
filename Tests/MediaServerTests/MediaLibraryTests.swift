import Audio
import CallRuntime
import Foundation
import MediaServer
import TestSupport
import Testing

struct MediaLibraryTests {
    private static let library = MediaLibrary(folder: Fixtures.root.appending(path: "audio").path)

    /// Length in samples of 48 kHz, and the tones in it.
    @Test(arguments: [("mono.opus", 48_000, [500.0]), ("stereo.ogg", 59_232, [500, 1_000]), ("mulaw.wav", 9_600, [500])])
    func `files of each kind become samples of 48 kHz, one channel`(_ name: String, _ length: Int, _ tones: [Double]) async throws {
        try await Self.library.load(name)
        let samples = try #require(Self.library.samples(of: name))
        #expect(abs(samples.count - length) <= (name.hasSuffix("wav") ? 100 : 0))
        #expect(AudioLevel(of: samples.span).decibelsBelow < 30)
        let middle = Array(samples[2_400..<7_200])
        let shares = tones.map { share(of: $0, in: middle) }
        #expect(shares.reduce(0, +) > 0.95 && shares.allSatisfy { $0 > 0.3 }, "\(shares)")
    }

    @Test(arguments: ["README.md", "../stun/README.md", "", ".hidden", "nothing.opus"]) func `everything else is refused`(_ name: String) async {
        await #expect(throws: MediaFileError.self) { try await Self.library.load(name) }
        #expect(Self.library.samples(of: name) == nil)
    }

    @Test func `what is wrong with a file is said`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover harms nobody
        var file = try Fixtures.bytes("audio/mono.opus")
        file[200] ^= 0xFF
        try Data(file).write(to: folder.appending(path: "damaged.opus"))
        let library = MediaLibrary(folder: folder.path)
        await #expect(throws: MediaFileError("\"damaged.opus\": its page at byte 121 is damaged: the checksum differs")) {
            try await library.load("damaged.opus")
        }
    }
}
