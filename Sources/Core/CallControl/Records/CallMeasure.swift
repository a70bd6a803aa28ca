/// What an event of a call adds to the metrics. It is a function of the event alone, so that the event log of a call is
/// enough to count it again.
package enum CallMeasure: Equatable, Sendable {
    /// A call was started.
    case started
    /// A call was answered, this long after it was started.
    case answered(setup: Duration)
    /// A call has ended; follows every `started`.
    case ended(CallRecord)
    /// So many devices were woken.
    case woken(Int)
    /// A device that was woken has come back.
    case awoke
    /// A device could not be woken.
    case notWoken
    /// So many devices had not come back when the call rang no more.
    case missed(Int)
}

extension CallEvent {
    /// What the event adds to the metrics; `nil`: nothing.
    package var measure: CallMeasure? {
        switch fact {
        case .joined(let party): party.startsCall ? .started : nil
        case .established(let answer): .answered(setup: answer.setup)
        case .ended(let record, _, _): .ended(record)
        case .waking(let devices, _): .woken(devices.count)
        case .awoke: .awoke
        case .notWoken: .notWoken
        case .wakingOver(let devices, _, _): .missed(devices.count)
        case .invited, .rings, .alerted, .progressed, .talks, .stoppedRinging, .rejected, .forwarded, .changedDevice,
            .renewedSubscription, .released, .left, .moved, .offered, .answered, .unanswered, .candidates, .held,
            .resumed, .transferStarted, .transferFailed, .completed, .mediaReached, .mediaRestarted, .pathLost,
            .pathRecovered, .playbackEnded, .qualityMeasured, .content, .keyPressed, .played, .gathered:
            nil
        }
    }
}

extension CallEvent.Participant {
    /// Whether the call starts with this leg: one leg of each call has dialled, and it comes first.
    fileprivate var startsCall: Bool {
        switch arrival {
        case .dialled: true
        case .called, .handedOver: false
        }
    }
}
