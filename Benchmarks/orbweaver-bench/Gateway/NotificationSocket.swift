import ArgumentParser
import Foundation
import NIOCore

/// A notification channel; what arrives on it can be awaited in order.
final class NotificationSocket: Sendable {
    /// The parts of a notification that a scripted client looks at.
    struct Notification: Decodable, Sendable {
        struct Parameters: Decodable, Sendable {
            var sessionData: String
            var sdp: String?
            var statusCode: Int?
            var reasonText: String?
        }
        var eventType: String
        var sessionParams: Parameters?

        /// Its kind, and why if it says so.
        fileprivate var summary: String {
            [eventType, sessionParams?.statusCode.map { "\($0)" }, sessionParams?.reasonText].compactMap(\.self).joined(
                separator: " ")
        }
    }

    private let socket: TextSocket

    init(port: Int, overTLS: Bool = false, path: String) async throws {
        socket = try await TextSocket(port: port, overTLS: overTLS, path: path, keeping: .bufferingNewest(1_000))
    }

    /// The next notification of this type; what comes before it is passed over.
    ///
    /// - Throws: `ValidationError` that names what came instead, if the channel is closed or nothing comes for 30
    ///   seconds.
    func next(_ type: String) async throws -> Notification {
        var others: [String] = []
        let wanted = try await socket.first { text -> Notification? in
            let message = try JSONDecoder().decode([String: Notification].self, from: Data(text.readableBytesView))
            guard let notification = message["notificationMessage"] else { return nil }
            if notification.eventType == type { return notification }
            others.append(notification.summary)
            return nil
        }
        guard let wanted else {
            throw ValidationError(
                "no \(type) in 30 seconds, or the channel was closed; what came: \(others.joined(separator: ", "))")
        }
        return wanted
    }

    func close() async { await socket.close() }
}
