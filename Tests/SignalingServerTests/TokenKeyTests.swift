import Foundation
import Logging
import SignalingServer
import Testing

@Suite struct `Keys of tokens` {
    private func keys(_ text: String) throws(TokenKeySetError) -> TokenKeySet {
        try TokenKeySet(parsing: Array(text.utf8))
    }

    private let secret = #""kty":"oct","k":"\#(Tokens.base64URL(Tokens.secret))""#

    @Test func `all four kinds are read, whatever else a set has`() throws {
        let set = try keys(
            #"{"keys":[{\#(secret),"kid":"1","use":"sig","alg":"HS256"},{\#(Tokens.rsa),"kid":"2","x5t":"?"},"#
                + #"{\#(Tokens.point),"kid":"3","key_ops":["verify"]},{\#(Tokens.edwards),"kid":"4","alg":"EdDSA"}],"a":1}"#
        )
        #expect(set.count == 4)
        #expect(set.unused.isEmpty)
        #expect(set.hasSecrets)
    }

    @Test(arguments: [
        #"{"kty":"oct","k":"c2hvcnQ"}"#, #"{"kty":"oct"}"#, #"{"kty":"oct","k":7}"#, #"{"kty":"oct","k":"!"}"#,
        #"{\#(Tokens.rsa),"use":"enc"}"#, #"{\#(Tokens.rsa),"alg":"RSA-OAEP"}"#, #"{\#(Tokens.rsa),"alg":"HS256"}"#,
        #"{\#(Tokens.rsa),"key_ops":["encrypt"]}"#, #"{\#(Tokens.rsa),"d":"AQAB"}"#, #"{\#(Tokens.rsa),"kid":7}"#,
        #"{"kty":"RSA","e":"AQAB","n":"AQAB"}"#, #"{"kty":"EC","crv":"P-384","x":"","y":""}"#,
        #"{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}"#, #"{"kty":"OKP","crv":"X25519","x":""}"#, #"{"kty":"new"}"#,
        "{}", "7",
    ])
    func `keys that are of no use are left out, and named`(_ key: String) throws {
        let set = try keys(#"{"keys":[\#(key),{\#(Tokens.edwards),"kid":"good"}]}"#)
        #expect(set.count == 1)
        #expect(set.unused.count == 1)
        do throws(TokenKeySetError) {
            _ = try keys(#"{"keys":[\#(key)]}"#)
            Issue.record("a set without a key")
        } catch {
            #expect("\(error)".hasPrefix("has no key for tokens: the key"))
        }
    }

    @Test func `files that are none are refused`() {
        for text in ["", "{}", "[]", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#, Tokens.keySet + "x"] {
            #expect(throws: TokenKeySetError.malformed) { try keys(text) }
        }
        #expect(throws: TokenKeySetError.noKey("the set is empty")) { try keys(#"{"keys":[]}"#) }
        #expect(throws: TokenKeySetError.noKey("the key in PEM is no public key")) {
            try keys("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")
        }
        #expect(throws: TokenKeySetError.repeated(#"the key "a" is there twice"#)) {
            try keys(#"{"keys":[{\#(secret),"kid":"a"},{\#(secret),"kid":"a"}]}"#)
        }
    }

    @Test func `a file is read again when it has changed, and a broken one changes nothing`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID()).json")
            .path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) }
        let clock = ManualClock()
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        #expect(throws: TokenKeySetError.unreadable) { try TokenKeyFile(path, clock: clock, logger: logger) }
        try write(Tokens.keySet)
        let file = try TokenKeyFile(path, clock: clock, logger: logger)
        #expect(file.keys().count == 1)
        try write(#"{"keys":[{\#(secret)},{\#(Tokens.point)}]}"#)
        #expect(file.keys().count == 1)
        clock.advance(by: .seconds(1))
        #expect(file.keys().count == 2)
        for broken in ["", "{", #"{"keys":[]}"#] {
            try write(broken)
            clock.advance(by: .seconds(1))
            #expect(file.keys().count == 2)
        }
        try FileManager.default.removeItem(atPath: path)
        clock.advance(by: .seconds(1))
        #expect(file.keys().count == 2)
        try write(Tokens.keySet)
        clock.advance(by: .seconds(1))
        #expect(file.keys().count == 1)
        try write(#"{"keys":["\#(String(repeating: "x", count: TokenKeyFile.sizeLimit))"]}"#)
        clock.advance(by: .seconds(1))
        #expect(file.keys().count == 1)
    }
}

@Suite struct `Strict JSON` {
    @Test func `values`() {
        #expect(
            StrictJSON(Array(#" {"a":[1,-2.5e1,0,true,false,null],"b":{"c":"\u00e9\ud83d\ude00\n\"\\\/"}} "#.utf8))
                == .object([
                    "a": .array([.number(1), .number(-25), .number(0), .boolean(true), .boolean(false), .null]),
                    "b": .object(["c": .string("é😀\n\"\\/")]),
                ]))
        #expect(StrictJSON(Array("[]".utf8)) == .array([]))
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, "{a:1}", "01", "1.",
        ".5", "+1", "-", "1e", "1e999", "NaN", "tru", "truer", #"""#, #""\x""#, #""\u12""#, #""\ud800""#, #""\udc00x""#,
        #""\ud800\u0041""#, "\"\n\"", "1 2", #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#,
        String(repeating: "[", count: 17) + String(repeating: "]", count: 17),
    ])
    func `texts that are not JSON, or not clear`(_ text: String) { #expect(StrictJSON(Array(text.utf8)) == nil) }

    @Test func `bytes that are not UTF-8`() { #expect(StrictJSON([0x22, 0xC3, 0x22]) == nil) }

    @Test func `base64url has one form for each value`() {
        #expect([UInt8](base64URL: "".utf8) == [])
        #expect([UInt8](base64URL: "_-8".utf8) == [0xFF, 0xEF])
        for text in ["A", "AB", "AAB", "AA==", "A A", "+/", "AAAAA"] {
            #expect([UInt8](base64URL: text.utf8) == nil, "\(text)")
        }
    }
}
