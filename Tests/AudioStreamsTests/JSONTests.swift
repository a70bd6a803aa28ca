import AudioStreams
import Testing

struct JSONTests {
    @Test(
        arguments: [
            (#"{"a":1}"#, .object([.init("a", .number("1"))])),
            (#" [ true , false,null ] "#, .list([.flag(true), .flag(false), .null])),
            (#""\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00""#, .string("\"\\/\u{8}\u{C}\n\r\tä😀")),
            (#""\ud83d""#, .string("\u{FFFD}")), (#""\ud83dx""#, .string("\u{FFFD}x")),
            (#""\ud83d\u0041""#, .string("\u{FFFD}A")), ("-1.5e+3", .number("-1.5e+3")), ("0", .number("0")),
            (#"{}"#, .object([])), ("[]", .list([])),
            (#"{"a":{"b":["ü"]}}"#, .object([.init("a", .object([.init("b", .list([.string("ü")]))]))])),
        ] as [(String, JSONValue)])
    func `text stands for its value`(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(
        arguments: [
            "", " ", "{", "}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "[1,]", "[1", "01", "-", "1.", "1e", ".5",
            "+1",
            "tru", "nulL", #""a"#, #""\x""#, #""\u12""#, #""\u12g4""#, "\"\n\"", "1 2", #"{"a":1}}"#, "NaN",
            String(repeating: "[", count: 20) + String(repeating: "]", count: 20),
            "[" + String(repeating: "0,", count: 1_100) + "0]",
        ])
    func `other text is refused`(_ text: String) {
        let fault = #expect(throws: StreamFault.self) { try JSONValue(parsing: text) }
        #expect(fault?.code == .malformed)
        #expect(fault?.sentence.contains("at byte") == true)
    }

    @Test(arguments: ["", "plain", "\"quoted\" \\ / ", "\u{0}\u{1F}\n\t", "ä😀\u{2028}"])
    func `a text comes back`(_ text: String) throws {
        let value = JSONValue.object([.init(text, .list([.string(text), .number("7"), .flag(false), .null]))])
        #expect(try JSONValue(parsing: value.json) == value)
    }

    @Test func `the last of equal members counts`() throws {
        #expect(try JSONValue(parsing: #"{"a":"1","a":"2"}"#)["a"] == .string("2"))
    }

    /// RFC 4648 §10.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func `bytes have their Base64`(_ plain: String, _ text: String) {
        #expect(Base64.encode(Array(plain.utf8)) == text)
        #expect(Base64.decode(text) == Array(plain.utf8))
        #expect(Base64.decode(String(text.prefix { $0 != "=" })) == Array(plain.utf8))
    }

    @Test func `all bytes come back`() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }

    @Test(arguments: ["A", "A===", "Zg=", "Zg=g", "Zm9v=", "Zm9vY", "Zm 9", "Zm-_", "ä", "===="])
    func `other text is no Base64`(_ text: String) { #expect(Base64.decode(text) == nil) }
}
