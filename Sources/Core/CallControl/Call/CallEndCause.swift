/// Why a call ended; decides what each leg is told about it.
package enum CallEndCause: Equatable, Sendable, Codable {
    /// The call was answered, and this leg hung up.
    case completed(by: LegID, reasonText: String?)
    /// The caller hung up before the answer.
    case cancelled(reasonText: String?)
    /// The callee declined.
    case rejected(reasonText: String?)
    /// The callee did not answer within the ring time.
    case unanswered
    /// No device of the callee could be rung.
    case unreachable(Unreachable)
    /// This leg did not get a media path, or lost it.
    case mediaFailed(LegID, MediaFault)
    /// The last subscription of this leg's user is over.
    case subscriptionEnded(LegID)
    /// The caller's last subscription ended before the answer.
    case callerLeft
    /// The client of this leg gave no sign of life.
    case clientLost(LegID)
    /// This leg transferred the other legs into another call.
    case transferred(by: LegID)
    /// The calls that were to become a conference could not be joined.
    case joinFailed(reasonText: String)
    /// The gateway was stopping.
    case drained

    /// Why no device of a user can be rung.
    package enum Unreachable: String, Equatable, Sendable, Codable {
        /// No user has this address.
        case noSuchUser
        /// The user has no device that is subscribed to calls.
        case notRegistered
        /// The user is in another call, and the gateway is configured not to ring busy users (`calls.busy`).
        case busy
    }
}

/// A media failure, as both legs are told.
package struct MediaFault: Equatable, Sendable, Codable {
    /// A SIP response code (RFC 3261 §21).
    package var statusCode: Int
    /// The sentence that goes with it.
    package var reasonText: String

    /// Makes a fault of its parts; each parameter is the property of that name.
    package init(statusCode: Int, reasonText: String) {
        self.statusCode = statusCode
        self.reasonText = reasonText
    }

    /// The media path was not set up in time.
    package static let setupTimeout = MediaFault(statusCode: 408, reasonText: "media path could not be established")

    /// The cause in one word, for records and metrics.
    fileprivate var word: String {
        switch statusCode {
        case 488: "incompatible_destination"
        case 503: "normal_temporary_failure"
        default: "media_timeout"
        }
    }
}

extension CallEndCause {
    /// The last thing that the devices of a leg are told.
    package struct Farewell: Equatable, Sendable {
        /// What the message means.
        package enum Kind: Equatable, Sendable {
            /// The call is over.
            case end
            /// The call cannot be answered any more.
            case cancel
            /// The calls were not joined, and stay as they are.
            case fail
        }

        /// What the message means.
        package var kind: Kind
        /// A SIP response code (RFC 3261 §21); `nil`: none is given.
        package var statusCode: Int?
        /// The sentence that goes with it; `nil`: none.
        package var reasonText: String?

        /// The call is over, with this SIP response code and this sentence.
        static func end(_ statusCode: Int?, _ reasonText: String?) -> Farewell {
            Farewell(kind: .end, statusCode: statusCode, reasonText: reasonText)
        }
        /// The call cannot be answered any more; without a code and a sentence.
        static let cancel = Farewell(kind: .cancel)
    }

    /// What the devices of a leg are told at its end; `nil`: nothing. Status codes are those of SIP (RFC 3261 §21).
    ///
    /// - Parameter isCalled: the leg was rung; the caller was not.
    package func farewell(to leg: LegID, isCalled: Bool) -> Farewell? {
        switch (self, isCalled) {
        // For the other devices of the user who hung up, too (see `Call+Devices.swift`).
        case (.completed(_, let reason), _): .end(nil, reason)
        // For the caller itself, too: some clients wait for it (spidr-wire §6.7).
        case (.cancelled(let reason), _): .end(487, reason ?? "Caller hung up")
        case (.rejected(let reason), false): .end(603, reason ?? "Declined")
        case (.rejected, true): .cancel
        // Clients read 480 as a callee who is offline, and 487 as a callee who did not answer (spidr-wire §12.1).
        case (.unanswered, _): .end(487, "No answer")
        case (.unreachable(let reason), false): .end(reason.statusCode, reason.reasonText)
        case (.unreachable, true): nil
        case (.mediaFailed(_, let fault), _): .end(fault.statusCode, fault.reasonText)
        case (.callerLeft, false): nil
        case (.callerLeft, true): .end(487, "Caller is gone")
        case (.subscriptionEnded(leg), _): nil
        case (.subscriptionEnded, _): .end(480, "Not registered")
        // For the lost client, too: it may come back, and then learns why the call is over.
        case (.clientLost, _): .end(480, "Client is gone")
        case (.transferred, _): .end(nil, "Transfer Successful")
        case (.joinFailed(let reason), _): Farewell(kind: .fail, statusCode: 480, reasonText: reason)
        case (.drained, _): .end(503, "Gateway is shutting down")
        }
    }

    /// The cause in one word, for records and metrics.
    package var word: String {
        switch self {
        case .completed, .transferred: "normal_clearing"
        case .cancelled: "originator_cancel"
        case .rejected: "call_rejected"
        case .unanswered: "no_answer"
        case .unreachable(.noSuchUser): "unallocated_number"
        case .unreachable(.notRegistered): "subscriber_absent"
        case .unreachable(.busy): "user_busy"
        case .mediaFailed(_, let fault): fault.word
        case .callerLeft, .subscriptionEnded: "subscription_ended"
        case .clientLost: "client_lost"
        case .joinFailed: "join_failed"
        case .drained: "normal_temporary_failure"
        }
    }
}

extension CallEndCause.Unreachable {
    /// The SIP response code (RFC 3261 §21.4.5, §21.4.18, §21.4.24).
    var statusCode: Int {
        switch self {
        case .noSuchUser: 404
        case .notRegistered: 480
        case .busy: 486
        }
    }

    /// The sentence that the caller is told.
    var reasonText: String {
        switch self {
        case .noSuchUser: "User not found"
        case .notRegistered: "Not registered"
        case .busy: "User busy"
        }
    }
}
