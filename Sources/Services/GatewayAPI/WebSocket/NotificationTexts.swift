internal import CallControl
package import Registration

/// Writes frames as a `notificationMessage`, one after the other. Frames that tell several channels of a user the same
/// differ in their number and their channel only: the rest of the text is written once.
package struct NotificationTexts {
    /// A text without the values that each frame has for itself.
    private struct Template {
        /// Up to the number.
        var head: ArraySlice<UInt8>
        /// From there to the channel.
        var middle: ArraySlice<UInt8>
        var tail: ArraySlice<UInt8>
    }

    /// The frame that was written last.
    private var last: NotificationFrame?
    /// The text of frames like the last one, once there was a second one; `nil`: there was none, or there is no word
    /// for them.
    private var template: Template?

    /// Makes a writer that has written nothing.
    package init() {}

    /// The text of a frame, in UTF-8; `nil` where the client protocol has no word for what the frame is about.
    package mutating func text(of frame: NotificationFrame) -> [UInt8]? {
        guard last?.isLike(frame) ?? false else {
            (last, template) = (frame, nil)
            return NotificationMessage(frame).map { WireJSON.encode(wrapping: $0) }
        }
        if template == nil { template = Self.template(of: frame) }
        guard let template else { return nil }
        let number = String(frame.eventID)
        let channel = WireJSON.encode(frame.channel.rawValue)
        var text: [UInt8] = []
        text.reserveCapacity(
            template.head.count + number.utf8.count + template.middle.count + channel.count + template.tail.count)
        text += template.head
        text += number.utf8
        text += template.middle
        // It stands with its quotes, those in the template being left out.
        text += channel
        text += template.tail
        return text
    }

    /// Members stand in the order in which the type declares them, and no string of JSON has a quote that is not
    /// escaped: the first place that looks like one of the two members is the member.
    private static func template(of frame: NotificationFrame) -> Template? {
        guard var message = NotificationMessage(frame) else { return nil }
        (message.eventId, message.notificationChannelId) = ("", "")
        let text = WireJSON.encode(wrapping: message)
        guard let number = text.end(of: #","eventId":""#, from: 0),
            let channel = text.end(of: #","notificationChannelId":"#, from: number)
        else { preconditionFailure("a message has a number and a channel") }
        let quotes = 2
        return Template(
            head: text[..<number], middle: text[number..<channel], tail: text[(channel + quotes)...])
    }
}

extension NotificationFrame {
    /// Whether both tell the same, but perhaps under another number and to another channel of the user.
    fileprivate func isLike(_ other: NotificationFrame) -> Bool {
        time == other.time && user == other.user && notice == other.notice
    }
}

extension [UInt8] {
    /// The place behind the first occurrence of some ASCII text.
    fileprivate func end(of word: String, from start: Int) -> Int? {
        let word = [UInt8](word.utf8)
        guard count - word.count >= start else { return nil }
        for place in start...(count - word.count) where self[place..<place + word.count].elementsEqual(word) {
            return place + word.count
        }
        return nil
    }
}
