import Primitives
import SDP

/// Hold and resume. No request names them: the directions of the descriptions say everything (spidr-wire §8.2).
extension Call {
    /// Applies an exchange from peer to peer that is complete. A leg that does not want to receive holds the other: it
    /// said `inactive` or `sendonly`.
    ///
    /// An answer can only say so if the offer left the choice. An offer that sends nothing can only be answered with
    /// `inactive` or `sendonly`; whether the answerer holds then stays as it was.
    mutating func settleHolds(
        offer: MediaDirection?, by offerer: LegID, answer: MediaDirection?, by answerer: LegID
    ) -> [CallAction] {
        guard let offer, let answer else { return [] }
        return hold(offerer, !offer.receives) + (offer.sends ? hold(answerer, !answer.receives) : [])
    }

    /// Applies the directions of a leg whose media the gateway terminates: the leg holds if it does not want to
    /// receive.
    mutating func settleHold(of leg: LegID) -> [CallAction] {
        guard let direction = self[leg]?.media?.wishes?.principalDirection else { return [] }
        return hold(leg, !direction.receives)
    }

    /// Records that the leg holds the others, or has resumed.
    mutating func hold(_ leg: LegID, _ holds: Bool) -> [CallAction] {
        guard let held = self[leg]?.holds, held != holds else { return [] }
        edit(leg) { $0.holds = holds }
        return note(leg, holds ? .held : .resumed)
    }

    /// Starts music for legs that are on hold and can hear it, and stops it for those that are not. A playback that a
    /// client asked for takes precedence.
    mutating func refreshMusic() -> [CallAction] {
        guard let answered, configuration.playsMusicOnHold else { return [] }
        var actions: [CallAction] = []
        for leg in legs where leg.isTalking {
            let isHeld = !answered.isConference && others(of: leg.id).contains { $0.holds }
            let wants = isHeld && leg.media?.direction.sends == true
            switch leg.playing {
            case nil where wants:
                let number = takePlayback()
                edit(leg.id) { $0.playing = Playing(number: number, requester: nil) }
                actions.append(.play(Playback(.music), number: number, to: leg.id))
            case let playing? where playing.requester == nil && !wants:
                edit(leg.id) { $0.playing = nil }
                actions.append(.stopPlaying(to: leg.id))
            case .some, nil: break
            }
        }
        return actions
    }
}

extension MediaDirection {
    /// Reads the direction of the first audio m-line, else of the first m-line, in a description that is passed on
    /// untouched; `nil` if it cannot be read. A connection address can mean hold as well (`holdsByAddress`).
    init?(in text: String) {
        // A description that cannot be read says nothing about the direction.
        guard let session = try? SessionDescription(parsing: text) else { return nil }
        let active = session.media.filter { $0.port != 0 }
        guard let media = active.first(where: { $0.type == "audio" }) ?? active.first else { return nil }
        let said =
            (media.attributes + session.attributes).lazy.compactMap { MediaDirection(rawValue: $0.name) }.first
            ?? .sendReceive
        self = session.holdsByAddress(media) ? said.heldByAddress : said
    }
}
