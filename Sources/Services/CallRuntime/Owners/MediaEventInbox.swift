package import CallControl

/// Carries the events of the media plane to the calls. It is made before both, so that each can be given to the other.
package struct MediaEventInbox: Sendable {
    struct Message: Sendable {
        var event: MediaEvent
        var call: CallID
    }

    let inbox = Inbox<Message>()

    /// Makes an empty inbox.
    package init() {}

    /// Posts an event, from any thread. Returns at once, and keeps the order.
    package func post(_ event: MediaEvent, for call: CallID) { inbox.post(Message(event: event, call: call)) }
}
