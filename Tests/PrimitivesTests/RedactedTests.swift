import Primitives
import Testing

@Suite struct RedactedTests {
    private struct Holder {
        var secret: Redacted<String>
        var maybe: Redacted<String>?
    }

    @Test func `the value shows in no description`() {
        let secret = Redacted("hunter2")
        let holder = Holder(secret: secret, maybe: secret)
        var dumped = ""
        dump(holder, to: &dumped)
        let texts = [
            "\(secret)", String(reflecting: secret), "\([secret])", "\(["key": secret])", "\(Optional(secret) as Any)",
            "\(holder)",
            String(reflecting: holder), dumped,
        ]
        for text in texts { #expect(!text.contains("hunter2"), "\(text)") }
        #expect("\(secret)" == "‹redacted›")
    }

    @Test func `the value is there for whoever asks for it`() {
        #expect(Redacted("a").value == "a")
        #expect(Redacted("a") == Redacted("a"))
        #expect(Redacted("a") != Redacted("b"))
        #expect(Set([Redacted(1), Redacted(1), Redacted(2)]).count == 2)
    }
}
