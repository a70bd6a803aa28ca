import CallControl
import CallRuntime
import Synchronization

/// Recordings in memory, whose files have the bytes 0, 1, 2, … again and again.
final class KnownRecordings: Recordings {
    private let known = Mutex<[Recording]>([])

    func add(_ recording: Recording) { known.withLock { $0.append(recording) } }

    static func recording(
        _ number: Int, of application: ApplicationIdentity = Rig.bot, tag: String? = nil, bytes: Int? = nil
    ) -> Recording {
        let going = Recording(
            RecordingID(number, of: SessionID("c1")), try! RecordRequest(format: .wav, tag: tag), of: application,
            at: Rig.address, in: CallID(0xAB), as: SessionID("c1"), time: Int64(number))
        return bytes.map { going.ended(.command, milliseconds: 20, bytes: $0, time: 9) } ?? going
    }

    var areProvided: Bool { true }
    func open(_ recording: Recording) async throws(RecordingFault) {}
    func discard(_ id: RecordingID) async {}

    func recordings(
        of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
    ) async throws(RecordingFault) -> [Recording] {
        let fitting = known.withLock { known in
            known.filter { each in
                each.application == application && (filter.tag.map { $0 == each.tag } ?? true)
                    && (filter.session.map { $0 == each.session } ?? true)
            }
        }
        // A database that does not know which recordings are paused.
        let unpaused = fitting.filter { each in
            switch filter.state {
            case nil: true
            case .stopped: each.state == .stopped
            case .recording, .paused: each.state != .stopped
            }
        }
        let behind = unpaused.sorted { ($0.startedAt, $0.id.description) < ($1.startedAt, $1.id.description) }.filter {
            each in place.map { (each.startedAt, each.id.description) > ($0.time, $0.id) } ?? true
        }
        return Array(behind.prefix(limit))
    }

    func recording(
        _ id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> Recording {
        let found = known.withLock { known in known.first { $0.id == id && $0.application == application } }
        guard let found else { throw .notFound }
        return found
    }

    func audio(
        of id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> (recording: Recording, file: any RecordedFile) {
        let found = try await recording(id, of: application)
        guard found.state == .stopped else { throw .notEnded }
        return (found, CountingFile(size: found.bytes))
    }

    func remove(
        _ id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> Recording {
        let found = try await recording(id, of: application)
        guard found.state == .stopped else { throw .notEnded }
        known.withLock { $0.removeAll { $0.id == id } }
        return found
    }

    private struct CountingFile: RecordedFile {
        let size: Int
        func read(_ place: Range<Int>) async -> [UInt8]? { place.map { UInt8(truncatingIfNeeded: $0) } }
    }
}
