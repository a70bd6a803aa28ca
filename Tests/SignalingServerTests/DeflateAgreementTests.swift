import NIOWebSocket
import SignalingServer
import TestSupport
import Testing

@Suite struct `Compression agreement` {
    private func answer(_ mode: DeflateAgreement.Mode, _ headers: String...) -> String? {
        DeflateAgreement(to: headers, mode)?.answer
    }

    private static let plain = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    @Test(arguments: [
        ("permessage-deflate", plain),
        ("permessage-deflate; client_max_window_bits", plain),
        ("Permessage-Deflate;client_max_window_bits=10 ; server_no_context_takeover", plain),
        ("permessage-deflate; server_max_window_bits=10", plain + "; server_max_window_bits=10"),
        (#"permessage-deflate; server_max_window_bits="9""#, plain + "; server_max_window_bits=9"),
        ("x-webkit-deflate-frame, permessage-deflate", plain),
        // The second offer is what a client falls back on.
        ("permessage-deflate; server_max_window_bits=8, permessage-deflate", plain),
        (
            "permessage-deflate; unknown, permessage-deflate; server_max_window_bits=12",
            plain + "; server_max_window_bits=12"
        ),
    ])
    func `an offer is agreed to without a context`(_ offer: String, _ expected: String) {
        #expect(answer(.perMessage, offer) == expected)
    }

    @Test(arguments: [
        "", "permessage-bzip2", "permessage-deflate2", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=8", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=010", "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_max_window_bits=", "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        "permessage-deflate; unknown", "permessage-deflate;",
    ])
    func `what the gateway cannot do is declined`(_ offer: String) {
        #expect(answer(.perMessage, offer) == nil)
        #expect(answer(.perChannel, offer) == nil)
    }

    @Test func `a context is kept for a channel, unless the client refuses it`() throws {
        let kept = try #require(DeflateAgreement(to: ["permessage-deflate"], .perChannel))
        #expect(kept.keepsContext && kept.windowBits == DeflateAgreement.channelWindowBits)
        #expect(kept.answer == "permessage-deflate; client_no_context_takeover")
        let small = try #require(DeflateAgreement(to: ["permessage-deflate; server_max_window_bits=9"], .perChannel))
        #expect(small.keepsContext && small.windowBits == 9)
        let large = try #require(DeflateAgreement(to: ["permessage-deflate; server_max_window_bits=15"], .perChannel))
        #expect(large.answer.hasSuffix("; server_max_window_bits=13"))
        #expect(answer(.perChannel, "permessage-deflate; server_no_context_takeover") == Self.plain)
    }

    @Test func `offers may be in several headers, and the first that can be done counts`() {
        #expect(
            answer(.perMessage, "other", "permessage-deflate; server_max_window_bits=11, permessage-deflate")
                == Self.plain + "; server_max_window_bits=11")
    }

    // MARK: - Frames

    private func receive(
        _ frames: inout ClientFrames, _ opcode: WebSocketOpcode, fin: Bool = true, compressed: Bool = false,
        _ payload: [UInt8]
    ) -> ClientFrames.Verdict {
        frames.receive(opcode, fin: fin, masked: true, reserved: false, compressed: compressed, payload: payload)
    }

    @Test func `a compressed message is judged when it is complete`() {
        var frames = ClientFrames(sizeLimit: 10)
        #expect(receive(&frames, .text, compressed: true, [1, 2]) == .compressed([1, 2], isText: true))
        #expect(receive(&frames, .binary, fin: false, compressed: true, [1, 2]) == .alive)
        #expect(receive(&frames, .ping, []) == .pong)
        #expect(receive(&frames, .continuation, fin: false, [3]) == .alive)
        #expect(receive(&frames, .continuation, [4]) == .compressed([1, 2, 3, 4], isText: false))
        #expect(receive(&frames, .text, [0x41]) == .alive)
        #expect(frames.decompressed([0xC3], isText: true) == .violation(.dataInconsistentWithMessage))
        #expect(frames.decompressed([0xC3], isText: false) == .alive)
    }

    @Test func `only the first frame of a message says that it is compressed`() {
        for opcode in [WebSocketOpcode.ping, .pong, .connectionClose] {
            var frames = ClientFrames(sizeLimit: 10)
            #expect(receive(&frames, opcode, compressed: true, []) == .violation(.protocolError))
        }
        for isCompressed in [false, true] {
            var frames = ClientFrames(sizeLimit: 10)
            #expect(receive(&frames, .text, fin: false, compressed: isCompressed, [0x41]) == .alive)
            #expect(receive(&frames, .continuation, compressed: true, [1]) == .violation(.protocolError))
        }
    }

    @Test func `the compressed form is not longer than a message may be`() {
        var frames = ClientFrames(sizeLimit: 10)
        #expect(receive(&frames, .text, fin: false, compressed: true, [1, 2, 3, 4, 5, 6]) == .alive)
        #expect(receive(&frames, .continuation, [1, 2, 3, 4, 5]) == .violation(.messageTooLarge))
        frames = ClientFrames(sizeLimit: 10)
        let eleven = [UInt8](repeating: 0, count: 11)
        #expect(receive(&frames, .text, compressed: true, eleven) == .violation(.messageTooLarge))
    }
}
