internal import Cryptography
import Foundation
import Observability
import Primitives
import Push
import PushClient
import SPiDR

/// Sends pushes to one device and says what the provider has answered: the work of `orbweaver push test`.
package struct PushTest: Sendable {
    /// What is pushed.
    package enum Kind: String, CaseIterable, Sendable {
        /// A call comes in.
        case call
        /// The caller has given up.
        case cancel
        /// A text for the user.
        case notification
        /// Nothing but that the app is to look after its registration.
        case refresh
    }

    /// Where to. Exactly one target is there.
    package struct Device: Sendable {
        /// The bundle identifier or package name of the app.
        package var bundleID: String
        /// The token for VoIP pushes, in hexadecimal digits.
        package var appleVoipToken: String?
        /// The token for other pushes, in hexadecimal digits.
        package var appleToken: String?
        /// Whether the Apple tokens are of the production environment.
        package var isProduction: Bool
        /// The registration token of Firebase.
        package var googleToken: String?
        /// The URL of the application's own push service.
        package var webhook: String?

        /// Makes a device of its parts; each parameter is the property of that name.
        package init(
            bundleID: String, appleVoipToken: String?, appleToken: String?, isProduction: Bool, googleToken: String?,
            webhook: String?
        ) {
            self.bundleID = bundleID
            self.appleVoipToken = appleVoipToken
            self.appleToken = appleToken
            self.isProduction = isProduction
            self.googleToken = googleToken
            self.webhook = webhook
        }
    }

    /// Why nothing was sent.
    package struct Failure: Error, CustomStringConvertible {
        /// One line for standard error.
        package var description: String
    }

    /// What became of a push, and whether the provider has taken it.
    package struct Report: Sendable {
        /// A line for people.
        package var line: String
        /// Whether the provider has taken the push.
        package var isDelivered: Bool
    }

    private let configuration: GatewayConfiguration
    private let registration: PushRegistration

    /// Prepares a test.
    ///
    /// - Throws: ``Failure`` if the device is not told, or what is told cannot be used.
    package init(_ configuration: GatewayConfiguration, _ device: Device) throws(Failure) {
        if let complaint = configuration.pushComplaints.first { throw Failure(description: complaint) }
        self.configuration = configuration
        let isApple = device.appleVoipToken != nil || device.appleToken != nil
        guard [isApple, device.googleToken != nil, device.webhook != nil].count(where: { $0 }) == 1 else {
            throw Failure(
                description: "name one device: by its tokens from Apple, its token from Firebase, or its webhook")
        }
        let target: PushRegistration.Target =
            if let token = device.googleToken {
                .google(token: Redacted(token))
            } else if let url = device.webhook {
                .webhook(url: url)
            } else {
                .apple(
                    .init(
                        voip: device.appleVoipToken.map { Redacted($0) },
                        standard: device.appleToken.map { Redacted($0) }, isProduction: device.isProduction))
            }
        do throws(PushRegistrationError) {
            registration = try PushRegistration(
                id: "test", user: "test@example.com", bundleID: device.bundleID, realm: "test", services: ["call"],
                clientCorrelator: nil, target: target)
        } catch {
            throw Failure(description: error.clause)
        }
    }

    /// Sends pushes, all at once, and reports each when it has ended.
    ///
    /// - Parameters:
    ///   - count: how many; more than 0.
    ///   - time: how long each is of use.
    /// - Returns: the reports in the order in which the pushes were made.
    /// - Throws: what keeps the push client from starting.
    package func send(_ kind: Kind, count: Int, callerName: String, callerNumber: String, time: Duration) async throws
        -> [Report]
    {
        let metrics = GatewayMetrics(version: GatewayVersion.current, startTime: 0)
        let client = try PushClient(
            configuration.push.configuration, metrics: metrics, logger: configuration.log.makeLogger(label: "orbweaver")
        )
        defer { client.shutDown() }
        let registration = registration
        return await withTaskGroup(of: (Int, PushOutcome).self) { group in
            for index in 0..<count {
                let message = message(kind, index, callerName, callerNumber, time)
                group.addTask { (index, await client.send(message, to: registration)) }
            }
            var outcomes: [(Int, PushOutcome)] = []
            for await outcome in group { outcomes.append(outcome) }
            return outcomes.sorted { $0.0 < $1.0 }.map { _, outcome in
                Report(line: "\(kind.rawValue): \(outcome)", isDelivered: PushResult(outcome) == .delivered)
            }
        }
    }

    private func message(
        _ kind: Kind, _ index: Int, _ callerName: String, _ callerNumber: String, _ time: Duration
    ) -> PushMessage {
        var random = SecureRandomSource()
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        // All pushes of one process are about calls of its own.
        let call = PushedCall(
            session: "test-\(ProcessInfo.processInfo.processIdentifier)-\(index)", callerName: callerName,
            callerNumber: callerNumber, hasVideo: false)
        let pushed: PushMessage.Kind
        let form: String?
        switch kind {
        case .call: (pushed, form) = (.call(call), notification("call", call))
        case .cancel: (pushed, form) = (.callOver(call, .remoteEnded), notification("callCancel", call))
        case .notification: (pushed, form) = (.notification(.init(title: callerName, body: "Test of push")), nil)
        case .refresh: (pushed, form) = (.refresh, nil)
        }
        return PushMessage(
            id: PushID(random: &random), pushed, forms: form.map { [$0] } ?? [], time: now,
            expires: now + UInt64(max(0, time.wholeNanoseconds / 1_000_000)))
    }

    /// A `notificationMessage` with as much as the app needs to find out that there is no such call.
    private func notification(_ type: String, _ call: PushedCall) -> String {
        let object: [String: Any] = [
            "eventType": type, "eventId": "1", "sessionParams": ["sessionData": call.session],
            "callNotificationParams": ["callerName": call.callerName, "callerDisplayNumber": call.callerNumber],
        ]
        guard let bytes = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]) else {
            preconditionFailure("texts can be encoded")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PushRegistrationError {
    /// The error as a line for whoever named the device, with the words that devices use.
    fileprivate var clause: String {
        switch self {
        case .noAppleToken: "\(PushRegistration.Part.appleToken(.voip).wireName) is missing"
        case .unusable(let part): "the value of \(part.wireName) cannot be used"
        }
    }
}
