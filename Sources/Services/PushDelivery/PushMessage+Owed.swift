import CallControl
package import CallRuntime
package import Push
import GatewayAPI
import Primitives
import Registration
import SDP
import SPiDR

extension PushMessage {
    /// The message of a push that is owed, in the words of the client protocol.
    ///
    /// - Returns: `nil` if nobody is told what the push is about.
    package init?(_ push: OwedPush) {
        let kind: Kind
        let notice: Notice
        var channel = ChannelID("")
        switch push.occasion {
        case .call(let told):
            guard let audience = told.event.audience else { return nil }
            notice = .call(told)
            kind = .call(PushedCall(audience, hasVideo: told.event.fact.offersVideo))
        case .callOver(let told, let hasVideo, let ending):
            guard let audience = told.event.audience else { return nil }
            notice = .call(told)
            kind = .callOver(PushedCall(audience, hasVideo: hasVideo), ending)
        case .gone(let ended):
            (kind, notice, channel) = (.silent, .gone, ended)
        case .messageWaiting(let count): (kind, notice) = (.silent, .service(.voicemail(count)))
        case .refresh: (kind, notice) = (.refresh, .ping)
        }
        self.init(
            id: PushID(naming: push.name), kind, forms: Self.forms(notice, of: push, about: channel),
            time: UInt64(clamping: push.madeAt), expires: UInt64(clamping: push.expiresAt),
            collapseKey: push.occasion.collapseKey)
    }

    /// The notification in several forms, the fullest first: with the description, with the compressed description,
    /// without it. They are made as those of a channel are.
    ///
    /// - Parameter channel: the channel that the notification is about; empty: none.
    private static func forms(_ notice: Notice, of push: OwedPush, about channel: ChannelID) -> [String] {
        // A push is on no channel. Its number stays the same when the push comes again, and is far from those
        // that subscriptions have, since clients drop what has a number that they have seen (spidr-wire §4.3).
        let frame = NotificationFrame(
            eventID: FowlerNollVo(push.name).value >> 11 | 1 << 52, time: push.madeAt, user: push.user,
            channel: channel, notice: notice)
        guard var message = NotificationMessage(frame) else { return [] }
        var forms = [text(of: message)]
        if let description = message.sessionParams?.sdp {
            message.sessionParams?.sdp = CompressedText(description).base64
            message.sessionParams?.sdpFormat = CompressedText.format
            forms.append(text(of: message))
            message.sessionParams?.sdp = nil
            message.sessionParams?.sdpFormat = nil
            forms.append(text(of: message))
        }
        return forms
    }

    private static func text(of message: NotificationMessage) -> String {
        String(decoding: WireJSON.encode(message), as: UTF8.self)
    }
}

extension OwedPush.Occasion {
    /// The key by which a later push to the device replaces this one; `nil`: none does.
    var collapseKey: String? {
        switch self {
        case .call, .callOver: nil
        // A subscription that is gone need not be extended any more.
        case .gone, .refresh: "subscription"
        case .messageWaiting: "mwi"
        }
    }
}

extension PushedCall {
    /// A call as the devices of a leg are told of it.
    fileprivate init(_ audience: CallEvent.Audience, hasVideo: Bool) {
        let parties = Notification.Parties(audience)
        self.init(
            session: audience.session.rawValue, callerName: parties.callerName,
            callerNumber: parties.callerDisplayNumber, hasVideo: hasVideo)
    }
}

extension CallEvent.Fact {
    /// Whether it invites to a call whose offer has video.
    fileprivate var offersVideo: Bool {
        guard case .invited(_, let invitation) = self, let text = invitation.description else { return false }
        // The gateway has written the description itself, or has read it before; one that cannot be read has no video.
        guard let description = try? SessionDescription(parsing: text) else { return false }
        return description.media.contains { $0.type == "video" && $0.port != 0 }
    }
}
