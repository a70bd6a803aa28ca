import FuzzTargets
import TestSupport
import Testing

/// What fuzzing has found so far runs again with every test: inputs that reach much, and inputs that once trapped.
struct FuzzReplayTests {
    @Test(arguments: FuzzTarget.all)
    func `every known input is taken without a trap`(_ target: FuzzTarget) throws {
        let corpus = Fixtures.files(in: "fuzz/\(target.name)/corpus")
        #expect(!corpus.isEmpty, "a target without a corpus: scripts/fuzz \(target.name)")
        for file in corpus + Fixtures.anyFiles(in: "fuzz/\(target.name)/crashes") { target.run(try Fixtures.bytes(file)) }
    }

    @Test func `every folder of inputs belongs to a target`() {
        #expect(Fixtures.files(in: "fuzz") == FuzzTarget.all.map { "fuzz/\($0.name)" }.sorted())
    }

    @Test func `names are unique`() {
        #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
    }
}
