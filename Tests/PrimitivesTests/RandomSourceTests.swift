import Primitives
import TestSupport
import Testing

@Suite struct RandomSourceTests {
    /// Gives the same word for ever.
    private struct Constant: RandomSource {
        let word: UInt64
        mutating func next() -> UInt64 { word }
    }

    @Test(arguments: [RandomAlphabet.ice, .url])
    func `an alphabet has 64 different characters`(_ alphabet: RandomAlphabet) {
        #expect(alphabet.characters.count == 64)
        #expect(Set(alphabet.characters).count == 64)
    }

    @Test(arguments: [0, 1, 9, 10, 11, 24, 300])
    func `a token has the length asked for and stays in its alphabet`(_ count: Int) {
        var random = SeededRandomSource(seed: 1)
        for alphabet in [RandomAlphabet.ice, .url] {
            let token = random.nextToken(count, alphabet: alphabet)
            #expect(token.count == count)
            #expect(token.allSatisfy { alphabet.characters.contains($0) })
        }
    }

    @Test func `every character takes six bits and the four left over are not stretched`() {
        var ones = Constant(word: 0x0FFF_FFFF_FFFF_FFFF)
        #expect(ones.nextToken(21, alphabet: .url) == String(repeating: "_", count: 21))
    }

    @Test func `every character of the alphabet occurs`() {
        print("seed 7")
        var random = SeededRandomSource(seed: 7)
        #expect(Set(random.nextToken(4000, alphabet: .ice)).count == 64)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 33])
    func `bytes come in the number asked for`(_ count: Int) {
        var random = SeededRandomSource(seed: 2)
        #expect(random.nextBytes(count).count == count)
    }

    @Test func `bytes and halves use all of a word`() {
        var source = Constant(word: 0x0102_0304_0506_0708)
        #expect(source.nextBytes(10) == [8, 7, 6, 5, 4, 3, 2, 1, 8, 7])
        #expect(source.nextUInt32() == 0x0102_0304)
    }

    @Test func `the same seed gives the same values`() {
        var (a, b, c) = (SeededRandomSource(seed: 3), SeededRandomSource(seed: 3), SeededRandomSource(seed: 4))
        let (first, second, third) = (a.nextBytes(32), b.nextBytes(32), c.nextBytes(32))
        #expect(first == second)
        #expect(first != third)
    }
}
