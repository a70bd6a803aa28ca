import Audio
import CallControl
import CallRuntime
import EventAPI
import Foundation
import Logging
import Observability
import Primitives
import RecordingServer
import Synchronization
import TestSupport
import Testing

/// Recordings from their first samples to their removal, in a folder of their own.
struct RecordingLibraryTests {
    @Test(arguments: RecordRequest.Format.allCases)
    func `what is taken is in the file, and told in order`(_ format: RecordRequest.Format) async throws {
        let rig = try Rig()
        let recording = try rig.recording(1, format: format)
        try await rig.serve { library in
            try await library.open(recording)
            library.recorder.note(.started, of: recording.id)
            for count in 0..<75 { #expect(library.recorder.take(Rig.tone(count), of: recording.id)) }
            library.recorder.note(.paused, of: recording.id)
            library.recorder.note(.resumed, of: recording.id)
            await #expect(throws: RecordingFault.notEnded) { try await library.audio(of: recording.id, of: Rig.bot) }
            await #expect(throws: RecordingFault.notEnded) { try await library.remove(recording.id, of: Rig.bot) }
            for count in 75..<100 { #expect(library.recorder.take(Rig.tone(count), of: recording.id)) }
            library.recorder.note(.over(.maximum), of: recording.id)
            try await rig.waits { rig.news.ended.count == 1 }
            #expect(!library.recorder.take(Rig.tone(0), of: recording.id), "it is over")
        }
        let ended = try #require(rig.news.ended.first)
        #expect((ended.end, ended.milliseconds, ended.state) == (.maximum, 2_000, .stopped))
        #expect(
            rig.journal.types == [
                "recording.started", "recording.paused", "recording.resumed", "recording.stopped",
            ])
        #expect(rig.journal.traces == [Rig.trace], "the trace of the call")
        #expect(rig.journal.data("recording.paused", "milliseconds") == .integer(1_500))
        #expect(rig.journal.data("recording.stopped", "reason") == .string("maximum"))
        #expect(rig.journal.data("recording.stopped", "milliseconds") == .integer(2_000))
        #expect(rig.repository.rows[recording.id] == ended)
        let bytes = try rig.file(of: recording)
        #expect(bytes.count == ended.bytes)
        #expect(try Rig.length(of: bytes, format) == 96_000)
    }

    @Test(arguments: RecordRequest.Format.allCases)
    func `a file whose process was killed is cut to what is whole, and told as interrupted`(
        _ format: RecordRequest.Format
    ) async throws {
        let rig = try Rig()
        let recording = try rig.recording(1, format: format)
        let killed = try rig.library()
        try await killed.open(recording)
        for count in 0..<60 { _ = killed.recorder.take(Rig.tone(count), of: recording.id) }
        // The first second is written.
        try await rig.waits { (try? rig.file(of: recording).count).map { $0 > 1_000 } ?? false }
        let written = try rig.file(of: recording)
        // As if a part of the next second had been written, and not the header.
        let begun: [UInt8] = format == .wav ? [0x4F] : [0x4F, 0x67, 0x67]
        try Data(written + begun).write(to: rig.url(of: recording))
        try await rig.library().recover()
        let repaired = try rig.file(of: recording)
        let ended = try #require(rig.repository.rows[recording.id])
        #expect((ended.end, ended.bytes, ended.state) == (.interrupted, repaired.count, .stopped))
        switch format {
        case .wav: #expect(try Rig.length(of: repaired, .wav) == ended.milliseconds * 48 && ended.milliseconds == 1_000)
        case .ogg:
            #expect(try Rig.length(of: repaired, .ogg) == 48_000 - 312 && ended.milliseconds == 993)
            let last = OggPage.last(in: repaired.span)
            let page = try #require(last?.page)
            #expect(page.isLast && page.body.upperBound == repaired.count)
        }
        #expect(rig.journal.types == ["recording.stopped"])
        #expect(rig.journal.data("recording.stopped", "reason") == .string("interrupted"))
        #expect(rig.journal.traces == [Rig.trace], "the trace of the call")
        killed.finish()
    }

    @Test func `packets are in the file as they came, also behind samples`() async throws {
        let rig = try Rig()
        let recording = try rig.recording(1)
        // 20 ms in CELT of full band, the content of which nobody looks at here.
        let packets = (0..<100).map { RecordedPacket(bytes: [31 << 3, UInt8($0), 7], samples: 960) }
        try await rig.serve { library in
            try await library.open(recording)
            for count in 0..<10 { #expect(library.recorder.take(Rig.tone(count), of: recording.id)) }
            #expect(library.recorder.take(Array(packets[..<1]), of: recording.id))
            #expect(library.recorder.take(Array(packets[1...]), of: recording.id))
            library.recorder.note(.over(.command), of: recording.id)
            try await rig.waits { rig.news.ended.count == 1 }
        }
        let ended = try #require(rig.news.ended.first)
        #expect(ended.milliseconds == 2_200)
        let bytes = try rig.file(of: recording)
        let file = try OggOpusFile(parsing: bytes.span)
        #expect(file.sampleCount == 110 * 960)
        for (index, packet) in packets.enumerated() {
            let written = file.packet(10 + index)
            let isThere = written.count == 3 && written[1] == packet.bytes[1]
            #expect(isThere, "packet \(index)")
        }
    }

    @Test func `packets that were left out are counted`() async throws {
        let rig = try Rig()
        try await rig.serve { library in
            library.recorder.noteDropped(3)
            library.recorder.noteDropped(1)
        }
        #expect(rig.metrics.recordingPacketsDropped.value == 4)
    }

    @Test func `a recording without a file is told as interrupted, too`() async throws {
        let rig = try Rig()
        let recording = try rig.recording(1)
        try await rig.repository.add(recording)
        try await rig.library().recover()
        #expect(rig.repository.rows[recording.id]?.end == .interrupted)
        await #expect(throws: RecordingFault.notFound) {
            try await rig.library().audio(of: recording.id, of: Rig.bot)
        }
    }

    @Test func `the end of the gateway ends what goes on`() async throws {
        let rig = try Rig()
        let recording = try rig.recording(1, format: .wav)
        try await rig.serve { library in
            try await library.open(recording)
            _ = library.recorder.take(Rig.tone(0), of: recording.id)
        }
        #expect(rig.repository.rows[recording.id]?.end == .interrupted)
        #expect(rig.repository.rows[recording.id]?.milliseconds == 20)
    }

    @Test func `a file is read in pieces, by its application alone, and is gone once it is removed`() async throws {
        let rig = try Rig()
        let recording = try rig.recording(1, format: .wav)
        try await rig.serve { library in
            try await library.open(recording)
            for count in 0..<10 { _ = library.recorder.take(Rig.tone(count), of: recording.id) }
            library.recorder.note(.over(.command), of: recording.id)
            try await rig.waits { rig.news.ended.count == 1 }
            let (found, file) = try await library.audio(of: recording.id, of: Rig.bot)
            let bytes = try rig.file(of: recording)
            #expect(file.size == bytes.count && found.bytes == bytes.count)
            #expect(await file.read(40..<50) == Array(bytes[40..<50]))
            let other = try #require(ApplicationIdentity("other#2"))
            await #expect(throws: RecordingFault.notFound) { try await library.audio(of: recording.id, of: other) }
            await #expect(throws: RecordingFault.notFound) { try await library.recording(recording.id, of: other) }
            await #expect(throws: RecordingFault.notFound) { try await library.remove(recording.id, of: other) }
            #expect(try await library.remove(recording.id, of: Rig.bot) == found)
            #expect(await file.read(0..<4) == Array("RIFF".utf8), "who reads it reads on")
            await #expect(throws: RecordingFault.notFound) { try await library.recording(recording.id, of: Rig.bot) }
        }
        #expect(!FileManager.default.fileExists(atPath: rig.url(of: recording).path))
    }

    @Test func `what a call does not allow leaves nothing behind, and its name can be used again`() async throws {
        let rig = try Rig()
        let recording = try rig.recording(1)
        try await rig.serve { library in
            try await library.open(recording)
            await library.discard(recording.id)
            #expect(rig.repository.rows.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: rig.url(of: recording).path))
            try await library.open(recording)
            await library.discard(recording.id)
        }
        #expect(rig.journal.types.isEmpty && rig.news.ended.isEmpty)
    }

    @Test func `what is too old or too much is removed with its file`() async throws {
        let rig = try Rig()
        let (old, new) = (try rig.recording(1), try rig.recording(2))
        for recording in [old, new] {
            try await rig.repository.add(recording.ended(.command, milliseconds: 20, bytes: 5, time: 1))
            try Data("audio".utf8).write(to: rig.url(of: recording))
        }
        rig.repository.setSurplus([old.id])
        try await rig.serve { _ in try await rig.waits { rig.repository.rows.count == 1 } }
        #expect(rig.repository.rows[new.id] != nil)
        #expect(!FileManager.default.fileExists(atPath: rig.url(of: old).path))
        #expect(FileManager.default.fileExists(atPath: rig.url(of: new).path))
    }

    @Test func `where the disk does not keep up, the recording fails and what was written stays`() async throws {
        let rig = try Rig()
        let recording = try rig.recording(1, format: .wav)
        try await rig.serve { library in
            try await library.open(recording)
            var taken = 0
            // More than any thread writes meanwhile.
            while taken < 2_000_000, library.recorder.take([Int16](), of: recording.id) { taken += 1 }
            #expect(taken < 2_000_000, "what waits is bounded")
            library.recorder.note(.over(.failed), of: recording.id)
            try await rig.waits { rig.news.ended.count == 1 }
        }
        #expect(rig.news.ended.first?.end == .failed)
    }

    @Test func `without a folder nothing is recorded`() async throws {
        let rig = try Rig()
        let library = try rig.library(folder: nil)
        #expect(!library.areProvided)
        let recording = try rig.recording(1)
        await #expect(throws: RecordingFault.notProvided) { try await library.open(recording) }
        try await library.recover()
        await library.run(telling: rig.news)
    }

    @Test func `a folder that is gone refuses the recording and keeps nothing of it`() async throws {
        let rig = try Rig()
        try FileManager.default.removeItem(at: rig.folder)
        let recording = try rig.recording(1)
        try await rig.serve { library in
            await #expect(throws: RecordingFault.unavailable) { try await library.open(recording) }
        }
        #expect(rig.repository.rows.isEmpty)
    }
}
