import Foundation
import Push
import SPiDR
import Testing

/// What a device reads if it cannot be registered.
struct PushDeviceRequestTests {
    @Test(
        arguments: [
            (.apple, #"{"voipDeviceToken":"ab"}"#, "The field \"bundleID\" is missing; it names the app."),
            (
                .apple, #"{"bundleID":"a"}"#,
                "The field \"voipDeviceToken\" or \"standardDeviceToken\" is missing; pushes go to it."
            ),
            (.google, #"{"bundleID":"a"}"#, "The field \"deviceToken\" is missing; pushes go to it."),
            (.webhook, #"{"bundleID":"a"}"#, "The field \"url\" is missing; pushes go to it."),
            (.webhook, #"{"bundleID":"a b"}"#, "The field \"url\" is missing; pushes go to it."),
            (
                .apple, #"{"bundleID":"a b"}"#,
                #"The field "bundleID" must be 1 to 155 letters, digits, "-", "_" and "."."#
            ),
            (
                .apple, #"{"bundleID":"a","voipDeviceToken":"xy","standardDeviceToken":"ab"}"#,
                "The field \"voipDeviceToken\" must be 1 to 200 hexadecimal digits."
            ),
            (
                .apple, #"{"bundleID":"a","standardDeviceToken":""}"#,
                "The field \"standardDeviceToken\" must be 1 to 200 hexadecimal digits."
            ),
            (
                .google, #"{"bundleID":"a","deviceToken":"a b"}"#,
                "The field \"deviceToken\" must be 1 to 4096 visible ASCII characters."
            ),
            (
                .webhook, #"{"bundleID":"a","url":"http://x/"}"#,
                "The field \"url\" must be an https: URL of at most 2048 visible ASCII characters."
            ),
        ] as [(PushProvider, String, String)])
    func `a fault names the field and says what it must be`(
        _ provider: PushProvider, _ body: String, _ sentence: String
    ) throws {
        let request = try JSONDecoder().decode(BareEnvelope<PushDeviceRequest>.self, from: Data(body.utf8)).content
        let fault = #expect(throws: RequestFault.self) {
            try request.registration("d", of: "ann@example.com", with: provider)
        }
        #expect(fault?.sentence == sentence)
    }
}
