import CallControl
import Registration
import SPiDR

extension NotificationFrame {
    /// What a client reads.
    var notification: Notification {
        guard let notification = Notification(presenting: notice) else {
            fatalError("clients are told nothing by \(notice)")
        }
        return notification
    }
}
