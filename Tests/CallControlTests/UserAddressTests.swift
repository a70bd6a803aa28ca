import CallControl
import FuzzTargets
import Primitives
import TestSupport
import Testing

struct UserAddressTests {
    @Test(arguments: [
        ("joe@example.com", "joe@example.com"),
        ("sip:joe@example.com", "joe@example.com"),
        ("SIPS:Joe@Example.COM", "joe@example.com"),
        ("<sip:joe@example.com>", "joe@example.com"),
        ("Joe<sip:joe@example.com>", "joe@example.com"),
        (#""Joe" <sip:joe@example.com;transport=tls?Subject=x>;tag=88"#, "joe@example.com"),
        ("sip:joe@example.com;user=phone", "joe@example.com"),
        ("sip:joe@example.com?Replaces=a", "joe@example.com"),
        ("sip:joe@example.com:5060", "joe@example.com"),
        ("joe@example.com.", "joe@example.com"),
        ("  joe@example.com\t", "joe@example.com"),
        ("joe@localhost", "joe@localhost"),
        ("joe@192.0.2.1", "joe@192.0.2.1"),
        ("joe@[2001:DB8::1]:5060", "joe@[2001:db8::1]"),
        ("sip:+358-555-1234567;postd=pp22@foo.com;user=phone", "+358-555-1234567;postd=pp22@foo.com"),
        ("j.o-e_!~*'()&=+$,x@example.com", "j.o-e_!~*'()&=+$,x@example.com"),
        ("JÜRGEN@example.com", "jürgen@example.com"),
    ])
    func `an address is read in every form clients write`(_ text: String, _ expected: String) throws {
        let address = try #require(UserAddress(parsing: text))
        #expect(address.text == expected)
        #expect("\(address.user)@\(address.domain)" == expected)
    }

    @Test(arguments: [
        ("+15550100", "+15550100@example.com"), ("tel:+15550100;ext=1", "+15550100@example.com"),
        ("#31*5", "#31*5@example.com"),
        ("*72", "*72@example.com"), ("sip:911", "911@example.com"), ("Emergency <sip:911>", "911@example.com"),
        ("Ann", "ann@example.com"),
        ("ann@other.test", "ann@other.test"),
    ])
    func `a number or a name without a domain gets the default one`(_ text: String, _ expected: String) {
        #expect(UserAddress(parsing: text, defaultDomain: "example.com")?.text == expected)
        #expect((UserAddress(parsing: text) == nil) == !text.contains("@"))
    }

    @Test(arguments: [
        "", " ", "@", "joe@", "@example.com", "joe@@example.com", "joe doe@example.com", "joe@exam ple.com",
        "joe\u{0}@example.com",
        "joe\r\n@example.com", "joe\u{7F}@example.com", "joe@example..com", "joe@-example.com", "joe@example.com:port",
        "joe@example.com:123456",
        "joe@[::1", "joe@[]", "joe@[xyz]", "joe/..@example.com", "joe?@example.com", "joe:secret@example.com",
        "http://joe@example.com",
        "<sip:joe@example.com", "<>", "joe@exämple.com", "joe\u{202E}@example.com", "joe\u{200B}@example.com",
        "joe\u{85}@example.com",
        "\"joe\"@example.com",
    ])
    func `what is no address is refused`(_ text: String) {
        #expect(UserAddress(parsing: text) == nil)
    }

    @Test func `the length is capped`() {
        let domain = "@example.com"
        let longest = String(repeating: "a", count: UserAddress.maximumLength - domain.utf8.count) + domain
        #expect(UserAddress(parsing: longest)?.text == longest)
        #expect(UserAddress(parsing: "a" + longest) == nil)
        #expect(UserAddress(parsing: "joe@" + String(repeating: "a", count: 64)) == nil)
        #expect(NameAddress(parsing: String(repeating: "x", count: 3_000) + "<sip:joe@example.com>") == nil)
    }

    @Test(
        arguments: [
            ("Joe<sip:joe@example.com>", "Joe"),
            ("Joe Doe  <sip:joe@example.com>", "Joe Doe"),
            (#""Doe, \"Joe\" \\ Inc" <sip:joe@example.com>"#, #"Doe, "Joe" \ Inc"#),
            (#""a <b> c" <sip:joe@example.com>"#, "a <b> c"),
            ("\"J\u{1}oe\r\n\" <sip:joe@example.com>", "Joe"),
            ("\"\" <sip:joe@example.com>", nil),
            ("<sip:joe@example.com>", nil),
            ("sip:joe@example.com", nil),
        ] as [(String, String?)])
    func `the display name comes without quotes and escapes`(_ text: String, _ name: String?) throws {
        #expect(try #require(NameAddress(parsing: text)).displayName == name)
    }

    @Test func `addresses differ neither by case nor by form`() {
        #expect(UserAddress(parsing: "Joe@Example.com") == UserAddress(parsing: "sip:joe@example.COM;x=y"))
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `no text traps, and what was read reads the same again`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        let pieces = [
            "joe", "@", "example.com", ".", ":", "5060", ";", "?", "<", ">", "\"", "\\", "sip:", "tel:", "[", "]", " ",
            "\t", "é", "\u{301}",
            "\u{202E}", "+1",
        ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            fuzzUserAddress(Array(text.utf8).span)
            fuzzUserAddress(random.nextBytes(Int.random(in: 0...40, using: &random)).span)
        }
    }
}
