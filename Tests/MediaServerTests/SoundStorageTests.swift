import Foundation
import TestSupport
import Testing

@testable import MediaServer

/// What is kept of sounds, in memory and on the disk, has limits that count more than their samples.
struct SoundStorageTests {
    @Test func `names and tags are counted in memory`() {
        let cache = SoundCache(capacity: 10_000)
        let names = (0..<4).map { "\($0)" + String(repeating: "n", count: 4_000) }
        for name in names { cache.put(Sound([]), name, .tagged(nil)) }
        #expect(names.map { cache.sound(of: $0) != nil } == [false, false, true, true])
        cache.put(Sound([]), "tagged", .tagged(String(repeating: "t", count: 4_000)))
        #expect(names.map { cache.sound(of: $0) != nil } == [false, false, false, true])
        // A sound that takes the place of one of its name takes its memory, too.
        for _ in 0..<10 { cache.put(Sound([]), "tagged", .tagged(String(repeating: "t", count: 4_000))) }
        #expect(cache.sound(of: names[3]) != nil)
    }

    @Test func `empty sounds are counted in memory, and no more are kept than may be`() {
        let small = SoundCache(capacity: 1_100)
        for name in ["a", "b", "c"] { small.put(Sound([]), name, .tagged("1")) }
        #expect(["a", "b", "c"].map { small.sound(of: $0) != nil } == [false, true, true])
        let few = SoundCache(capacity: 1 << 20, maximumCount: 2)
        for name in ["a", "b"] { few.put(Sound([1]), name, .tagged("1")) }
        #expect(few.isCurrent("a", .tagged("1")))
        few.put(Sound([1]), "c", .tagged("1"))
        #expect(["a", "b", "c"].map { few.sound(of: $0) != nil } == [true, false, true])
    }

    /// Each rate of MPEG audio, in pieces of several lengths, of which the last one is shorter.
    @Test(
        arguments: [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000], [1, 2])
    func `while a sound is made, it takes the memory that it has in the end`(_ rate: Int, _ channels: Int) {
        let (skipped, count) = (1_105, rate)
        let decoded = (0..<((skipped + count) * channels)).map { Int16(truncatingIfNeeded: $0 &* 7_919 % 20_000) }
        let expected = SoundAssembly.sampleCount(of: count, channels, rate: rate)
        #expect(expected == 48_000 * channels)
        var sounds: [Sound] = []
        for longest in [576, 1_152, 4_096] {
            var assembly = SoundAssembly(
                after: skipped, count, channels: channels, rate: rate, pieces: longest)
            let bytes = assembly.bytes
            // Memory is allocated in whole pages.
            #expect((0..<8_192).contains(bytes - 2 * expected))
            for start in stride(from: 0, to: decoded.count, by: longest * channels) {
                assembly.take(decoded, start..<min(start + longest * channels, decoded.count))
                #expect(assembly.bytes == bytes)
            }
            #expect(assembly.isComplete)
            sounds.append(assembly.sound)
        }
        #expect(sounds[0] == sounds[1] && sounds[0] == sounds[2])
        #expect(((expected - 2 * channels)...expected).contains(sounds[0].samples.count))
        #expect(sounds[0].channels == channels)
        if rate == 48_000 { #expect(sounds[0].samples == Array(decoded.dropFirst(skipped * channels))) }
    }

    @Test(arguments: ["mono.opus", "stereo.ogg", "mulaw.wav", "mono.mp3", "stereo.mp3", "slow.mp3"])
    func `a file tells beforehand what its sound will take`(_ name: String) throws {
        let file = try SoundFile(parsing: try Fixtures.bytes("audio/" + name), longest: 600)
        let sound = try file.decoded()
        let bytes = 2 * sound.samples.count
        #expect((bytes...(bytes + 8)).contains(file.decodedBytes))
    }

    @Test func `no more files are kept than may be, and what was begun is removed`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: path) }  // a leftover harms nobody
        let folder = SoundFolder(path: path.path, limit: 1_000_000, maximumFiles: 2)
        let urls = ["https://a", "https://b", "https://c"]
        for (index, url) in urls.enumerated() {
            let before = try Self.names(in: path)
            folder.keep([1, 2, 3], from: url, tag: "1")
            for name in try Self.names(in: path) where !before.contains(name) {
                // The first was asked for two hours ago, the next one an hour ago.
                let date = Date(timeIntervalSinceNow: Double(3_600 * (index - 2)))
                try FileManager.default.setAttributes(
                    [.modificationDate: date], ofItemAtPath: path.appending(path: name).path)
            }
        }
        #expect(urls.map { folder.tag(of: $0) } == [nil, "1", "1"])
        for name in [".dat.nosync1f4.abcdef", "notes.txt"] {
            try Data([1]).write(to: path.appending(path: name))
        }
        folder.removeLeftovers()
        #expect(try Self.names(in: path).filter { !$0.hasSuffix(".sound") } == ["notes.txt"])
        #expect(urls.map { folder.tag(of: $0) } == [nil, "1", "1"])
    }

    private static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }
}
