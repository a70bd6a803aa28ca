internal import CallControl
internal import CallRuntime
internal import ICE
internal import MediaPlane
internal import Observability
internal import SRTP

/// Translates the reasons of Core to those of metrics and of the media port. No other place uses both.

extension STUNRefusal {
    init(_ refusal: ICERefusal) {
        self =
            switch refusal {
            case .missingFingerprint, .wrongFingerprint: .wrongFingerprint
            case .unsupportedMethod, .indication, .response, .sessionFailed: .unexpected
            case .missingCredentials: .malformed
            case .wrongUsername: .unknownUsername
            case .wrongIntegrity: .wrongIntegrity
            case .unknownAttributes: .unknownAttribute
            case .roleConflict: .roleConflict
            }
    }
}

extension SRTPFailure {
    init(_ error: SRTPError) {
        self =
            switch error {
            case .authenticationFailed: .authentication
            case .replayed: .replay
            case .keyExpired: .keyExhausted
            case .malformed, .noRoom, .badKey, .unavailable, .failed: .other
            }
    }
}

extension PacketDropReason {
    init(_ reason: DropReason) {
        self =
            switch reason {
            case .malformed: .malformed
            case .notConfigured, .peerNotReady, .ended: .notConnected
            case .unknownMID, .unknownPayloadType, .unknownSource, .noRetransmission: .notNegotiated
            case .directionForbids: .wrongDirection
            case .noCounterpart: .noRoute
            case .sequenceJump, .tooOld, .superseded, .staleRetransmission: .late
            }
    }
}

extension MediaSessionFailure {
    init(_ failure: SessionFailure) {
        self =
            switch failure {
            case .neverConnected: .neverConnected
            case .consentExpired: .consentExpired
            case .handshakeFailed: .handshakeFailed
            case .fingerprintMismatch: .fingerprintMismatch
            }
    }
}

extension MediaFailure {
    init(_ failure: SessionFailure) {
        self =
            switch failure {
            case .neverConnected: .neverConnected
            case .consentExpired: .consentExpired
            case .handshakeFailed: .handshakeFailed
            case .fingerprintMismatch: .fingerprintMismatch
            }
    }
}

extension MediaEvent {
    init(_ event: SessionEvent, _ leg: LegID) {
        switch event {
        case .iceConnected: self = .pathChecked(leg)
        case .dtlsConnected: self = .pathSecured(leg)
        case .mediaReceived: self = .mediaReceived(leg)
        case .mediaPathLost: self = .pathLost(leg)
        case .mediaPathRecovered: self = .pathRecovered(leg)
        case .failed(let failure): self = .failed(leg, MediaFailure(failure))
        }
    }
}
