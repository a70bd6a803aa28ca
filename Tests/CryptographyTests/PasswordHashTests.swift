import Cryptography
import Primitives
import TestSupport
import Testing

@Suite struct PasswordHashTests {
    private static let cheap = PasswordHash.Cost(logN: 4, r: 1, p: 1)

    /// RFC 7914 §12, first and second vector.
    @Test func `scrypt vectors`() throws {
        #expect(
            hex(try PasswordHash.derive("", salt: [], cost: PasswordHash.Cost(logN: 4, r: 1, p: 1), count: 64))
                == "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        )
        #expect(
            hex(
                try PasswordHash.derive(
                    "password", salt: Array("NaCl".utf8), cost: PasswordHash.Cost(logN: 10, r: 8, p: 16), count: 64))
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        )
    }

    @Test func `a record verifies its password and no other, also after a round trip as text`() throws {
        var random = SeededRandomSource(seed: 1)
        let hash = try PasswordHash(of: "correct horse", cost: Self.cheap, random: &random)
        let again = try #require(PasswordHash(parsing: hash.text))
        #expect(again == hash)
        #expect(try again.verifies("correct horse"))
        #expect(try !again.verifies("correct hors"))
        #expect(try !again.verifies(""))
    }

    @Test func `equal passwords make different records`() throws {
        var random = SeededRandomSource(seed: 2)
        #expect(
            try PasswordHash(of: "same", cost: Self.cheap, random: &random)
                != PasswordHash(of: "same", cost: Self.cheap, random: &random))
    }

    @Test(arguments: [
        "", "plain", "$scrypt$", "$scrypt$ln=15,r=8,p=1$$",
        "$bcrypt$ln=4,r=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        // A damaged record must not cost gigabytes.
        "$scrypt$ln=40,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=15,r=8000,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
    ])
    func `what is no record is refused`(_ text: String) {
        #expect(PasswordHash(parsing: text) == nil)
    }

    /// 128 MB are affordable, but no scrypt (RFC 7914 §2): like a machine without memory for it.
    @Test func `a hash that cannot be made is an error`() throws {
        let record = "$scrypt$ln=17,r=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA"
        let hash = try #require(PasswordHash(parsing: record))
        #expect(throws: PasswordHashError.refused) { try hash.verifies("secret") }
        var random = SeededRandomSource(seed: 3)
        #expect(throws: PasswordHashError.refused) { try PasswordHash(of: "secret", cost: hash.cost, random: &random) }
    }

    @Test func `a cost is written as in a record, and read back if it is possible`() {
        #expect(PasswordHash.Cost().text == "ln=15,r=8,p=3")
        #expect(PasswordHash.Cost(parsing: "ln=4,r=8,p=1") == PasswordHash.Cost(logN: 4, r: 8, p: 1))
        for text in ["", "ln=15", "ln=18,r=8,p=1", "ln=17,r=1,p=1", "ln=15,r=8,p=5", "r=8,ln=15,p=1", "ln=0,r=8,p=1"] {
            #expect(PasswordHash.Cost(parsing: text) == nil, "\(text)")
        }
    }

    @Test func `what a cheaper record saves can be spent all the same`() {
        let cost = PasswordHash.Cost(logN: 10, r: 8, p: 3)
        #expect(cost.excess(over: PasswordHash.Cost(logN: 10, r: 8, p: 1)) == PasswordHash.Cost(logN: 10, r: 8, p: 2))
        #expect(cost.excess(over: PasswordHash.Cost(logN: 4, r: 8, p: 1)) == cost)
        #expect(cost.excess(over: PasswordHash.Cost(logN: 11, r: 8, p: 1)) == PasswordHash.Cost(logN: 10, r: 8, p: 1))
        for other in [cost, PasswordHash.Cost(logN: 12, r: 8, p: 1)] { #expect(cost.excess(over: other) == nil) }
    }
}
