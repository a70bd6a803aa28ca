import CallControl
import CallRuntime
import CallSupport
import TestSupport
import Testing

/// How often a request waits for another owner (ARCHITECTURE.md, the life of a call).
struct RequestWalkTests {
    @Test func `a start waits for other owners six times`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(RuntimeRig.alice, on: 1)
            try await rig.register(RuntimeRig.bob, on: 2)
            let executor = SteppedExecutor()
            let request = executor.start {
                let ticket = await rig.switchboard.requestStarted(RuntimeRig.alice, about: nil)
                _ = try await rig.call()
                await rig.switchboard.requestAnswered(ticket)
            }
            var steps = 0
            while !executor.isFinished {
                if await executor.step() { steps += 1 }
            }
            try await request.value
            // The first step, one to each owner, and one back. An owner that is busy takes its step by itself.
            print("a start takes \(steps) steps")
            #expect(steps <= 1 + 2 * 6)
        }
    }
}
