import CallControl
import Foundation
import HTTPClient
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import MediaServer

/// Sounds of other servers: what is asked, what is kept, and what is said of failures.
struct RemoteSoundsTests {
    /// A server that answers one URL after the other as it is told, and honours `if-none-match`.
    private final class Server: Sendable {
        struct State {
            var content: [UInt8]
            var tag: String?
            var status = 200
            var failure: HTTPFailure?
            /// The tag that each request had.
            var asked: [String?] = []
            /// The time that each request had.
            var timeouts: [Duration] = []
            /// The most requests that waited for an answer at once.
            var mostHeld = 0
            var isHeld = false
            var held: [CheckedContinuation<Void, Never>] = []
        }

        let state: Mutex<State>

        init(_ content: [UInt8], tag: String?) { state = Mutex(State(content: content, tag: tag)) }

        var asked: [String?] { state.withLock { $0.asked } }
        func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

        func release() {
            let held = state.withLock { state in
                defer { state.held = [] }
                state.isHeld = false
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        func response(to request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse {
            let known = request.fields.first { $0.name == "if-none-match" }?.value
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    state.asked.append(known)
                    state.timeouts.append(request.timeout)
                    if state.isHeld { state.held.append(continuation) }
                    state.mostHeld = max(state.mostHeld, state.held.count)
                    return state.isHeld
                }
                if !waits { continuation.resume() }
            }
            let (response, failure) = state.withLock { state in
                let fields = state.tag.map { [HTTPField("ETag", $0)] } ?? []
                if known != nil, known == state.tag {
                    return (HTTPResponse(status: 304, fields: fields), state.failure)
                }
                return (HTTPResponse(status: state.status, fields: fields, content: state.content), state.failure)
            }
            if let failure { throw failure }
            return response
        }
    }

    private static let url = "https://sounds.example.com/a.opus"

    /// A folder, and what makes the sounds of a process that keeps them there.
    private struct Rig {
        let folder: URL
        let server: Server
        let bytes: Int

        init(_ server: Server, bytes: Int = 1_000_000) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            self.server = server
            self.bytes = bytes
        }

        func process(
            _ library: MediaLibrary = MediaLibrary(folder: nil)
        ) -> (sounds: RemoteSounds, library: MediaLibrary) {
            var configuration = RemoteSounds.Configuration()
            configuration.folder = folder.path
            configuration.bytes = bytes
            configuration.answerTime = RemoteSoundsTests.answerTime
            let sounds = RemoteSounds(configuration, in: library) { [server] request async throws(HTTPFailure) in
                try await server.response(to: request)
            }
            return (sounds, library)
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }  // a leftover harms nobody

        var files: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        }
    }

    fileprivate static let bot = ApplicationName("bot")!
    /// Longer than any of the tests takes where many things go on at once.
    fileprivate static let answerTime = Duration.seconds(60)

    /// Waits until something has come about. It does, or the test runs out of its time.
    private static func wait(until condition: () async -> Bool) async {
        while await !condition() {
            // Fails only if the test is cancelled, since its time is over.
            do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
        }
    }

    private static func opus() throws -> [UInt8] { try Fixtures.bytes("audio/mono.opus") }

    @Test func `a sound is fetched once while it stays the same, also by the next process`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: "\"1\""))
        defer { rig.remove() }
        let first = rig.process()
        for _ in 0..<2 { try await first.sounds.load(Self.url) }
        let sound = try #require(first.library.sound(of: Self.url))
        #expect(rig.server.asked == [nil, "\"1\""])
        let next = rig.process()
        try await next.sounds.load(Self.url)
        #expect(rig.server.asked.last == "\"1\"")
        #expect(next.library.sound(of: Self.url)?.samples == sound.samples, "it comes from the folder")
        rig.server.change { $0.tag = "\"2\"" }
        try await next.sounds.load(Self.url)
        try await next.sounds.load(Self.url)
        #expect(rig.server.asked.suffix(2) == ["\"1\"", "\"2\""])
        #expect(rig.files.count == 1)
    }

    @Test func `what has no entity tag is fetched each time, and not kept`() async throws {
        for tag in [nil, "\"with space \"", ""] as [String?] {
            let rig = try Rig(Server(try Self.opus(), tag: tag))
            defer { rig.remove() }
            let process = rig.process()
            for _ in 0..<2 { try await process.sounds.load(Self.url) }
            #expect(rig.server.asked == [nil, nil])
            #expect(process.library.sound(of: Self.url) != nil && rig.files.isEmpty)
        }
    }

    @Test func `what the folder has lost or damaged is fetched anew`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: "\"1\""))
        defer { rig.remove() }
        try await rig.process().sounds.load(Self.url)
        let file = rig.folder.appending(path: try #require(rig.files.first))
        var bytes = [UInt8](try Data(contentsOf: file))
        bytes[bytes.count - 1] ^= 0xFF
        try Data(bytes).write(to: file)
        let next = rig.process()
        try await next.sounds.load(Self.url)
        #expect(rig.server.asked == [nil, "\"1\"", nil] && next.library.sound(of: Self.url) != nil)
        try Data("something else".utf8).write(to: file)
        try await rig.process().sounds.load(Self.url)
        #expect(rig.server.asked.last == .some(nil), "it is not known what that is")
    }

    @Test func `the folder has a limit, and what was asked for longest ago makes room`() async throws {
        let content = try Self.opus()
        // Each takes two blocks of 4,096 bytes.
        let rig = try Rig(Server(content, tag: "\"1\""), bytes: 4 * 4_096)
        defer { rig.remove() }
        let sounds = rig.process().sounds
        let urls = (0..<3).map { "https://sounds.example.com/\($0).opus" }
        for (index, url) in urls.prefix(2).enumerated() {
            try await sounds.load(url)
            for name in rig.files {
                // As if an hour had passed.
                let path = rig.folder.appending(path: name).path
                let age = Double(3_600 * (2 - index))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
            }
        }
        let before = Set(rig.files)
        try await sounds.load(urls[0])
        try await sounds.load(urls[2])
        #expect(rig.files.count == 2 && before.intersection(rig.files).count == 1)
        let next = rig.process().sounds
        for url in urls { try await next.load(url) }
        #expect(rig.server.asked.suffix(3).first == "\"1\"", "the first was asked for again, and stayed")
        #expect(rig.server.asked.suffix(2).first == .some(nil), "the second made room")
        let small = try Rig(Server(content, tag: "\"1\""), bytes: 100)
        defer { small.remove() }
        let process = small.process()
        try await process.sounds.load(Self.url)
        #expect(small.files.isEmpty && process.library.sound(of: Self.url) != nil, "it is played all the same")
    }

    @Test func `a long sound is refused before it is decoded`() async throws {
        let rig = try Rig(Server(try Fixtures.bytes("audio/stereo.ogg"), tag: "\"1\""))
        defer { rig.remove() }
        // The file has 1.2 seconds.
        let (sounds, library) = rig.process(MediaLibrary(folder: nil, longestFetched: 1))
        await #expect(throws: MediaFileError.undecodable(Self.url, .tooLong(minutes: 0))) {
            try await sounds.load(Self.url)
        }
        #expect(library.sound(of: Self.url) == nil && rig.files.isEmpty)
        try await rig.process(MediaLibrary(folder: nil, longestFetched: 2)).sounds.load(Self.url)
        #expect(MediaLibrary.maximumFetchedSeconds == 600)
    }

    @Test func `sounds that are played take memory until they end`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: "\"1\""))
        defer { rig.remove() }
        // A sound has 96 kB. One can be cached, and two can be there.
        let (sounds, library) = rig.process(MediaLibrary(folder: nil, capacity: 100_000))
        let urls = (0..<3).map { "https://sounds.example.com/\($0).opus" }
        var players: [SamplePlayer] = []
        for url in urls.prefix(2) {
            try await sounds.load(url)
            let sound = try #require(library.sound(of: url))
            #expect(sound.samples.count == 48_000)
            players.append(SamplePlayer(sound, from: 0, repeats: false))
        }
        await #expect(throws: MediaFileError.notFetched(urls[2], .noMemory)) { try await sounds.load(urls[2]) }
        #expect(library.sound(of: urls[1]) != nil && players.count == 2)
        players.removeFirst()
        try await sounds.load(urls[2])
        #expect(library.sound(of: urls[2])?.samples.count == 48_000)
        // What the folder has is not thrown away for want of memory.
        players.append(SamplePlayer(try #require(library.sound(of: urls[2])), from: 0, repeats: false))
        await #expect(throws: MediaFileError.notFetched(urls[0], .noMemory)) { try await sounds.load(urls[0]) }
        #expect(players.count == 2)
        players = []
        try await sounds.load(urls[0])
        #expect(rig.server.asked.suffix(2) == ["\"1\"", "\"1\""])
    }

    @Test(.timeLimit(.minutes(1))) func `those who ask at once wait for one answer`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: "\"1\""))
        defer { rig.remove() }
        let sounds = rig.process().sounds
        rig.server.change { $0.isHeld = true }
        defer { rig.server.release() }
        let loads = (0..<10).map { _ in Task { try await sounds.load(Self.url) } }
        await Self.wait { await sounds.openCount == 10 }
        rig.server.release()
        for load in loads { try await load.value }
        #expect(rig.server.asked.count == 1)
        #expect(await sounds.openCount == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `an application has its share of what is fetched at a time`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: nil))
        defer { rig.remove() }
        let sounds = rig.process().sounds
        rig.server.change { $0.isHeld = true }
        defer { rig.server.release() }
        let share = FetchPlaces.maximumOfOne
        var loads = (0..<(share + 2)).map { number in
            Task { try await sounds.load("https://sounds.example.com/\(number)") }
        }
        await Self.wait { await sounds.waitingCount == 2 }
        // Another application has its own share, also of a sound that this one waits for.
        let other = try #require(ApplicationName("other"))
        loads.append(Task { try await sounds.load(["https://sounds.example.com/0"], for: other) })
        await Self.wait { rig.server.asked.count == share + 1 }
        rig.server.release()
        for load in loads { try await load.value }
        #expect(rig.server.asked.count == share + 3)
        #expect(await sounds.waitingCount == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `no more sounds are fetched at a time than may be`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: nil))
        defer { rig.remove() }
        let sounds = rig.process().sounds
        rig.server.change { $0.isHeld = true }
        defer { rig.server.release() }
        let share = FetchPlaces.maximumOfOne
        var loads: [Task<Void, any Error>] = []
        for application in 0...(FetchPlaces.maximum / share) {
            let name = try #require(ApplicationName("bot-\(application)"))
            for number in 0..<share {
                loads.append(Task { try await sounds.load(["https://sounds.example.com/\(number)"], for: name) })
            }
        }
        await Self.wait { await sounds.waitingCount == share }
        await Self.wait { rig.server.asked.count == FetchPlaces.maximum }
        rig.server.release()
        for load in loads { try await load.value }
        #expect(rig.server.asked.count == FetchPlaces.maximum + share)
    }

    @Test(.timeLimit(.minutes(1))) func `the sounds of a list are fetched together, within one time`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: nil))
        defer { rig.remove() }
        let (sounds, library) = rig.process()
        rig.server.change { $0.isHeld = true }
        defer { rig.server.release() }
        let urls = (0..<20).map { "https://sounds.example.com/\($0)" }
        let load = Task { try await sounds.load(urls, for: Self.bot) }
        await Self.wait { rig.server.asked.count == FetchPlaces.maximumOfOne }
        rig.server.release()
        try await load.value
        #expect(rig.server.asked.count == 20 && urls.allSatisfy { library.sound(of: $0) != nil })
        let (most, timeouts) = rig.server.state.withLock { ($0.mostHeld, $0.timeouts) }
        #expect(most == FetchPlaces.maximumOfOne)
        let limit = Self.answerTime
        #expect(timeouts.allSatisfy { $0 > .zero && $0 <= limit })
        let (first, last) = (try #require(timeouts.first), try #require(timeouts.last))
        #expect(last < first, "the last has what the others have left of the time")
    }

    @Test func `a list whose sound is missing fails, and fetches no more`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: nil))
        defer { rig.remove() }
        rig.server.change { $0.status = 404 }
        let sounds = rig.process().sounds
        let urls = (0..<20).map { "https://sounds.example.com/\($0)" }
        let error = await #expect(throws: MediaFileError.self) { try await sounds.load(urls, for: Self.bot) }
        guard case .notFetched(_, .status(404)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(rig.server.asked.count <= FetchPlaces.maximumOfOne)
    }

    @Test func `what went wrong has a name`() async throws {
        let rig = try Rig(Server(try Self.opus(), tag: "\"1\""))
        defer { rig.remove() }
        let process = rig.process()
        for status in [204, 301, 304, 404, 500] {
            rig.server.change { $0.status = status }
            await #expect(throws: MediaFileError.notFetched(Self.url, .status(status))) {
                try await process.sounds.load(Self.url)
            }
        }
        rig.server.change { $0.status = 200 }
        let largest = RemoteSounds.Configuration().largest
        for (failure, fault) in [
            (HTTPFailure.timedOut, SoundFetchError.timedOut), (.responseTooLarge, .tooLarge(limit: largest)),
            (.unresolved("x"), .noAddress), (.refusedAddress(IPAddress(v4: 0x0A00_0001)), .noAddress),
            (.notConnected("x"), .notConnected), (.untrusted("x"), .untrusted),
            (.unusableURL("x"), .unusableURL), (.connectionLost("x"), .connectionLost), (.shutDown, .stopping),
        ] {
            rig.server.change { $0.failure = failure }
            await #expect(throws: MediaFileError.notFetched(Self.url, fault)) {
                try await process.sounds.load(Self.url)
            }
        }
        rig.server.change {
            $0.failure = nil
            $0.content = Array("<html>".utf8)
        }
        await #expect(throws: MediaFileError.undecodable(Self.url, .unknownFormat)) {
            try await process.sounds.load(Self.url)
        }
        #expect(rig.files.isEmpty, "what cannot be played is not kept")
        let none = RemoteSounds(RemoteSounds.Configuration(), in: MediaLibrary(folder: nil)) {
            request async throws(HTTPFailure) in throw HTTPFailure.shutDown
        }
        await #expect(throws: MediaFileError.noSoundFolder) { try await none.load(Self.url) }
    }
}

extension RemoteSounds {
    fileprivate func load(_ url: String) async throws(MediaFileError) {
        try await load([url], for: RemoteSoundsTests.bot)
    }
}
