import CallControl
import CallRuntime
import Cryptography
import Foundation
import GatewayAPI
import Primitives
import SignalingServer
import TestSupport
import Testing

@Suite struct `Signed callMe tokens` {
    private static let key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    private static let now: Int64 = 1_700_000_000_000
    private static let claims = #""aud":"callMe","to":"alice@example.com","exp":1700000300"#

    private func encoded(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private func token(
        _ claims: String = claims, header: String = #"{"alg":"HS256","typ":"JWT"}"#, key: String = key
    ) -> String {
        let signed = [header, "{\(claims)}"].map { encoded(Array($0.utf8)) }.joined(separator: ".")
        let secret = [UInt8](hexadecimal: key) ?? []
        return signed + "." + encoded(HMAC.sha256(key: secret, Array(signed.utf8).span))
    }

    private func read(_ token: String) throws -> SignedCallMeToken? {
        let realm = try #require(try CallMeRealm.realms(parsing: "shop hs256 \(Self.key)").first)
        guard case .signed(let signed)? = realm.read(token, defaultDomain: "example.com") else { return nil }
        return signed
    }

    @Test func `the claims say whom, until when, under which name and how often`() throws {
        let plain = try #require(try read(token()))
        #expect(plain.callee == address("alice") && plain.expiresAt == 1_700_000_300_000)
        #expect(plain.callerName == nil && plain.singleUse == nil)
        let full = try #require(
            try read(token(#""aud":"callMe","to":"alice","exp":1700000300.5,"name":"Erin Ö","jti":"x1","once":true"#)))
        #expect(full.callee == address("alice") && full.expiresAt == 1_700_000_300_500)
        #expect(full.callerName == "Erin Ö" && full.singleUse == "x1")
        #expect(try read(token(Self.claims + #","jti":"x1","once":false,"iat":1,"more":[]"#))?.singleUse == nil)
    }

    @Test(arguments: [
        #""to":"alice@example.com","exp":1700000300"#, #""aud":"other","to":"alice","exp":1700000300"#,
        #""aud":["callMe"],"to":"alice","exp":1700000300"#, #""aud":"callMe","exp":1700000300"#,
        #""aud":"callMe","to":"a b","exp":1700000300"#, #""aud":"callMe","to":"alice""#,
        #""aud":"callMe","to":"alice","exp":"1700000300""#, #""aud":"callMe","to":"alice","exp":-1"#,
        #""aud":"callMe","to":"alice","exp":1e300"#, claims + #","name":"""#, claims + #","name":"a\u0007""#,
        claims + #","name":7"#, claims + #","jti":7"#, claims + #","jti":"""#, claims + #","once":true"#,
        claims + #","once":"true","jti":"x""#, claims + #","to":"bob@example.com""#,
    ])
    func `other claims are none of a callMe token`(_ claims: String) throws {
        #expect(try read(token(claims)) == nil)
    }

    @Test func `only what the key has signed counts`() throws {
        let right = token()
        #expect(try read(right) != nil)
        for place in right.indices where right[place] != "." {
            var changed = right
            changed.replaceSubrange(place...place, with: right[place] == "A" ? "B" : "A")
            #expect(try read(changed) == nil)
        }
        #expect(try read(token(key: String(Self.key.reversed()))) == nil)
        for header in [#"{"alg":"none"}"#, #"{"alg":"HS512"}"#, #"{"alg":"RS256"}"#, #"{"alg":"HS256","crit":["x"]}"#] {
            #expect(try read(token(header: header)) == nil)
        }
        for text in ["", "..", right + ".", String(right.dropLast()), "alice@example.com"] {
            #expect(try read(text) == nil)
        }
    }

    private func pass(_ text: String, isStart: Bool, at now: Int64) throws(APIError) -> GuestPolicy.Pass {
        var policy = GuestPolicy()
        policy.mode = .token
        policy.realms = (try? CallMeRealm.realms(parsing: "shop hs256 \(Self.key)")) ?? []
        return try policy.pass(
            text, realm: "shop", isStart: isStart, defaultDomain: "example.com", atUnixMilliseconds: now)
    }

    @Test func `nothing starts with a token that has expired, and what has started goes on`() throws {
        #expect(try pass(token(), isStart: true, at: 1_700_000_299_999).signed?.callee == address("alice"))
        #expect(try pass(token(), isStart: true, at: 0).address == address("alice"))
        for later: Int64 in [0, 86_400_000] {
            let expired = #expect(throws: APIError.self) {
                try pass(token(), isStart: true, at: 1_700_000_300_000 + later)
            }
            #expect(expired?.code == .anonymousTokenExpired)
            #expect(try pass(token(), isStart: false, at: 1_700_000_300_000 + later).address == address("alice"))
        }
    }

    @Test func `a token that is used once is remembered until it expires, and longest of all the last to expire`() {
        func token(_ name: String, of realm: String = "shop", until expiry: Int64 = 0) -> UsedToken {
            UsedToken(realm: realm, identifier: name, expiresAt: expiry)
        }
        func name(_ number: Int) -> String { "\(number)" }
        var used = UsedTokens(capacity: 4)
        func use(_ name: String, of realm: String = "shop", until expiry: Int64, at now: Int64) -> Bool {
            used.use(token(name, of: realm, until: expiry), at: now)
        }
        #expect(use(name(1), until: 100, at: 0))
        #expect(!use(name(1), until: 100, at: 50))
        #expect(use("1", of: "desk", until: 100, at: 50))
        used.giveBack(token(name(1)))
        #expect(use(name(1), until: 100, at: 50))
        for number in 2...3 { #expect(use(name(number), until: 1_000, at: 60)) }
        // There is no room, and nothing has expired: half of it, what expires first, is forgotten.
        #expect(use(name(4), until: 1_000, at: 70))
        for number in 2...4 { #expect(!use(name(number), until: 1_000, at: 80)) }
        #expect(use(name(1), until: 100, at: 80))
        // This time two have expired.
        #expect(use(name(5), until: 5_000, at: 2_000))
        #expect(!use(name(5), until: 5_000, at: 2_000))
        // What the last process has left holds as well, and those that expire last if there is no room for all.
        used = UsedTokens(capacity: 4, known: (1...5).map { token(name($0), until: Int64($0)) })
        #expect(!use(name(5), until: 5, at: 0))
        #expect(!use(name(4), until: 5, at: 0))
        #expect(use(name(1), until: 5, at: 0))
    }
}
