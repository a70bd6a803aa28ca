import Foundation
import GatewayAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// How much of a request body is read.
struct BodyLimits: Sendable {
    /// The largest body that is accepted, in bytes.
    var accepted: Int

    /// The largest body that is read to its end, in bytes.
    ///
    /// A body beyond ``accepted`` is read and discarded, so that the client receives the answer. Beyond this limit the
    /// connection is closed instead.
    var drained: Int { accepted * 8 }
}

extension Request {
    /// The length that the client announced, in bytes; `nil` if it announced none.
    var announcedLength: Int? { headers[.contentLength].flatMap { Int($0) } }

    /// Whether the client waits for permission before it sends the body (RFC 9110 §10.1.1).
    var expectsContinue: Bool { headers[.expect]?.lowercased() == "100-continue" }

    /// Whether the body may be read as JSON.
    ///
    /// A body that is announced as another type is refused. A web page of another origin can send a text or a form
    /// without a preflight (https://fetch.spec.whatwg.org/#cors-safelisted-request-header). A body without an announced
    /// type is accepted unless it comes from a web page, since a page needs no preflight for that either.
    private var announcesJSON: Bool {
        guard let announced = headers[.contentType] else { return headers[.origin] == nil }
        if announced == "application/json" { return true }
        let type = announced.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
    }

    /// The whole body in one buffer.
    ///
    /// - Throws: ``BodyError``.
    func collectBody(_ limits: BodyLimits) async throws(BodyError) -> ByteBuffer {
        let body = try await collectAnyBody(limits)
        guard body.readableBytes == 0 || announcesJSON else { throw .unsupportedType }
        return body
    }

    private func collectAnyBody(_ limits: BodyLimits) async throws(BodyError) -> ByteBuffer {
        if let announcedLength,
            announcedLength > limits.drained || (expectsContinue && announcedLength > limits.accepted)
        {
            throw .tooLarge(unread: true)
        }
        var collected = ByteBuffer()
        var length = 0
        do {
            for try await part in body {
                length += part.readableBytes
                if length > limits.drained { throw BodyError.tooLarge(unread: true) }
                if length > limits.accepted {
                    collected = ByteBuffer()
                } else if collected.readableBytes == 0 {
                    collected = part
                } else {
                    collected.writeImmutableBuffer(part)
                }
            }
        } catch let error as BodyError {
            throw error
        } catch {
            throw .broken
        }
        if length > limits.accepted { throw .tooLarge(unread: false) }
        return collected
    }
}

/// Why a body is refused.
enum BodyError: Error {
    /// It is too large. `unread`: a part of it is still on its way.
    case tooLarge(unread: Bool)
    /// The connection or the framing broke.
    case broken
    /// It is announced as another type than JSON.
    case unsupportedType

    func refusal(limit: Int, in form: ErrorForm) -> Refusal {
        switch self {
        case .tooLarge(let unread):
            Refusal(
                APIError(.requestBodyTooLarge, "The body is larger than \(limit) bytes."), in: form,
                closesConnection: unread)
        case .broken:
            Refusal(
                APIError(.requestMalformed, "The body could not be read to its end."), in: form,
                closesConnection: true)
        case .unsupportedType:
            Refusal(
                APIError(.requestUnsupportedMediaType, "The body must be JSON, with Content-Type: application/json."),
                in: form)
        }
    }
}
