import BenchValues
import Testing

@Suite struct RoundsTests {
    @Test func `the median is the middle round, or lies between the two in the middle`() {
        #expect(Rounds([9, 1, 2]).median == 2)
        #expect(Rounds([4, 1, 2, 9]).median == 3)
        #expect(Rounds([7]).median == 7)
        #expect(Rounds().median.isNaN)
    }

    @Test func `what is told is the median and how far the rounds lie apart`() {
        var rounds = Rounds()
        #expect(rounds.text("µs") == "–")
        for figure in [702.4, 601, 644] { rounds.add(figure) }
        #expect(rounds.text("µs") == "644 µs (601 to 702)")
        #expect(rounds.scaled(by: 0.001).text(digits: 2) == "0.64 (0.60 to 0.70)")
        #expect(rounds.count == 3)
        #expect(rounds.least == 601 && rounds.most == 702.4)
    }

    @Test func `ratios are those of the same round`() {
        // The machine was half as fast in the second round.
        let ratios = Rounds([10, 20, 12]).ratios(to: Rounds([5, 10, 4]))
        #expect(ratios.figures == [2, 2, 3])
        #expect(Rounds([1, 2]).ratios(to: Rounds([1])).count == 1)
    }
}
