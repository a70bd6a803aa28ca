import CallControl
import Cryptography
import GatewayAPI
import Primitives
import Registration
import SignalingServer
import TestSupport
import Testing

/// Tokens were made with `printf … | openssl enc … | xxd -p`.
@Suite struct `callMe tokens` {
    private static let key = "000102030405060708090a0b0c0d0e0f"
    private static let longKey = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    private static let vector = "101112131415161718191a1b1c1d1e1f"
    private static let ecb = "b2916af5a2e7de7a238cf49ca98718b850a45ce174393ed32fc5dea221aa4cb1"
    private static let cbc = "93b8160767ae206bae2692a6d945725ea7e7c6b274b602c068a2e9e1d6f19e81"
    private static let written = CallMeToken(address: address("alice@example.com"), issuedAt: 1_700_000_000_000)

    private func realm(_ line: String) throws -> CallMeRealm {
        try #require(try CallMeRealm.realms(parsing: line).first)
    }

    @Test(arguments: [
        ("shop aes-128-ecb \(key)", ecb),
        (
            "shop AES-128-ECB \(key) # of the web server",
            "B2916AF5A2E7DE7A238CF49CA98718B850A45CE174393ED32FC5DEA221AA4CB1"
        ),
        ("desk aes-256-cbc \(longKey) \(vector)", cbc),
        ("desk aes-256-cbc \(longKey)", vector + cbc),
    ])
    func `a token is read with its realm's key`(_ line: String, _ token: String) throws {
        #expect(try realm(line).read(token, defaultDomain: "example.com") == .encrypted(Self.written))
    }

    @Test(arguments: [
        "", "00", "zz", "b2916af5a2e7de7a238cf49ca98718b", "alice@example.com", String(repeating: "0", count: 2_000),
        // With a wrong key, without a time, with a time that is none, without an address.
        "3ad77bb40d7a3660a89ecaf32466ef97a254be88e037ddd9d79fb6411c3f9df8",
        "b2916af5a2e7de7a238cf49ca98718b848a6fc5e8b5079003f1aa5dfab17df97",
        "b2916af5a2e7de7a238cf49ca98718b8f303b96fd9deec34271703ac7d9d3c6d",
        "12149bc033a8029bb4573b439a12f793",
    ])
    func `anything else is none`(_ token: String) throws {
        for line in [
            "shop aes-128-ecb \(Self.key)", "desk aes-256-cbc \(Self.longKey)",
            "desk aes-256-cbc \(Self.longKey) \(Self.vector)",
        ] {
            #expect(try realm(line).read(token, defaultDomain: "example.com") == nil)
        }
    }

    @Test func `a file holds realms, comments and blank lines`() throws {
        let file = "# made in spring\n\nshop aes-128-ecb \(Self.key)\r\n  desk\taes-256-cbc \(Self.longKey)  # CBC\n"
        #expect(try CallMeRealm.realms(parsing: file).map(\.name) == ["shop", "desk"])
        #expect(try CallMeRealm.realms(parsing: "\n#\n").isEmpty)
    }

    @Test(arguments: [
        ("shop", 1, "expected a name"),
        ("\nshop aes-128-ecb", 2, "expected a name"),
        ("shop aes-128-ecb \(key) \(vector) more", 1, "expected a name"),
        ("shop rot13 \(key)", 1, "rot13 is no cipher"),
        ("shop hs256 \(key)", 1, "64 hexadecimal digits or more"),
        ("shop hs256 \(longKey) \(vector)", 1, "nothing follows it"),
        ("shop aes-128-ecb \(longKey)", 1, "32 hexadecimal digits"),
        ("shop aes-256-cbc \(key)", 1, "64 hexadecimal digits"),
        ("shop aes-128-ecb \(key.dropLast())x", 1, "32 hexadecimal digits"),
        ("shop aes-128-ecb \(key) \(vector)", 1, "no use for a vector"),
        ("shop aes-256-cbc \(longKey) 1011", 1, "a vector has 32"),
        ("shop aes-128-ecb \(key)\nshop aes-256-cbc \(longKey)", 2, "twice"),
    ])
    func `a line that cannot be used is named, and no key shown`(_ file: String, _ line: Int, _ reason: String) {
        do {
            _ = try CallMeRealm.realms(parsing: file)
            Issue.record("\(file) cannot be used")
        } catch {
            #expect(error.line == line)
            #expect(error.reason.contains(reason), "\(error)")
            #expect(
                !error.description.contains(Self.key.prefix(12)) && !error.description.contains(Self.longKey.prefix(12))
            )
        }
    }

    // MARK: What the mode makes of them

    private func account(
        _ text: String, in mode: GuestPolicy.Mode, realm name: String?, isStart: Bool, later: Int64
    ) -> Result<UserAddress, APIError> {
        var policy = GuestPolicy()
        policy.mode = mode
        policy.realms =
            (try? CallMeRealm.realms(parsing: "shop aes-128-ecb \(Self.key)\ndesk aes-256-cbc \(Self.longKey)")) ?? []
        do throws(APIError) {
            return .success(
                try policy.pass(
                    text, realm: name, isStart: isStart, defaultDomain: "example.com",
                    atUnixMilliseconds: Self.written.issuedAt + later
                ).address)
        } catch {
            return .failure(error)
        }
    }

    @Test(
        arguments: [
            ("alice", .off, "shop", true, 0, .anonymousNotOffered),
            ("alice", .open, nil, true, 0, nil),
            ("a b", .open, nil, true, 0, .requestInvalidValue),
            (ecb, .token, "shop", true, 0, nil),
            (ecb, .token, "shop", true, 300_000, nil),
            (ecb, .token, "shop", true, 300_001, .anonymousTokenExpired),
            (ecb, .token, "shop", true, -300_001, .anonymousTokenExpired),
            (ecb, .token, "shop", false, 86_400_000, nil),
            (ecb, .token, nil, true, 0, .anonymousUnknownRealm),
            (ecb, .token, "Shop", true, 0, .anonymousUnknownRealm),
            (ecb, .token, "desk", true, 0, .anonymousInvalidToken),
            ("alice@example.com", .token, "shop", false, 0, .anonymousInvalidToken),
        ] as [(String, GuestPolicy.Mode, String?, Bool, Int64, ErrorCode?)])
    func `the mode decides what names an account`(
        _ text: String, _ mode: GuestPolicy.Mode, _ realm: String?, _ isStart: Bool, _ later: Int64,
        _ code: ErrorCode?
    ) {
        switch account(text, in: mode, realm: realm, isStart: isStart, later: later) {
        case .success(let address): #expect(code == nil && address == Self.written.address)
        case .failure(let error): #expect(error.code == code)
        }
    }

    // MARK: How often guests may come

    @Test func `a network owes for what begins and for wrong tokens`() throws {
        var configuration = GuestThrottle.Configuration()
        configuration.network = .init(burst: 2, interval: .seconds(5))
        var throttle = GuestThrottle(configuration)
        var clock = VirtualClock()
        let home = SourceNetwork(try #require(IPAddress("192.0.2.1")))
        let elsewhere = SourceNetwork(try #require(IPAddress("192.0.2.2")))
        #expect(throttle.attempt(from: home, at: clock.now) == .allowed)
        throttle.failed(from: home, at: clock.now)
        #expect(throttle.attempt(from: home, at: clock.now) == .refused(retryAfter: .seconds(5)))
        #expect(throttle.attempt(from: elsewhere, at: clock.now) == .allowed)
        #expect(throttle.attempt(from: nil, at: clock.now) == .allowed)
        clock.advance(by: .seconds(5))
        #expect(throttle.attempt(from: home, at: clock.now) == .allowed)
        #expect(throttle.attempt(from: home, at: clock.now) == .refused(retryAfter: .seconds(5)))
    }

    /// Words of a file in any order, and tokens that are damaged, cut short or of another realm.
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `no file and no token is worse than refused`(_ seed: UInt64) throws {
        var random = SeededRandomSource(seed: seed)
        let words = [
            "shop", "desk", "aes-128-ecb", "AES-256-CBC", "aes-128-cbc", Self.key, Self.longKey, Self.vector, "00",
            "zz", "#", "\n", "\r\n", "\t", "é", "\0",
            "",
        ]
        var tokens = [Self.ecb, Self.cbc, Self.vector + Self.cbc, "", "é", String(repeating: "ab", count: 600)]
        for text in [Self.ecb, Self.vector + Self.cbc] {
            for _ in 0..<50 {
                var digits = Array(text.utf8.prefix(Int(random.next() % UInt64(text.utf8.count + 1))))
                if !digits.isEmpty {
                    digits[Int(random.next() % UInt64(digits.count))] =
                        Array("0123456789abcdefg".utf8)[Int(random.next() % 17)]
                }
                tokens.append(String(decoding: digits, as: UTF8.self))
            }
        }
        var count = 0
        for _ in 0..<3_000 {
            let file = (0..<(random.next() % 9)).map { _ in
                words[Int(random.next() % UInt64(words.count))] + (random.next() % 8 == 0 ? "" : " ")
            }.joined()
            guard let realms = try? CallMeRealm.realms(parsing: file) else { continue }
            count += realms.count
            for realm in realms {
                for token in tokens {
                    guard case .encrypted(let read)? = realm.read(token, defaultDomain: "example.com") else { continue }
                    #expect(!read.address.domain.isEmpty)
                }
            }
        }
        #expect(count > 0, "some files are files")
    }
}
