import GatewayAPI
import HTTPTypes
import HummingbirdCore
package import NIOCore

/// What answers requests of any method below a path where pages are: a part of the demo page that needs a server.
package protocol PageService: Sendable {
    /// What the paths start with, such as `/demo/push/`.
    var prefix: String { get }
    /// Answers a request.
    func answer(_ request: PageRequest) async -> PageAnswer
}

/// A request to a `PageService`.
package struct PageRequest: Sendable {
    /// The method, in capital letters.
    package var method: String
    /// What follows the prefix in the path; may be empty.
    package var name: String
    /// The header fields by their names in small letters.
    package var fields: [String: String]
    /// The whole content.
    package var content: ByteBuffer
}

/// The answer of a `PageService`.
package struct PageAnswer: Sendable {
    /// The status, such as 200.
    package var status: Int
    /// The content, JSON; may be empty.
    package var content: ByteBuffer

    /// Makes an answer of its parts.
    package init(_ status: Int, _ content: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.content = content
    }
}

extension SignalingResponder {
    /// The answer of the page service to a request below its path; `nil` for other requests.
    func answerOfPageService(_ request: Request) async throws(Refusal) -> Answer? {
        guard let pageService, request.uri.path.hasPrefix(pageService.prefix) else { return nil }
        do throws(BodyError) {
            let content = try await request.collectBody(limits)
            let answer = await pageService.answer(
                PageRequest(
                    method: request.method.rawValue,
                    name: String(request.uri.path.dropFirst(pageService.prefix.count)),
                    fields: Dictionary(
                        request.headers.map { ($0.name.canonicalName, $0.value) },
                        uniquingKeysWith: { first, _ in first }),
                    content: content))
            return Answer(
                HTTPResponse.Status(code: answer.status), contentType: "application/json", body: answer.content)
        } catch {
            throw error.refusal(limit: limits.accepted, in: .problem)
        }
    }
}
