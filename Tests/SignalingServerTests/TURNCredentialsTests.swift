import Primitives
import SignalingServer
import Testing

@Suite struct TURNCredentialsTests {
    /// Computed with `openssl dgst -sha1 -hmac SECRET -binary | base64`.
    @Test(
        arguments: [
            ("north", "alice", 86_400, 1_700_000_000, "1700086400:alice", "SXua5ne/+mDhiHTp0pQJzRO4ESg="),
            (
                "a longer secret, with a comma", "8f14e45f", 600, 1_893_456_000, "1893456600:8f14e45f",
                "Hgtgb/EryrSp4iooLYQhYYy6zRw="
            ),
        ] as [(String, String, Int, Int64, String, String)])
    func `the name carries the end, the password its HMAC`(
        _ secret: String, _ user: String, _ seconds: Int, _ now: Int64, _ username: String, _ password: String
    ) {
        let credentials = TURNCredentials(secret: Redacted(secret), user: user, timeToLive: .seconds(seconds), at: now)
        #expect(credentials.username == username)
        #expect(credentials.password.value == password)
        #expect(credentials.timeToLive == .seconds(seconds))
    }

    @Test func `parts of seconds and times before now do not count`() {
        let now: Int64 = 1_700_000_000
        let long = TURNCredentials(secret: Redacted("s"), user: "u", timeToLive: .milliseconds(1_999), at: now)
        #expect(long.username == "1700000001:u" && long.timeToLive == .seconds(1))
        #expect(
            TURNCredentials(secret: Redacted("s"), user: "u", timeToLive: .seconds(-5), at: now).username
                == "1700000000:u")
    }

    @Test func `a description gives nothing away`() {
        let credentials = TURNCredentials(secret: Redacted("s"), user: "u", timeToLive: .seconds(60), at: 0)
        #expect(!"\(credentials)".contains(credentials.password.value))
    }
}
