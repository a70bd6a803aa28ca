import Primitives
import SDP

/// What a caller hears before the answer that lists `earlymedia`, or is an application that asks for it
/// (spidr-wire §8.3).
///
///     DIALING ── sessionProgress, with a provisional answer ──▶ SESSION_PROGRESS ── a device rings ──▶ RINGING
///
/// The caller gets the description as soon as the call is under way, as a network sends 183 before 180 (RFC 3261
/// §21.1.5), so that its media path exists by the time devices ring. An announcement or music starts at once. A
/// ringback tone says that a device rings, and starts when one does. To a headless caller nothing is described: its leg
/// is made, and the application is told.
extension Call {
    /// Gives the caller a provisional answer, and starts what it can hear from now on.
    mutating func giveEarlyMedia(_ caller: LegTransport, _ sdp: String) -> [CallAction] {
        provide(caller, sdp, playing: playEarly(isRinging: false))
    }

    /// Gives the caller a provisional answer.
    ///
    /// - Parameter start: starts what the caller hears from now on.
    mutating func provide(_ caller: LegTransport, _ sdp: String, playing start: [CallAction] = []) -> [CallAction] {
        let progress = unanswered?.progress.withEarlyMedia ?? .earlyMedia
        unanswered?.progress = progress
        edit(.caller) { $0.transport = caller }
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

    /// Whether the leg is the caller's, and can hear something before the answer.
    func hearsEarly(_ leg: LegID) -> Bool { leg == .caller && unanswered?.progress.hasEarlyMedia == true }

    /// The leg that hears this one before the answer, because the callee is heard early; `nil`: none does.
    func earlyListener(of leg: LegID) -> LegID? {
        guard unanswered?.isHeardEarly == true, let callee = legs.first(where: { $0.stage == .ringing })?.id else {
            return nil
        }
        if leg == .caller { return callee }
        return leg == callee ? .caller : nil
    }
}

extension LegTransport {
    /// The caller's transport with a provisional answer, and that answer, which is empty for a headless caller; `nil`
    /// if the gateway could not send it anything.
    func progressing(random: inout some RandomSource) -> (caller: LegTransport, sdp: String)? {
        switch self {
        case .absent, .direct: return nil
        case .headless: return (self, "")
        case .webRTC(var media):
            do throws(CallError) {
                let sdp = try media.provisionalAnswer(random: &random)
                return (.webRTC(media), sdp)
            } catch {
                return nil
            }
        }
    }
}

extension Playback {
    /// Whether it is the ringback tone, which means that a device rings.
    fileprivate var saysThatItRings: Bool { source == .tone(.ringback) }
}
