package import CallControl
package import Push
package import Registration
import SPiDR

/// `subscribeResponse` of a successful `POST` or `PUT` (spidr-wire §3.1).
package struct SubscribeResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "subscribeResponse"

    /// 0, or 2 if some services were refused (spidr-wire §3.2).
    package var statusCode: Int
    /// The path of the subscription, without scheme and host.
    package var subscription: String
    /// What was granted.
    package var subscriptionParams: Parameters

    /// `subscriptionParams`: what was granted (spidr-wire §3.1).
    package struct Parameters: Codable, Equatable, Sendable {
        /// The granted life time in seconds.
        package var expires: Int64
        /// The granted services in the client's spelling; the client compares them with those it asked for.
        package var service: [String]
        /// The same as ``service``.
        package var assignedService: [String]
        /// `WebSocket` or `LongPolling`, as the client asked.
        package var notificationType: String
        /// The path of the notification channel, without scheme and host.
        package var notificationChannel: String
        /// How many seconds a poll waits for a notification; `nil` for a WebSocket.
        package var pollingTimer: Int64?
        /// `true` together with ``turnCredentials``, otherwise `nil`.
        package var turnActive: Bool?
        /// Credentials for TURN servers. `nil` unless the client asked for them and the gateway has a TURN secret.
        package var turnCredentials: TURNField?
        /// What the client sends as `x-session` in place of credentials; `nil` unless it registered with a token of an
        /// application (spidr-wire §2).
        package var sessionId: String?
    }

    /// The credentials that a client gives to every TURN server for which it has no others.
    package struct TURNField: Codable, Equatable, Sendable {
        /// The end of the validity in Unix time, a colon, and an opaque name (draft-uberti-behave-turn-rest-00 §2.2).
        package var username: String
        /// The password that belongs to the user name.
        package var password: String

        /// Makes credentials of a user name and a password.
        package init(username: String, password: String) {
            self.username = username
            self.password = password
        }
    }

    /// Makes the answer to a subscription that was granted or extended.
    ///
    /// `clientCorrelator` is left out on purpose: clients that find it in the answer extend by another path (spidr-wire
    /// §3.2).
    ///
    /// - Parameters:
    ///   - path: the user's or guest's own path, below which the paths in the answer are.
    ///   - turn: TURN credentials; `nil` if there are none to give.
    ///   - session: the identifier of the session; `nil`: there is none.
    ///   - pollTime: how long a long poll waits; `nil`: the client opens a WebSocket.
    package init(
        _ grant: SubscriptionGrant, below path: ResourcePath, turn: TURNField? = nil, session: String? = nil,
        pollTime: Duration? = nil
    ) {
        statusCode = grant.isPartial ? 2 : 0
        subscription = path.subscription(grant.subscription)
        subscriptionParams = Parameters(
            expires: grant.expires.components.seconds,
            service: grant.services,
            assignedService: grant.services,
            notificationType: pollTime == nil ? "WebSocket" : "LongPolling",
            notificationChannel: pollTime == nil ? path.channel(grant.channel) : path.poll(grant.channel),
            pollingTimer: pollTime?.components.seconds,
            turnActive: turn == nil ? nil : true,
            turnCredentials: turn,
            sessionId: session
        )
    }
}

/// The answer to `DELETE` of a subscription (spidr-wire §3.3).
///
/// `{"subscribeResponse": {"statusCode": 0}}`
package struct UnsubscribeResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "subscribeResponse"
    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0

    /// Makes the answer, which has no other content.
    package init() {}
}

/// The paths that the gateway hands out to one user or guest, all below that one's own path (spidr-wire §1.1).
package struct ResourcePath: Equatable, Sendable {
    private let base: String

    /// The paths of a user with an account.
    package init(of user: UserAddress) { base = "/rest/version/1/user/\(user)" }

    /// The paths of a guest.
    ///
    /// - Parameter account: the account that the guest came to call, as the guest's client writes it. A token stays a
    ///   token.
    package init(ofGuestCalling account: String) { base = "/rest/version/1/anonymous/\(account)" }

    /// The path of a subscription, without scheme and host.
    package func subscription(_ subscription: SubscriptionID) -> String { "\(base)/subscription/\(subscription)" }
    /// The path of a call log record, without scheme and host.
    package func logRecord(_ record: SessionID) -> String { "\(base)/logRecord/\(record)" }
    /// The path of a notification channel, without scheme and host.
    package func channel(_ channel: ChannelID) -> String { "\(base)/websocket/\(channel.rawValue)" }
    /// The path of the same channel for long polls (spidr-wire §4.5).
    package func poll(_ channel: ChannelID) -> String { "\(base)/notification/\(channel.rawValue)" }
    /// The path of a registration for push, without scheme and host (spidr-wire §11.1).
    package func push(_ provider: PushProvider, _ device: PushDeviceID) -> String { push(provider.rawValue, device) }
    /// The same, by the provider's name in paths.
    func push(_ provider: String, _ device: PushDeviceID) -> String {
        "\(base)/push/\(provider)/devices/\(device.rawValue)"
    }
}
