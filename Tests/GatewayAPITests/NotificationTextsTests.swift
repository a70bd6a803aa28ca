import CallControl
import GatewayAPI
import Registration
import Testing

/// The texts of frames, of which those that tell the same are made together.
struct NotificationTextsTests {
    private static let (ann, bob) = (
        UserAddress(parsing: "ann@example.com")!, UserAddress(parsing: "bob@example.com")!
    )

    private static let event: Notice = {
        let audience = CallEvent.Audience(
            devices: [], session: SessionID("A1"), local: DisplayName(name: "Ann", number: "ann@example.com"),
            remote: .user(DisplayName(name: "Bob", number: "bob@example.com")), isCalled: false)
        let event = CallEvent(.caller, .progressed(description: "v=0\r\ns=\"-\"\r\n"), to: audience)
        return .call(LoggedEvent(call: CallID(1), sequence: 1, startedAt: 0, elapsed: .zero, event: event))
    }()

    /// A message whose parts look like the members in which texts differ.
    private static let message: Notice = {
        let trap = #"","eventId":"","notificationChannelId":"",{"eventId":"#
        return .service(
            .message(
                InstantMessage(
                    id: trap, sender: bob, senderName: trap, text: trap, type: "A2", charset: "UTF-8", time: 1)))
    }()

    private static func frame(
        _ number: UInt64, _ notice: Notice, to user: UserAddress = ann, at time: Int64 = 1, channel: String = "c-1"
    ) -> NotificationFrame {
        NotificationFrame(eventID: number, time: time, user: user, channel: ChannelID(channel), notice: notice)
    }

    static let sequences: [[NotificationFrame]] = [
        // One event to many channels, whose numbers differ in length.
        (UInt64(0)..<20).map { number in frame(number &- 10, event, channel: "c-\(number)") },
        (UInt64(0)..<5).map { number in frame(number, message, channel: "c-\"\\\(number)") },
        // The same to another user, and at another time.
        [
            frame(1, event), frame(2, event), frame(3, event, to: bob), frame(4, event, to: bob),
            frame(5, event, to: bob, at: 2), frame(6, event, to: bob, at: 2), frame(7, event, to: ann, at: 2),
        ],
        // One notice behind another, and back.
        [
            frame(1, message), frame(2, message), frame(3, event), frame(4, message), frame(5, message),
            frame(6, .gone), frame(7, .gone), frame(8, .lost(3)), frame(9, .lost(4)), frame(10, .lost(4)),
            frame(11, .ping),
        ],
    ]

    @Test(arguments: sequences) func `a text is the same, whatever was written before it`(
        _ frames: [NotificationFrame]
    ) throws {
        var texts = NotificationTexts()
        for frame in frames {
            let expected = try #require(NotificationMessage(frame).map { WireJSON.encode(wrapping: $0) })
            let text = texts.text(of: frame)
            #expect(text == expected)
        }
    }

    @Test func `what the protocol has no word for has no text, however often it is told`() {
        let audience = CallEvent.Audience(
            devices: [], session: SessionID("A1"), local: DisplayName(name: "", number: ""),
            remote: .user(DisplayName(name: "", number: "")), isCalled: false)
        let event = LoggedEvent(
            call: CallID(1), sequence: 1, startedAt: 0, elapsed: .zero,
            event: CallEvent(.caller, .held, to: audience))
        var texts = NotificationTexts()
        for number in UInt64(1)...3 {
            let text = texts.text(of: Self.frame(number, .call(event)))
            #expect(text == nil)
        }
    }
}
