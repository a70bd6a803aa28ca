import CallControl
import GatewayAPI
import SignalingServer
import Testing

@Suite struct `Bearer tokens` {
    private typealias Bearer = TokenPolicy.Bearer

    private func judge(
        _ token: String, keys: String = Tokens.keySet, _ change: (inout TokenPolicy) -> Void = { _ in }
    ) throws -> Result<Bearer, TokenError> {
        var policy = TokenPolicy()
        change(&policy)
        let keys = try TokenKeySet(parsing: Array(keys.utf8))
        do throws(TokenError) {
            return .success(
                try policy.bearer(
                    of: token, keys: keys, defaultDomain: "example.com", atUnixMilliseconds: Tokens.now * 1_000))
        } catch {
            return .failure(error)
        }
    }

    @Test func `the examples of RFC 7515 and RFC 8037 are verified`() throws {
        let joe = Result<Bearer, TokenError>.success(Bearer(user: address("joe"), expires: 1_300_819_380))
        let keys = #"{"keys":[{\#(Tokens.rsa)},{\#(Tokens.point)},{\#(Tokens.edwards)}]}"#
        #expect(try judge(Tokens.rsaExample, keys: keys) { $0.userClaim = "iss" } == joe)
        #expect(try judge(Tokens.pointExample, keys: keys) { $0.userClaim = "iss" } == joe)
        // The signature is right; what it signs is not JSON.
        #expect(try judge(Tokens.edwardsExample, keys: keys) == .failure(.malformed))
        // The last letter has a bit that belongs to no byte.
        let flipped = Tokens.edwardsExample.dropLast() + "h"
        #expect(try judge(String(flipped), keys: keys) == .failure(.malformed))
        #expect(try judge(Tokens.edwardsExample.replacing("hgyY", with: "hgyZ"), keys: keys) == .failure(.badSignature))
    }

    @Test func `the user is an address, or a name in the default domain`() throws {
        #expect(try judge(Tokens.of("joe")).get() == Bearer(user: address("joe"), expires: Tokens.now + 600))
        #expect(try judge(Tokens.of("joe@example.org")).get().user == address("joe@example.org"))
        let other = Tokens.signed(#"{"sub":"7","login":"ann","exp":2000000000.5}"#)
        #expect(
            try judge(other) { $0.userClaim = "login" }.get() == Bearer(user: address("ann"), expires: 2_000_000_000))
    }

    @Test(
        arguments: [
            (#"["Call","IM"]"#, ["call", "im"]), (#""call im""#, ["call", "im"]), ("[]", []),
        ] as [(String, Set<String>)])
    func `a claim lists the services`(_ claim: String, _ services: Set<String>) throws {
        let token = Tokens.signed(#"{"sub":"joe","exp":2000000000,"scope":\#(claim)}"#)
        #expect(try judge(token) { $0.servicesClaim = "scope" }.get().services == services)
        #expect(try judge(token).get().services == nil)
    }

    @Test func `a token that says nothing about services allows none where they are asked for`() throws {
        #expect(try judge(Tokens.of("joe")) { $0.servicesClaim = "scope" }.get().services == [])
        for claim in ["7", #"["call",7]"#, #"{"call":true}"#] {
            let token = Tokens.signed(#"{"sub":"joe","exp":2000000000,"scope":\#(claim)}"#)
            #expect(try judge(token) { $0.servicesClaim = "scope" } == .failure(.malformedServices))
        }
    }

    @Test(
        arguments: [
            (#"{"alg":"none","kid":"a"}"#, .unsupportedAlgorithm),
            (#"{"alg":"None","kid":"a"}"#, .unsupportedAlgorithm),
            (#"{"alg":"HS512","kid":"a"}"#, .unsupportedAlgorithm),
            (#"{"alg":"hs256","kid":"a"}"#, .unsupportedAlgorithm),
            (#"{"alg":256,"kid":"a"}"#, .unsupportedAlgorithm),
            (#"{"kid":"a"}"#, .unsupportedAlgorithm),
            (#"{"alg":"HS256","kid":"a","crit":["exp"],"exp":1}"#, .critical),
            (#"{"alg":"HS256","kid":"a","crit":[]}"#, .critical),
            (#"{"alg":"HS256","kid":"a","typ":"logout+jwt"}"#, .wrongType),
            (#"{"alg":"HS256","kid":"a","typ":1}"#, .wrongType),
            (#"{"alg":"HS256","kid":1}"#, .malformed),
            (#"{"alg":"HS256","alg":"HS256","kid":"a"}"#, .malformed),
            (#"["HS256"]"#, .malformed),
            (#"{"alg":"HS256","kid":"a""#, .malformed),
            (#"{"alg":"HS256","kid":"b"}"#, .unknownKey),
            (#"{"alg":"HS256","kid":""}"#, .unknownKey),
            (#"{"alg":"RS256","kid":"a"}"#, .wrongAlgorithm),
            (#"{"alg":"ES256"}"#, .wrongAlgorithm),
        ] as [(String, TokenError)])
    func `headers that are refused`(_ header: String, _ error: TokenError) throws {
        let token = Tokens.signed(#"{"sub":"joe","exp":2000000000}"#, header: header)
        #expect(try judge(token) == .failure(error))
    }

    @Test(arguments: [
        #"{"alg":"HS256"}"#, #"{"alg":"HS256","kid":"a","typ":"at+JWT","jku":"https://evil.example"}"#,
        #" {"typ" : "JWT", "alg":"HS25\u0036", "kid":"a"} "#,
    ])
    func `headers that are accepted`(_ header: String) throws {
        #expect(
            try judge(Tokens.signed(#"{"sub":"joe","exp":2000000000}"#, header: header)).get().user == address("joe"))
    }

    @Test(
        arguments: [
            (#"{"sub":"joe"}"#, .noExpiry),
            (#"{"sub":"joe","exp":"2000000000"}"#, .noExpiry),
            (#"{"sub":"joe","exp":null}"#, .noExpiry),
            (#"{"sub":"joe","exp":1e300}"#, .noExpiry),
            (#"{"sub":"joe","exp":784111747}"#, .expired),
            (#"{"sub":"joe","exp":-1}"#, .expired),
            (#"{"sub":"joe","exp":784111700,"exp":2000000000}"#, .malformed),
            (#"{"sub":"joe","exp":2000000000,"nbf":784111808}"#, .notYetValid),
            (#"{"sub":"joe","exp":2000000000,"nbf":"0"}"#, .malformedStart),
            (#"{"exp":2000000000}"#, .noUser),
            (#"{"sub":7,"exp":2000000000}"#, .noUser),
            (#"{"sub":["joe"],"exp":2000000000}"#, .noUser),
            (#"{"sub":"","exp":2000000000}"#, .noUser),
            ("[]", .malformed), ("", .malformed), ("{", .malformed),
        ] as [(String, TokenError)])
    func `claims that are refused`(_ claims: String, _ error: TokenError) throws {
        #expect(try judge(Tokens.signed(claims)) == .failure(error))
    }

    @Test func `clocks may differ by the skew, and by no more`() throws {
        #expect(try judge(Tokens.of("joe", expiring: -29)).get().expires == Tokens.now - 29)
        #expect(try judge(Tokens.of("joe", expiring: -30)) == .failure(.expired))
        #expect(try judge(Tokens.of("joe", expiring: 0)) { $0.clockSkew = .zero } == .failure(.expired))
        #expect(try judge(Tokens.of("joe", expiring: 1)) { $0.clockSkew = .zero }.get().user == address("joe"))
        let early = Tokens.signed(#"{"sub":"joe","exp":2000000000,"nbf":784111807}"#)
        #expect(try judge(early).get().user == address("joe"))
        #expect(try judge(early) { $0.clockSkew = .zero } == .failure(.notYetValid))
    }

    @Test func `issuer and audience are compared where they are configured`() throws {
        func token(_ claims: String) -> String { Tokens.signed(#"{"sub":"joe","exp":2000000000\#(claims)}"#) }
        let strict = { (policy: inout TokenPolicy) in (policy.issuer, policy.audience) = ("idp", "calls") }
        for claims in [#","iss":"idp","aud":"calls""#, #","iss":"idp","aud":["mail","calls"]"#] {
            #expect(try judge(token(claims), strict).get().user == address("joe"))
        }
        for claims in ["", #","iss":"IDP","aud":"calls""#, #","iss":["idp"],"aud":"calls""#, #","aud":"calls""#] {
            #expect(try judge(token(claims), strict) == .failure(.wrongIssuer))
        }
        for claims in [
            #","iss":"idp""#, #","iss":"idp","aud":"call""#, #","iss":"idp","aud":["mail"]"#,
            #","iss":"idp","aud":[]"#, #","iss":"idp","aud":["calls",7]"#, #","iss":"idp","aud":{"calls":1}"#,
        ] { #expect(try judge(token(claims), strict) == .failure(.wrongAudience)) }
        #expect(try judge(token(#","iss":"anybody","aud":7"#)).get().user == address("joe"))
    }

    @Test func `what is not whole is refused`() throws {
        let token = Tokens.of("joe")
        let parts = token.split(separator: ".").map(String.init)
        for text in [
            "", ".", "..", "...", "abc", parts[0] + "." + parts[1], token + ".", token + "." + parts[2],
            token + "=", token + " ", " " + token, token + "\n", "\(parts[0]).!\(parts[1]).\(parts[2])",
            "\(parts[0]).\(parts[1]).+\(parts[2])",
        ] { #expect(try judge(text) == .failure(.malformed), "\(text)") }
        for text in ["\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1]).\(parts[2].dropLast(3))"] {
            #expect(try judge(text) == .failure(.badSignature), "\(text)")
        }
        #expect(
            try judge("\(parts[0]).\(Tokens.of("ann").split(separator: ".")[1]).\(parts[2])") == .failure(.badSignature)
        )
        #expect(try judge(String(repeating: "a", count: 8_193)) == .failure(.tooLarge))
        let long = Tokens.signed(#"{"sub":"joe","exp":2000000000,"x":"\#(String(repeating: "x", count: 5_900))"}"#)
        #expect(long.utf8.count <= 8_192)
        #expect(try judge(long).get().user == address("joe"))
    }

    /// The classic of RFC 8725 §2.1: the public key, which everybody knows, as the secret of an HMAC.
    @Test func `a public key verifies no HMAC`() throws {
        let pem = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
            6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
            -----END PUBLIC KEY-----
            """
        let claims = #"{"sub":"joe","exp":2000000000}"#
        let forged = Tokens.signed(claims, header: #"{"alg":"HS256"}"#, secret: Array(pem.utf8))
        #expect(try judge(forged, keys: pem) == .failure(.wrongAlgorithm))
        let claimed = Tokens.signed(claims, header: #"{"alg":"ES256"}"#, secret: Array(pem.utf8))
        #expect(try judge(claimed, keys: pem) == .failure(.badSignature))
        // A key in PEM has no name, and no name leads to it.
        let named = Tokens.pointExample.replacing(
            "eyJhbGciOiJFUzI1NiJ9", with: Tokens.base64URL(Array(#"{"alg":"ES256","kid":"a"}"#.utf8)))
        #expect(try judge(named, keys: pem) == .failure(.unknownKey))
        #expect(try judge(Tokens.pointExample, keys: pem) { $0.userClaim = "iss" }.get().user == address("joe"))
    }

    @Test func `a token without a name of its key is for the only one that fits`() throws {
        let plain = Tokens.signed(#"{"sub":"joe","exp":2000000000}"#, header: #"{"alg":"HS256"}"#)
        let secret = #""kty":"oct","k":"\#(Tokens.base64URL(Tokens.secret))""#
        #expect(try judge(plain, keys: #"{"keys":[{\#(secret)},{\#(Tokens.point)}]}"#).get().user == address("joe"))
        let two = #"{"keys":[{\#(secret),"kid":"a"},{\#(secret),"kid":"b"}]}"#
        #expect(try judge(plain, keys: two) == .failure(.ambiguousKey))
        #expect(try judge(Tokens.of("joe"), keys: two).get().user == address("joe"))
    }

    @Test func `every refusal is a 401 that says why, and what has expired is a 403`() {
        for error in TokenError.allCases {
            #expect(error.refusal.code == (error == .expired ? .authTokenExpired : .authInvalidToken))
            #expect(error.refusal.reason.hasPrefix("The "))
        }
    }
}
