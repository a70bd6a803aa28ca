import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import Primitives
import Sockets

/// The gateway takes no new call now, so that those it has do not suffer: 503 with the time to wait.
struct CallRefused: Error, CustomStringConvertible {
    let retryAfter: Duration

    var description: String { "callStart: 503, to be tried again after \(retryAfter)" }
}

extension HTTPClient {
    /// Starts a call, and notes when that was answered.
    ///
    /// - Parameter path: of the caller's calls.
    /// - Throws: `CallRefused`, or `ValidationError` if the answer is anything else.
    func startCall(_ path: String, user: String, body: ByteBuffer) async throws
        -> (session: String, answered: MonotonicTime)
    {
        let answer = try await request(.POST, path, user: user, body: body)
        let answered = MonotonicClock.now
        let response = try? JSONDecoder().decode(CallAnswer.self, from: Data(answer.body.readableBytesView))
            .callControlResponse
        switch (answer.status, response?.sessionData, response?.retryAfter) {
        case (201, let session?, _): return (session, answered)
        case (503, _, let wait?): throw CallRefused(retryAfter: .milliseconds(wait))
        default: throw ValidationError("callStart: \(answer.status) \(String(buffer: answer.body))")
        }
    }
}

private struct CallAnswer: Decodable {
    struct Response: Decodable {
        var sessionData: String?
        /// Milliseconds.
        var retryAfter: Int?
    }
    var callControlResponse: Response
}
