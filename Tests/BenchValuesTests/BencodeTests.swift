import BenchValues
import Testing

@Suite struct BencodeTests {
    @Test(
        arguments: [
            (.text("sdp"), "3:sdp"),
            (.text(""), "0:"),
            (.text("ä"), "2:ä"),
            (.integer(-42), "i-42e"),
            (.list([.text("a"), .integer(0)]), "l1:ai0ee"),
            (.dictionary([:]), "de"),
            (
                .dictionary(["sdp": .text("v=0\r\n"), "command": .text("offer"), "flags": .list([.text("x")])]),
                "d7:command5:offer5:flagsl1:xe3:sdp5:v=0\r\ne"
            ),
        ] as [(Bencode, String)])
    func `values are written and read`(_ value: Bencode, _ text: String) throws {
        #expect(String(decoding: value.encoded, as: UTF8.self) == text)
        #expect(try Bencode(parsing: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "", "x", "3:sd", "-1:a", "i4", "ie", "i04e", "i 4e", "l", "li1e", "d3:sdpe", "di1ei2ee", "dee",
        "99999999999999999999:a",
    ])
    func `what is no value is refused`(_ text: String) {
        #expect(throws: Bencode.Fault.self) { try Bencode(parsing: Array(text.utf8)) }
    }

    @Test func `values inside of each other have a limit`() {
        let deep = String(repeating: "l", count: 1_000) + String(repeating: "e", count: 1_000)
        #expect(throws: Bencode.Fault.tooDeep) { try Bencode(parsing: Array(deep.utf8)) }
    }

    @Test func `an answer of rtpengine has a result and a description`() throws {
        let answer = try Bencode(parsing: Array("d6:result2:ok3:sdp5:v=0\r\ne".utf8))
        #expect(answer.values["result"]?.text == "ok")
        #expect(answer.values["sdp"]?.text == "v=0\r\n")
        #expect(answer.text == nil)
        #expect(Bencode.text("ok").values.isEmpty)
    }
}
