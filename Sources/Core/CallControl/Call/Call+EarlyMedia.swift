import Primitives
import SDP

/// What a caller that lists `earlymedia` hears before the answer (spidr-wire §8.3).
///
///     DIALING ── sessionProgress, with a provisional answer ──▶ SESSION_PROGRESS ── a device rings ──▶ RINGING
///
/// The description is given as soon as the call is on its way, as a network says 183 ahead of 180 (RFC 3261 §21.1.5), so that there is a path
/// by the time devices ring. An announcement or music begins at once; the ringback tone says that a device rings, and begins when one does.
extension Call {
    mutating func giveEarlyMedia(_ caller: LegMedia, _ sdp: String) -> [CallAction] {
        guard case .unanswered(var unanswered) = state else { return [] }
        unanswered.hasProgressed = true
        state = .unanswered(unanswered)
        edit(.caller) { $0.media = caller }
        var progress = notification(.sessionProgress, to: .caller)
        progress.sdp = sdp
        return [.prepareMedia(.caller, caller.credentials)] + connect(.caller) + playEarly(isRinging: false)
            + tell(.caller, progress)
    }

    /// What there is to hear from this moment on.
    func playEarly(isRinging: Bool) -> [CallAction] {
        guard let playback = configuration.earlyMedia, playback.saysThatItRings == isRinging else { return [] }
        return [.play(playback, number: 0, to: .caller)]
    }
}

extension LegMedia {
    /// The caller's media once it has an answer ahead of the final one, and that answer; `nil` if the gateway could not send it anything.
    func progressing(random: inout some RandomSource) -> (caller: LegMedia, sdp: String)? {
        var media = self
        do throws(SDPError) {
            let sdp = try media.provisionalAnswer(random: &random)
            return (media, sdp)
        } catch {
            return nil
        }
    }
}

extension Playback {
    fileprivate var saysThatItRings: Bool { source == .tone(.ringback) }
}
