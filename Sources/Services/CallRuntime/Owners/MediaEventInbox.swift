package import CallControl

/// Carries events of the media plane to the calls. Made before either of them, so that each can be given to the other.
package struct MediaEventInbox: Sendable {
    struct Message: Sendable {
        var event: MediaEvent
        var call: CallID
    }

    let inbox = Inbox<Message>()

    package init() {}

    /// From any thread; returns at once and keeps order.
    package func post(_ event: MediaEvent, for call: CallID) { inbox.post(Message(event: event, call: call)) }
}
