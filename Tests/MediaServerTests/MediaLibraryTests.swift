import Audio
import CallControl
import Foundation
import MediaServer
import Primitives
import TestSupport
import Testing

struct MediaLibraryTests {
    private static let library = MediaLibrary(folder: Fixtures.root.appending(path: "audio").path)

    /// Length in samples of 48 kHz, and the tone in each channel.
    @Test(arguments: [
        ("mono.opus", 48_000, [500.0]), ("stereo.ogg", 59_232, [500, 1_000]), ("mulaw.wav", 9_600, [500]),
        ("mono.mp3", 48_000, [500]), ("stereo.mp3", 59_232, [500, 1_000]), ("slow.mp3", 48_000, [500]),
    ])
    func `files of each kind become samples of 48 kHz, in the channels that they have`(
        _ name: String, _ length: Int, _ tones: [Double]
    ) async throws {
        try await Self.library.load(name)
        // Most others have another rate.
        let isExact = name.hasSuffix("opus") || name.hasSuffix("ogg")
        try Self.check(try #require(Self.library.sound(of: name)), length, tones, isExact: isExact)
    }

    private static func check(_ sound: Sound, _ length: Int, _ tones: [Double], isExact: Bool) throws {
        #expect(abs(sound.length - length) <= (isExact ? 0 : 100))
        #expect(sound.channels == tones.count)
        for (number, tone) in tones.enumerated() {
            let samples = sound.channel(number)
            #expect(AudioLevel(of: samples.span).decibelsBelow < 30)
            let share = share(of: tone, in: Array(samples[2_400..<7_200]))
            #expect(share > 0.95, "\(share)")
        }
    }

    /// Two channels of PCM, resampled and as they are; three are folded.
    @Test(arguments: [(48_000, 2), (16_000, 2), (48_000, 3)]) func `WAV files keep two channels`(
        _ rate: Int, _ channels: Int
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover harms nobody
        var tones = [500.0, 1_000, 500].prefix(channels).map { Oscillator(frequency: $0, rate: Double(rate)) }
        let samples = (0..<(rate / 2)).flatMap { _ in tones.indices.map { Int16(8_000 * tones[$0].next()) } }
        try Data(Self.wave(samples, rate, channels)).write(to: folder.appending(path: "sound.wav"))
        let library = MediaLibrary(folder: folder.path)
        try await library.load("sound.wav")
        let sound = try #require(library.sound(of: "sound.wav"))
        if channels == 2 {
            try Self.check(sound, 24_000, [500, 1_000], isExact: rate == 48_000)
        } else {
            #expect(sound.channels == 1 && sound.length == 24_000)
            #expect(share(of: 500, in: sound.samples) > 0.75 && share(of: 1_000, in: sound.samples) > 0.15)
        }
    }

    private static func wave(_ samples: [Int16], _ rate: Int, _ channels: Int) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let format =
            little(1, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * 2, 4)
            + little(channels * 2, 2) + little(16, 2)
        let data = samples.flatMap { little(Int($0), 2) }
        return Array("RIFF".utf8) + little(36 + data.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
            + Array("data".utf8)
            + little(data.count, 4) + data
    }

    /// A frame that says that 576 samples are in front and 100 behind, and frames of silence.
    @Test(
        arguments: [
            ([0xFF, 0xFB, 0x90, 0x00], 417, 44_100, 2, 1_152), ([0xFF, 0xFB, 0x54, 0xC0], 192, 48_000, 1, 1_152),
            ([0xFF, 0xF3, 0x80, 0x00], 208, 22_050, 2, 576), ([0xFF, 0xE3, 0x88, 0xC0], 576, 8_000, 1, 576),
        ] as [([UInt8], Int, Int, Int, Int)])
    func `MP3 files of every rate are played at their length, whatever their names`(
        _ header: [UInt8], _ size: Int, _ rate: Int, _ channels: Int, _ samples: Int
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover harms nobody
        let silence = header + [UInt8](repeating: 0, count: size - header.count)
        let side = samples == 1_152 ? (channels == 1 ? 17 : 32) : (channels == 1 ? 9 : 17)
        var first = Array(silence.prefix(4 + side))
        first += Array("Info".utf8)
        first += [0, 0, 0, 0]
        first += Array("LAME3.100".utf8)
        first += [UInt8](repeating: 0, count: 12)
        first += [0x24, 0x00, 100]
        first += [UInt8](repeating: 0, count: size - first.count)
        let file = first + (0..<100).flatMap { _ in silence }
        for name in ["sound.mp3", "sound.wav"] { try Data(file).write(to: folder.appending(path: name)) }
        try Data(file.dropLast()).write(to: folder.appending(path: "cut.mp3"))
        let library = MediaLibrary(folder: folder.path)
        for name in ["sound.mp3", "sound.wav"] {
            try await library.load(name)
            let sound = try #require(library.sound(of: name))
            let played = min(100 * samples - 676, 100 * samples - 1_105) * 48_000 / rate
            #expect(sound.channels == channels && abs(sound.length - played) <= (rate == 48_000 ? 0 : 100))
            #expect(sound.samples.allSatisfy { $0 == 0 })
        }
        await #expect(throws: MediaFileError.undecodable("cut.mp3", .cutFrame(byte: file.count - size))) {
            try await library.load("cut.mp3")
        }
    }

    @Test func `MP3 frames behind other bytes are played, unless the file starts like one of another format`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover harms nobody
        let silence: [UInt8] = [0xFF, 0xFB, 0x54, 0xC0] + [UInt8](repeating: 0, count: 188)
        let frames = (0..<20).flatMap { _ in silence }
        let samples = stride(from: 0, to: frames.count, by: 2).map { index in
            Int16(truncatingIfNeeded: Int(frames[index]) | Int(frames[index + 1]) << 8)
        }
        let files: [String: [UInt8]] = [
            "zeros.mp3": [UInt8](repeating: 0, count: 999) + frames, "rest.mp3": [1, 2, 3] + frames,
            "sound.wav": Self.wave(samples, 48_000, 1), "page.mp3": Array("<p>There is no such file.</p>".utf8),
        ]
        for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
        let library = MediaLibrary(folder: folder.path)
        for name in ["zeros.mp3", "rest.mp3"] {
            try await library.load(name)
            let sound = try #require(library.sound(of: name))
            #expect(sound.length == 20 * 1_152 && sound.samples.allSatisfy { $0 == 0 })
        }
        try await library.load("sound.wav")
        #expect(library.sound(of: "sound.wav")?.samples == samples)
        await #expect(throws: MediaFileError.undecodable("page.mp3", .unknownFormat)) {
            try await library.load("page.mp3")
        }
    }

    @Test func `a file that many ask for at once is read once, and what is kept has a limit`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover harms nobody
        let names = ["a.wav", "b.wav", "c.wav"]
        for name in names {
            try Data(Self.wave([Int16](repeating: 99, count: 8_000), 8_000, 1)).write(to: folder.appending(path: name))
        }
        // A second is 96 kB at 48 kHz.
        let library = MediaLibrary(folder: folder.path, capacity: 200_000)
        let reads = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<12 { group.addTask { try await library.load("a.wav") } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(reads == 1)
        for (name, isRead) in [("b.wav", true), ("a.wav", false), ("c.wav", true)] {
            #expect(try await library.load(name) == isRead)
        }
        #expect(
            names.map { library.sound(of: $0) != nil } == [true, false, true], "what was asked for longest ago goes")
        #expect(try await library.load("b.wav"))
    }

    @Test(arguments: ["README.md", "../stun/README.md", "", ".hidden", "nothing.opus"])
    func `everything else is refused`(_ name: String) async {
        await #expect(throws: MediaFileError.self) { try await Self.library.load(name) }
        #expect(Self.library.sound(of: name) == nil)
    }

    /// A link in the folder could lead anywhere: none is followed, wherever it leads.
    @Test(arguments: ["file", "neighbour", "folder", "folder/secret.opus", "nowhere", "link"])
    func `links are refused`(_ name: String) async throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        let (folder, outside) = (root.appending(path: "media"), root.appending(path: "outside"))
        for each in [folder, outside] {
            try FileManager.default.createDirectory(at: each, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: root) }  // a leftover harms nobody
        let sound = Data(try Fixtures.bytes("audio/mono.opus"))
        try sound.write(to: outside.appending(path: "secret.opus"))
        try sound.write(to: folder.appending(path: "own.opus"))
        let targets = [
            "file": outside.appending(path: "secret.opus"), "neighbour": folder.appending(path: "own.opus"),
            "folder": outside,
            "nowhere": root.appending(path: "nothing.opus"), "link": folder.appending(path: "file"),
        ]
        for (link, target) in targets {
            try FileManager.default.createSymbolicLink(at: folder.appending(path: link), withDestinationURL: target)
        }
        let library = MediaLibrary(folder: folder.path)
        try await library.load("own.opus")
        let error: MediaFileError = name.contains("/") ? .invalidName(name) : .notRegular(name)
        await #expect(throws: error) { try await library.load(name) }
        #expect(library.sound(of: name) == nil)
    }

    @Test func `what is wrong with a file is said`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover harms nobody
        var file = try Fixtures.bytes("audio/mono.opus")
        file[200] ^= 0xFF
        try Data(file).write(to: folder.appending(path: "damaged.opus"))
        let library = MediaLibrary(folder: folder.path)
        await #expect(throws: MediaFileError.undecodable("damaged.opus", .wrongChecksum(byte: 121))) {
            try await library.load("damaged.opus")
        }
    }
}
