import CallControl
import CallRuntime
import Primitives
import Testing

/// Requests that begin calls, and come twice.
struct RepetitionTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let offer = "v=0\r\na=ice-pwd:password+password+password\r\n"

    @Test func `a start that comes again is answered with the call it has begun`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let session = try await rig.call(sdp: offer)
            #expect(try await rig.call(sdp: offer) == session)
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            #expect(try await rig.call(sdp: offer) == session)
            await rig.expect(["ringing", "respondCallUpdate"], on: 1)
            await rig.expect(["call", "callCancel"], on: 2)
            #expect(try await rig.call(sdp: offer.replacing("password", with: "differed")) != session)
        }
    }

    @Test func `starts that come at once begin one call`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let sessions = try await withThrowingTaskGroup(of: SessionID.self) { group in
                for _ in 0..<8 { group.addTask { try await rig.call(sdp: offer) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(sessions.count == 1)
            await rig.expect(["call"], on: 2)
        }
    }

    @Test func `once the call is over the same start begins another one`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let session = try await rig.call(sdp: offer)
            try await rig.switchboard.end(alice, session, reasonText: nil)
            await rig.expect(["ringing", "callEnd"], on: 1)
            #expect(try await rig.call(sdp: offer) != session)
        }
    }
}
