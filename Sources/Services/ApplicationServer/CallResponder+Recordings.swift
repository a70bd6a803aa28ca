import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes

/// Recordings: lists, what is known of them, files and removal.
extension CallResponder {
    /// Bytes of a file that are sent at a time.
    private static let piece = 64 << 10

    func listRecordings(_ call: Call) async throws(V1Error) -> V1Answer {
        let page = try ListPageRequest(call.parameters, of: call.operation.name, parts: 2)
        var place: RecordingPlace?
        if let after = page.after {
            guard let time = Int64(after[0]) else {
                throw V1Error(
                    .requestInvalidParameter, "The parameter \"cursor\" is not from an answer for this list.")
            }
            place = RecordingPlace(time: time, id: after[1])
        }
        let filter = RecordingFilter(
            session: call.parameters["session"].map { SessionID($0) },
            state: try call.parameters.word("state", Recording.State.self), tag: call.parameters["tag"])
        var found: [Recording] = []
        var isRead = false
        // The database does not know which recordings are paused, so that a page may take more than one look.
        while !isRead {
            let limit = page.limit + 1 - found.count
            let rows = try await asking { [place] () async throws(RecordingFault) in
                try await recordings.recordings(of: call.application, filter, after: place, limit: limit)
            }
            found += rows.filter { row in filter.state.map { $0 == row.state } ?? true }
            place = rows.last.map { RecordingPlace(time: $0.startedAt, id: $0.id.description) }
            isRead = rows.count < limit || found.count > page.limit
        }
        return .json(
            ListPage(found.map { V1Recording($0) }, page, of: call.operation.name) { ["\($0.startedAt)", $0.id] })
    }

    func recording(_ call: Call) async throws(V1Error) -> Recording {
        let id = try Self.name(call)
        return try await asking { () async throws(RecordingFault) in
            try await recordings.recording(id, of: call.application)
        }
    }

    func removeRecording(_ call: Call) async throws(V1Error) -> V1Answer {
        let id = try Self.name(call)
        return .json(
            V1Recording(
                try await asking { () async throws(RecordingFault) in
                    try await recordings.remove(id, of: call.application)
                }))
    }

    /// Sends the file, or the range of it that is asked for.
    func fetchRecording(_ call: Call) async throws(V1Error) -> V1Answer {
        let id = try Self.name(call)
        let (recording, file) = try await asking { () async throws(RecordingFault) in
            try await recordings.audio(of: id, of: call.application)
        }
        // The file of a recording that is over does not change.
        let entityTag = "\"\(id)\""
        let range = ByteRange(
            call.headers[.range], condition: call.headers[.ifRange], entityTag: entityTag, size: file.size)
        var headers: HTTPFields = [
            .acceptRanges: "bytes", .eTag: entityTag,
            .contentDisposition: "attachment; filename=\"\(recording.fileName)\"",
        ]
        switch range {
        case .unsatisfiable:
            var answer = V1Answer.refusal(
                V1Error(.requestRangeNotSatisfiable, "The file has \(file.size) bytes, and none of the range."))
            answer.headers[.contentRange] = "bytes */\(file.size)"
            return answer
        case .whole: return Self.send(file, 0..<file.size, recording.format, status: 200, headers)
        case .part(let part):
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.size)"
            return Self.send(file, part, recording.format, status: 206, headers)
        }
    }

    private static func send(
        _ file: any RecordedFile, _ place: Range<Int>, _ format: RecordRequest.Format, status: Int,
        _ headers: HTTPFields
    ) -> V1Answer {
        var headers = headers
        headers[.contentLength] = "\(place.count)"
        let reading = FileReading(file, place, by: piece)
        return V1Answer(
            status, contentType: format.contentType, .stream(AsyncStream { await reading.next() }), headers: headers)
    }

    private static func name(_ call: Call) throws(V1Error) -> RecordingID {
        guard let id = RecordingID(call.id) else { throw V1Error(RecordingFault.notFound) }
        return id
    }

    private func asking<Value>(
        _ ask: () async throws(RecordingFault) -> Value
    ) async throws(V1Error) -> Value {
        do throws(RecordingFault) {
            return try await ask()
        } catch {
            throw V1Error(error)
        }
    }
}

/// Reads a file piece by piece, as fast as it is asked. A file that cannot be read ends early, which its reader notices
/// by the length.
private actor FileReading {
    private let file: any RecordedFile
    private let piece: Int
    private var left: Range<Int>

    init(_ file: any RecordedFile, _ place: Range<Int>, by piece: Int) {
        self.file = file
        self.piece = piece
        left = place
    }

    func next() async -> [UInt8]? {
        guard !left.isEmpty else { return nil }
        let part = left.lowerBound..<min(left.upperBound, left.lowerBound + piece)
        left = part.upperBound..<left.upperBound
        guard let bytes = await file.read(part), bytes.count == part.count else {
            left = left.upperBound..<left.upperBound
            return nil
        }
        return bytes
    }
}
