import FuzzTargets
import TestSupport
import Testing

/// What fuzzing has found so far runs again with every test: inputs that reach much, and inputs that once trapped.
struct FuzzReplayTests {
    @Test(arguments: FuzzTarget.core)
    func `every known input is taken without a trap`(_ target: FuzzTarget) throws {
        for input in try Fixtures.fuzzInputs(target.name) { target.run(input) }
    }
}
