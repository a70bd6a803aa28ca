import Primitives
import SDP

/// What a caller that lists `earlymedia` hears before the answer (spidr-wire §8.3).
///
///     DIALING ── sessionProgress, with a provisional answer ──▶ SESSION_PROGRESS ── a device rings ──▶ RINGING
///
/// The caller gets the description as soon as the call is under way, as a network sends 183 before 180 (RFC 3261
/// §21.1.5), so that its media path exists by the time devices ring. An announcement or music starts at once. A
/// ringback tone says that a device rings, and starts when one does.
extension Call {
    /// Gives the caller a provisional answer, and starts what it can hear from now on.
    mutating func giveEarlyMedia(_ caller: LegMedia, _ sdp: String) -> [CallAction] {
        provide(caller, sdp, playing: playEarly(isRinging: false))
    }

    /// Gives the caller a provisional answer.
    ///
    /// - Parameter start: starts what the caller hears from now on.
    mutating func provide(_ caller: LegMedia, _ sdp: String, playing start: [CallAction] = []) -> [CallAction] {
        let progress = unanswered?.progress.withEarlyMedia ?? .earlyMedia
        unanswered?.progress = progress
        edit(.caller) { $0.media = caller }
        return prepare(.caller) + connect(.caller) + start + tell(.caller, .progressed(description: sdp))
    }

    /// Starts the configured early media, if this is its moment.
    ///
    /// - Parameter isRinging: a device rings now; otherwise the call has just been started.
    func playEarly(isRinging: Bool) -> [CallAction] {
        guard let playback = configuration.earlyMedia, playback.saysThatItRings == isRinging,
            unanswered?.isHeardEarly != true
        else { return [] }
        return [.play(playback, number: 0, to: .caller)]
    }
}

extension LegMedia {
    /// The caller's media with a provisional answer, and that answer; `nil` if the gateway could not send it anything.
    func progressing(random: inout some RandomSource) -> (caller: LegMedia, sdp: String)? {
        var media = self
        do throws(CallError) {
            let sdp = try media.provisionalAnswer(random: &random)
            return (media, sdp)
        } catch {
            return nil
        }
    }
}

extension Playback {
    /// Whether it is the ringback tone, which means that a device rings.
    fileprivate var saysThatItRings: Bool { source == .tone(.ringback) }
}
