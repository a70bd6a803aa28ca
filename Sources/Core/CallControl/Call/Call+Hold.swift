import Primitives
import SDP

/// Hold and resume. No request names them: the directions of the descriptions say everything (spidr-wire §8.2).
extension Call {
    /// Applies an exchange from peer to peer that is complete. A leg that does not want to receive holds the other: it
    /// said `inactive` or `sendonly`.
    ///
    /// An answer can only say so where the offer left the choice: to an offer that sends nothing every answer says `inactive` or
    /// `sendonly`, and who answered goes on as before.
    mutating func settleHolds(offer: MediaDirection?, by offerer: Leg, answer: MediaDirection?, by answerer: Leg) {
        guard let offer, let answer else { return }
        edit(offerer) { $0.holds = !offer.receives }
        if offer.sends { edit(answerer) { $0.holds = !answer.receives } }
    }

    /// An end of a call whose media is terminated here holds if it does not want to receive.
    mutating func settleHold(of leg: Leg) {
        guard let direction = self[leg]?.media?.wishes?.principalDirection else { return }
        edit(leg) { $0.holds = !direction.receives }
    }

    /// Music begins for ends that are kept waiting and can hear it, and ends for those that are not. What somebody asked to be
    /// played goes first.
    mutating func refreshMusic() -> [CallAction] {
        guard case .answered(var answered) = state, configuration.playsMusicOnHold else { return [] }
        var actions: [CallAction] = []
        for leg in legs where leg.isTalking {
            let isHeld = !answered.isConference && others(of: leg.id).contains { $0.holds }
            let wants = isHeld && leg.media?.direction.sends == true
            switch leg.playing {
            case nil where wants:
                answered.lastPlayback += 1
                edit(leg.id) { $0.playing = Playing(number: answered.lastPlayback, requester: nil) }
                actions.append(.play(Playback(.music), number: answered.lastPlayback, to: leg.id))
            case let playing? where playing.requester == nil && !wants:
                edit(leg.id) { $0.playing = nil }
                actions.append(.stopPlaying(to: leg.id))
            default: break
            }
        }
        state = .answered(answered)
        return actions
    }
}

extension MediaDirection {
    /// Reads the direction of the first audio m-line, else of the first m-line, in a description that is passed on
    /// untouched; `nil` if it cannot be read. A connection address can mean hold as well (`holdsByAddress`).
    init?(in text: String) {
        guard let session = try? SessionDescription(parsing: text) else { return nil }  // what cannot be read says nothing
        let active = session.media.filter { $0.port != 0 }
        guard let media = active.first(where: { $0.type == "audio" }) ?? active.first else { return nil }
        let said =
            (media.attributes + session.attributes).lazy.compactMap { MediaDirection(rawValue: $0.name) }.first
            ?? .sendReceive
        self = session.holdsByAddress(media) ? said.heldByAddress : said
    }
}
