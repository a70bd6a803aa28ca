import CallControl
import Foundation
import GatewayAPI
import Registration
import SPiDR
import Testing

/// Notifications of messages, presence, voicemail and events, with the bodies of spidr-wire §9.
struct ServiceNotificationTests {
    private static let (joe, ann) = (
        UserAddress(parsing: "joe@example.com")!, UserAddress(parsing: "ann@example.com")!
    )

    private static let busy = PresenceReport(ann, Presence(.open, .busy))
    private static let message = InstantMessage(
        id: "m1", sender: joe, senderName: "Joe", text: "hi", type: "A2", charset: "UTF-8", time: 1)

    static let told: [(ServiceNotice, String, String)] = [
        (
            .message(message), "IM",
            #""imnotificationParams":{"primaryContact":"sip:joe@example.com","fullName":"Joe","msgText":"hi","type":"A2","charset":"UTF-8"}"#
        ),
        (
            .messageResult(MessageResult(message: "m1", receiver: ann, outcome: .delivered)), "IMResponse",
            #""imresponseNotificationParams":{"responseCode":"200","callid":"m1","userName":"ann@example.com"}"#
        ),
        (
            .messageResult(MessageResult(message: "m1", receiver: ann, outcome: .kept)), "IMResponse",
            #""imresponseNotificationParams":{"responseCode":"202","callid":"m1","userName":"ann@example.com"}"#
        ),
        (
            .messageResult(MessageResult(message: "m1", receiver: ann, outcome: .expired)), "IMResponse",
            #""imresponseNotificationParams":{"responseCode":"408","callid":"m1","userName":"ann@example.com"}"#
        ),
        (
            .presence(busy), "presenceWatcher",
            #""presenceWatcherNotificationParams":{"name":"ann@example.com","type":"User","status":"open","activity":"busy","note":""}"#
        ),
        (
            .voicemail(VoicemailCount(unheard: 1, heard: 1)), "mwi",
            #""mwiNotificationParams":{"mwi":"yes","totalVoice":"2","unheardVoice":"1"}"#
        ),
        (
            .event(EventReport(busy, to: "e1")), "event:presence",
            #""genericNotificationParams":{"sessionData":"e1","name":"ann@example.com","status":"open","activity":"busy","note":""}"#
        ),
        (
            .event(EventReport(VoicemailCount(unheard: 0, heard: 1), to: "e2")), "event:message-summary",
            #""genericNotificationParams":{"sessionData":"e2","mwi":"no","totalVoice":"1","unheardVoice":"0"}"#
        ),
    ]

    @Test(arguments: told) func `each is told in the words of the protocol, and no call is mentioned`(
        _ notice: ServiceNotice, _ type: String, _ parameters: String
    ) throws {
        let frame = NotificationFrame(
            eventID: 41, time: 1_700_000_000_000, user: Self.ann, channel: ChannelID("ws-7d0e"),
            notice: .service(notice))
        let text = String(decoding: WireJSON.encode(wrapping: try #require(NotificationMessage(frame))), as: UTF8.self)
        #expect(
            text == #"{"notificationMessage":{"eventType":""# + type
                + #"","eventId":"41","time":"1700000000000","statusCode":0,"userId":"ann@example.com","#
                + #""notificationChannelId":"ws-7d0e","active":"true","# + parameters + "}}")
    }

    @Test(arguments: told.map(\.0)) func `each is read again as it was written for the next process`(
        _ notice: ServiceNotice
    ) throws {
        let bytes = Data(WireJSON.encode(notice))
        #expect(try JSONDecoder().decode(ServiceNotice.self, from: bytes) == notice)
    }

    @Test func `a notice of an unknown service is not read`() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ServiceNotice.self, from: Data(#"{"fax":{}}"#.utf8))
        }
    }

    @Test(arguments: Presence.Activity.allCases) func `each activity is read by the word that tells it`(
        _ activity: Presence.Activity
    ) throws {
        #expect(try PresenceRequest(status: "open", activity: activity.word).presence() == Presence(.open, activity))
    }
}
