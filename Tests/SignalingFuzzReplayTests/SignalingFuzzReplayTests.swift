import FuzzTargets
import SignalingFuzzTargets
import TestSupport
import Testing

/// The same as FuzzReplayTests for the parsers of the servers and of the push client; and what concerns the targets of
/// both.
struct SignalingFuzzReplayTests {
    private static let all = FuzzTarget.core + FuzzTarget.signaling

    @Test(arguments: FuzzTarget.signaling)
    func `every known input is taken without a trap`(_ target: FuzzTarget) throws {
        for input in try Fixtures.fuzzInputs(target.name) { target.run(input) }
    }

    @Test func `every folder of inputs belongs to a target`() {
        #expect(Fixtures.files(in: "fuzz") == Self.all.map { "fuzz/\($0.name)" }.sorted())
    }

    @Test func `names are unique`() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    }
}
