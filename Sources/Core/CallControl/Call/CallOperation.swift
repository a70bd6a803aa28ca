import Primitives

extension Call {
    /// What is in progress in an answered call. While it is, requests other than to end the call are pending.
    package enum Operation: Equatable, Sendable {
        /// An offer of one leg waits for the other leg's answer (spidr-wire §8.1). Where the gateway terminates the
        /// media, it answers itself if the other leg takes too long.
        case update(Update)
        /// A new leg is rung in place of the transferor (spidr-wire §8.5).
        case transfer(Transfer)
        /// Another call was asked for its legs, which are to take the place of the transferor.
        case consultation(Consultation)
        /// The legs of this call are offered to another call.
        case handover(HandoverOffer)
    }
}

/// The properties that every operation has.
extension Call.Operation {
    /// When the operation is given up; `nil`: the message that ends it is certain to come.
    var deadline: MonotonicTime? {
        switch self {
        case .update(let update): update.deadline
        case .transfer(let transfer): transfer.deadline
        case .consultation(let consultation): consultation.deadline
        case .handover: nil
        }
    }

    /// What the other call of the operation is told if this call ends first; `nil`: no other call waits for this one.
    var withdrawal: PeerCallAction? {
        switch self {
        case .consultation(let consultation): consultation.withdrawal
        case .handover(let offer): offer.withdrawal
        case .update, .transfer: nil
        }
    }

    // MARK: What it blocks

    /// Whether the legs are about to belong to another call. That call watches their clients and media paths, and
    /// offers them what is new.
    var isHandingOver: Bool {
        switch self {
        case .handover: true
        case .update, .transfer, .consultation: false
        }
    }

    /// Whether this is the first exchange of the call, without which there is nothing yet that could be changed.
    var isFirstExchange: Bool {
        switch self {
        case .update(let update): update.isFirst
        case .transfer, .consultation, .handover: false
        }
    }

    /// Whether no leg is offered what is new. A leg that is handed over is introduced anew in the other call.
    var blocksNews: Bool { isHandingOver || isFirstExchange }

    /// Whether the leg has to wait for the end of this operation before it can ask for another one. An offer is no
    /// obstacle where the gateway can answer it itself.
    func blocksOperation(of leg: CallLeg) -> Bool {
        switch self {
        case .update(let update): update.isFirst || !leg.isAnchored
        case .transfer, .consultation, .handover: true
        }
    }
}
