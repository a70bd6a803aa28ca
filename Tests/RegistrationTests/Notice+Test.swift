import CallControl
import CallSupport
import Registration
import SPiDR

extension Notice {
    /// Something that clients are told by a notification of this type.
    static func test(_ type: Notification.EventType, about session: SessionID = "A") -> Notice {
        let fact: CallEvent.Fact? =
            switch type {
            case .call: .invited(devices: [], invitation: CallEvent.Invitation())
            case .ringing: .alerted
            case .callCancel: .stoppedRinging(.answeredElsewhere, device: nil)
            case .callEnd: .released(.drained, by: nil)
            case .sessionComplete: .completed(.transfer)
            default: nil
            }
        guard let fact else { return type == .gone ? .gone : type == .ping ? .ping : .overridden }
        let name = DisplayName(name: "", number: "")
        let audience = CallEvent.Audience(
            devices: [], session: session, local: name, remote: .user(name), isCalled: false)
        return .call(
            LoggedEvent(
                call: CallID(1), sequence: 1, startedAt: 0, elapsed: .zero,
                event: CallEvent(.caller, fact, to: audience)))
    }

    var type: Notification.EventType? { Notification(presenting: self)?.type }
}
