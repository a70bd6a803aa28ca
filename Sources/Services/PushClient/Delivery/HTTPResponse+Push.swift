internal import Foundation
package import HTTPClient
internal import Push

extension HTTPResponse {
    /// The header field `Retry-After` (RFC 9110 §10.2.3), in seconds or as a date; `nil`: there is none that can be
    /// read.
    package var retryDelay: Duration? {
        guard let text = value(of: "retry-after") else { return nil }
        if let seconds = UInt32(text) { return .seconds(Int64(seconds)) }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = format.date(from: text) else { return nil }
        return .seconds(max(0, min(date.timeIntervalSinceNow, 86_400)))
    }
}

extension HTTPRequest {
    /// The request for a push.
    ///
    /// - Parameter further: header fields besides those of `request`.
    init(_ request: ProviderRequest, to url: String, further: [HTTPField], timeout: Duration) {
        self.init(
            .post(request.content), url + (request.path ?? ""),
            fields: request.fields.map { HTTPField($0.name, $0.value) } + further, timeout: timeout)
    }
}
