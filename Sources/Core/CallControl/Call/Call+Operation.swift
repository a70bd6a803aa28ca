import Primitives

/// The operation in progress in an answered call. What concerns an operation alone is decided by itself (`Update`,
/// `Transfer`, `Consultation`, `HandoverOffer`); the call carries it out.
extension Call {
    /// The operation in progress; `nil`: none, or the call is not answered.
    var operation: Operation? { answered?.operation }

    /// The offer that waits for its answer; `nil`: none does.
    var update: Update? { if case .update(let update) = operation { update } else { nil } }

    /// The transfer whose target has yet to answer; `nil`: there is none.
    var transfer: Transfer? { if case .transfer(let transfer) = operation { transfer } else { nil } }

    /// The transfer that waits for the leg of another call; `nil`: there is none.
    var consultation: Consultation? {
        if case .consultation(let consultation) = operation { consultation } else { nil }
    }

    /// The offer of this call's legs to another call; `nil`: there is none. A change stays within the operation.
    var handoverOffer: HandoverOffer? {
        get { if case .handover(let offer) = operation { offer } else { nil } }
        set { if case .handover = operation, let newValue { operate(.handover(newValue)) } }
    }

    /// Whether the legs of this call are offered to another call, which has yet to decide.
    package var isHandingOver: Bool { operation?.isHandingOver ?? false }

    /// Sets the operation in progress; `nil`: none.
    mutating func operate(_ operation: Operation?) { answered?.operation = operation }

    /// The answered call, if nothing is in progress that this leg would have to wait for. Throws otherwise:
    /// `noSuchCall`, `notAllowed`, or `pending`.
    func idle(_ operation: CallError.Operation, by leg: LegID) throws(CallError) -> Answered {
        let member = try member(leg)
        guard let answered, member.isTalking else { throw refusal(of: operation, to: leg) }
        if answered.operation?.blocksOperation(of: member) == true { throw .pending(retryAfter: Self.retryAfter) }
        return answered
    }

    /// Answers an offer that waits for the other leg at once, because another operation is to start.
    mutating func finishUpdate(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard let update, !update.isFirst else { return [] }
        return answerInPlace(update, at: now, random: &random)
    }

    /// Gives up the operation in progress, or the conference that is being joined.
    mutating func operationTimedOut(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        if joining != nil { return joinFailed(at: now) }
        switch operation {
        case .update(let update) where update.isFirst:
            return finish(.mediaFailed(update.answerer, .setupTimeout), at: now)
        case .update(let update): return answerInPlace(update, at: now, random: &random)
        case .transfer: return transferFailed(.unanswered, at: now)
        case .consultation(let consultation): return consultationFailed(consultation)
        case .handover, nil: return []
        }
    }
}
