import CallControl
import CallRuntime
import CallSupport
import Primitives
import TestSupport
import Testing

/// How many calls an application has, and what becomes of them when it changes.
extension ApplicationCallTests {
    @Test func `calls that are started at once are not more than may be`() async throws {
        try await serve(try application { $0.maximumCalls = 2 }) { rig in
            let request = try ApplicationCallRequest(to: alice, from: address)
            let started = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { [name] in
                        do {
                            _ = try await rig.switchboard.start(request, by: name)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(started == 2)
        }
    }

}
