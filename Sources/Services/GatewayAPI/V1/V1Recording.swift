package import CallControl

/// A recording, as `/v1` shows it (openapi/v1.yaml, `Recording`).
package struct V1Recording: Encodable, Equatable, Sendable {
    /// Its name.
    package let id: String
    /// The application's leg: the `id` of a call.
    package let session: String
    /// The call that the leg was part of when the recording started, as in events.
    package let call: String
    /// The application.
    package let application: String
    /// The application's address in the call.
    package let address: String
    /// The word of a `RecordRequest.Format`.
    package let format: String
    /// The word of a `RecordRequest.Sides`.
    package let sides: String
    /// 1 or 2.
    package let channels: Int
    /// The application's own name for it; `nil`: none.
    package let tag: String?
    /// The word of a `Recording.State`.
    package let state: String
    /// The word of a `RecordingEnd`; `nil`: it goes on.
    package let reason: String?
    /// When it was asked for, milliseconds since 1970.
    package let startedAt: Int64
    /// When it was over, milliseconds since 1970; `nil`: it goes on.
    package let endedAt: Int64?
    /// How long it is; `nil`: it goes on.
    package let milliseconds: Int?
    /// How many bytes its file has; `nil`: it goes on.
    package let bytes: Int?

    /// Shows a recording.
    package init(_ recording: Recording) {
        id = recording.id.description
        session = recording.session.rawValue
        call = recording.call.description
        application = recording.application.name.description
        address = recording.address.text
        format = recording.format.rawValue
        sides = recording.sides.rawValue
        channels = recording.channels
        tag = recording.tag
        state = recording.state.rawValue
        reason = recording.end?.rawValue
        startedAt = recording.startedAt
        endedAt = recording.endedAt
        milliseconds = recording.end.map { _ in recording.milliseconds }
        bytes = recording.end.map { _ in recording.bytes }
    }
}

extension RecordRequest.Format {
    /// The media type of the file.
    package var contentType: String {
        switch self {
        case .ogg: "audio/ogg"
        case .wav: "audio/wav"
        }
    }
}
