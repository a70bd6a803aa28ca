import CallControl
import Foundation
import GatewayAPI
import Registration
import SPiDR
import Testing

@Suite struct `Notifications` {
    private func members(_ notification: SPiDR.Notification) throws -> [String: Any] {
        let frame = NotificationFrame(
            eventID: .max, time: 1_700_000_000_123, user: try #require(UserAddress(parsing: "ann@example.com")),
            channel: ChannelID("ws-7d0e"), notice: .gone)
        let bytes = Data(WireJSON.encode(wrapping: NotificationMessage(notification, in: frame)))
        #expect(!String(decoding: bytes, as: UTF8.self).contains(#"\/"#))
        let object = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: [String: Any]])
        #expect(Array(object.keys) == ["notificationMessage"])
        return try #require(object["notificationMessage"])
    }

    @Test func `the envelope has what every client reads`() throws {
        let message = try members(Notification(.gone))
        #expect(message["eventType"] as? String == "gone")
        #expect(message["eventId"] as? String == "18446744073709551615")
        #expect(message["time"] as? String == "1700000000123")
        #expect(message["statusCode"] as? Int == 0)
        #expect(message["userId"] as? String == "ann@example.com")
        #expect(message["notificationChannelId"] as? String == "ws-7d0e")
        #expect(message["active"] as? String == "true")
        #expect(message["sessionParams"] == nil)
        #expect(message["callNotificationParams"] == nil)
        #expect(message["customParameters"] == nil)
        #expect(message["replaces"] == nil)
        #expect(message["remoteParty"] == nil)
    }

    @Test func `a call carries its session, all five party fields and custom parameters beside them`() throws {
        let sdp = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\na=rtpmap:0 PCMU/8000\r\n"
        let message = try members(
            Notification(
                .call, session: SessionID("B1"), sdp: sdp, actions: [.answer, .reject],
                parties: .init(
                    callerName: "Joe \"J\" ☎", callerDisplayNumber: "joe@example.com",
                    calleeDisplayNumber: "ann@example.com", remoteName: "",
                    remoteDisplayNumber: "joe@example.com"),
                customParameters: [CustomParameter(name: "X-GPS", value: "1,2")]))
        let session = try #require(message["sessionParams"] as? [String: Any])
        #expect(session["sessionData"] as? String == "B1")
        #expect(session["sdp"] as? String == sdp)
        #expect(session["actions"] as? [String] == ["answer", "reject"])
        #expect(session["statusCode"] == nil)
        #expect(
            message["callNotificationParams"] as? [String: String] == [
                "callerName": "Joe \"J\" ☎", "callerDisplayNumber": "joe@example.com",
                "calleeDisplayNumber": "ann@example.com",
                "remoteName": "", "remoteDisplayNumber": "joe@example.com",
            ])
        #expect(message["customParameters"] as? [[String: String]] == [["name": "X-GPS", "value": "1,2"]])
    }

    @Test func `bodies and a replaced call stand beside the session`() throws {
        var notification = Notification(
            .startCallReplace, session: SessionID("C2"),
            parties: .init(
                callerName: "Bob", callerDisplayNumber: "bob@example.com", calleeDisplayNumber: "carol@example.com",
                remoteName: "Bob",
                remoteDisplayNumber: "bob@example.com"))
        notification.replaces = SessionID("C1")
        notification.customBodies = [
            CustomBody(contentType: "text/plain", contentDisposition: "render", body: "hi \"you\""),
            CustomBody(contentType: "a/b", body: ""),
        ]
        let message = try members(notification)
        #expect(message["replaces"] as? String == "C1")
        #expect(message["remoteParty"] as? String == "bob@example.com")
        #expect(
            message["customBodies"] as? [[String: String]] == [
                ["contentType": "text/plain", "contentDisposition": "render", "body": "hi \"you\""],
                ["contentType": "a/b", "body": ""],
            ])
    }

    @Test func `the reason of an end is in the session, not in the envelope`() throws {
        let message = try members(
            Notification(.callEnd, session: SessionID("A1"), statusCode: 487, reasonText: "bye / soon"))
        #expect(message["statusCode"] as? Int == 0)
        let session = try #require(message["sessionParams"] as? [String: Any])
        #expect(session["statusCode"] as? Int == 487)
        #expect(session["reasonText"] as? String == "bye / soon")
    }
}
