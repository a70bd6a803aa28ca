import CallControl
import CallRuntime
import GatewayAPI

extension V1Error {
    /// What the gateway cannot keep, or has no room for.
    static let unavailable = V1Error(
        .serviceUnavailable,
        "The gateway cannot take this now: it stops, has no room for more calls, or cannot store anything; try again "
            + "later.", retryAfter: .seconds(5))

    /// Calls cannot be recorded here.
    static let recordingNotProvided = V1Error(
        .serviceNotProvided,
        "This gateway records no calls: no folder for recordings is configured (recordings.folder).")

    /// The refusal for what the library of recordings says.
    init(_ fault: RecordingFault) {
        switch fault {
        case .notProvided: self = .recordingNotProvided
        case .notFound:
            self.init(.recordingNotFound, "This application has no such recording; it may be removed by now.")
        case .notEnded: self.init(.recordingNotEnded, "The recording goes on; stop it first.")
        case .unavailable: self = .unavailable
        }
    }

    /// The refusal for what the call runtime says.
    init(_ refusal: ApplicationRefusal) {
        switch refusal {
        case .noSuchCall:
            self.init(.callNotFound, "This application has no such call; it may be over for more than a minute.")
        case .versionMismatch(let call):
            self.init(
                .callVersionMismatch, "The call has version \(call.version) by now; look at what has changed.",
                call: V1Call(call))
        case .notAllowed(let call, let obstacle): self.init(.callNotAllowed, obstacle.sentence, call: V1Call(call))
        case .invalid(let value):
            self.init(.requestInvalidValue, "The field \"\(value.field)\" \(value.predicate).")
        case .limited(let limit, let wait): self.init(.callLimited, limit.sentence, retryAfter: wait)
        case .unavailable: self = .unavailable
        case .notProvided:
            self.init(
                .serviceNotProvided,
                "Applications have no calls on this gateway: media goes from peer to peer (media.mode: direct).")
        case .recordingNotProvided: self = .recordingNotProvided
        case .notOwner(let address):
            self.init(.callNotOwner, "\(address) is not an address of this application.")
        }
    }
}
