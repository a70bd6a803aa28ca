import CallControl
import Primitives
import Push
import Registration

extension OwedPush {
    /// The pushes that an event of a call owes to devices that are asleep. It is a function of the event, so that the
    /// same event always owes the same pushes, under the same names.
    ///
    /// - Parameters:
    ///   - user: the user of the leg that the event concerns; `nil`: it concerns none.
    ///   - ringTime: how long calls ring. For so long each push is of use.
    static func owed(by entry: LoggedEvent, to user: UserAddress?, ringTime: Duration) -> [OwedPush] {
        guard let user else { return [] }
        let devices: [PushDeviceID]
        let occasion: Occasion
        var told = entry
        switch entry.event.fact {
        case .waking(let woken, let invitation):
            told.event.fact = .invited(devices: [], invitation: invitation)
            (devices, occasion) = (woken, .call(told))
        case .wakingOver(let missing, let end, let hasVideo):
            told.event.fact = end.fact
            (devices, occasion) = (missing, .callOver(told, hasVideo: hasVideo, PushMessage.Ending(end)))
        case .joined, .invited, .awoke, .notWoken, .rings, .alerted, .progressed, .talks, .established, .stoppedRinging,
            .rejected,
            .forwarded, .changedDevice, .renewedSubscription, .released, .left, .moved, .ended, .offered, .answered,
            .unanswered, .candidates, .held, .resumed, .transferStarted, .transferFailed, .completed, .mediaReached,
            .mediaRestarted, .pathLost, .pathRecovered, .playbackEnded, .qualityMeasured, .content, .keyPressed,
            .played, .gathered:
            return []
        }
        let expiry = entry.time + ringTime.wholeNanoseconds / 1_000_000
        return devices.map { device in
            OwedPush(
                name: "\(entry.call).\(entry.startedAt).\(entry.sequence).\(device.rawValue)", user: user,
                device: device, occasion: occasion, madeAt: entry.time, expiresAt: expiry)
        }
    }
}

extension PushMessage.Ending {
    /// Why a call need not ring any more, as the user's own device shows it.
    fileprivate init(_ end: CallEvent.WakingEnd) {
        switch end {
        case .stoppedRinging(.answeredHere, _), .stoppedRinging(.answeredElsewhere, _): self = .answeredElsewhere
        case .stoppedRinging(.forwarded, _): self = .declinedElsewhere
        case .released(let cause, _): self.init(cause)
        }
    }

    private init(_ cause: CallEndCause) {
        self =
            switch cause {
            case .rejected: .declinedElsewhere
            case .unanswered: .unanswered
            case .completed, .cancelled, .callerLeft, .clientLost, .subscriptionEnded, .transferred, .targetNotReached,
                .tooLong, .endedByOperator:
                .remoteEnded
            case .unreachable, .mediaFailed, .joinFailed, .drained, .interrupted: .failed
            }
    }
}
