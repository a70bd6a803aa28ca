import NIOWebSocket
import SignalingServer
import TestSupport
import Testing

@Suite struct `Client frames` {
    struct Step: Sendable {
        var opcode: WebSocketOpcode
        var fin = true
        var length = 1
        var masked = true
        var reserved = false
    }

    @Test(arguments: [
        ([Step(opcode: .text)], .alive),
        ([Step(opcode: .binary, length: 10)], .alive),
        ([Step(opcode: .text, length: 11)], .violation(.messageTooLarge)),
        ([Step(opcode: .ping)], .pong),
        ([Step(opcode: .pong)], .alive),
        ([Step(opcode: .connectionClose)], .closed),
        ([Step(opcode: .text, masked: false)], .violation(.protocolError)),
        ([Step(opcode: .text, reserved: true)], .violation(.protocolError)),
        ([Step(opcode: .continuation)], .violation(.protocolError)),
        ([Step(opcode: .text, fin: false), Step(opcode: .continuation)], .alive),
        ([Step(opcode: .text, fin: false), Step(opcode: .continuation), Step(opcode: .continuation)], .violation(.protocolError)),
        ([Step(opcode: .text, fin: false), Step(opcode: .ping), Step(opcode: .continuation), Step(opcode: .text)], .alive),
        ([Step(opcode: .text, fin: false), Step(opcode: .text)], .violation(.protocolError)),
        ([Step(opcode: .text, fin: false, length: 6), Step(opcode: .continuation, length: 5)], .violation(.messageTooLarge)),
        ([Step(opcode: .text, fin: false, length: 6), Step(opcode: .continuation, length: 4)], .alive),
    ] as [([Step], ClientFrames.Verdict)])
    func `the last frame decides`(_ steps: [Step], _ verdict: ClientFrames.Verdict) {
        var frames = ClientFrames(sizeLimit: 10)
        let verdicts = steps.map {
            frames.receive($0.opcode, fin: $0.fin, masked: $0.masked, reserved: $0.reserved, length: $0.length)
        }
        #expect(verdicts.last == verdict)
    }
}
