package import CallControl

/// `subscribeResponse` of a successful `POST` or `PUT` (spidr-wire §3.1).
package struct SubscribeResponse: WireObject, Equatable {
    package static let wrapper = "subscribeResponse"

    /// 0, or 2 if some services were refused (spidr-wire §3.2).
    package var statusCode: Int
    /// Path only.
    package var subscription: String
    package var subscriptionParams: Parameters

    package struct Parameters: Decodable, Equatable, Sendable {
        /// Seconds.
        package var expires: Int64
        package var service: [String]
        package var assignedService: [String]
        package var notificationType: String
        /// Path only.
        package var notificationChannel: String
        /// Only with credentials.
        package var turnActive: Bool?
        package var turnCredentials: TURNField?
    }

    /// What clients give to every TURN server that they know no credentials for.
    package struct TURNField: Decodable, Equatable, Sendable {
        package var username: String
        package var password: String

        package init(username: String, password: String) {
            self.username = username
            self.password = password
        }
    }

    /// `clientCorrelator` is left out on purpose: clients that find it here extend by another path (spidr-wire §3.2).
    package init(_ grant: SubscriptionGrant, below path: ResourcePath, turn: TURNField? = nil) {
        statusCode = grant.isPartial ? 2 : 0
        subscription = path.subscription(grant.subscription)
        subscriptionParams = Parameters(
            expires: grant.expires.components.seconds,
            service: grant.services,
            assignedService: grant.services,
            notificationType: "WebSocket",
            notificationChannel: path.channel(grant.channel),
            turnActive: turn == nil ? nil : true,
            turnCredentials: turn
        )
    }
}

/// `{"subscribeResponse": {"statusCode": 0}}`, the answer to `DELETE` (spidr-wire §3.3).
package struct UnsubscribeResponse: WireObject, Equatable {
    package static let wrapper = "subscribeResponse"
    package var statusCode = 0

    package init() {}
}

/// Paths the gateway hands out, below somebody's own (spidr-wire §1.1).
package struct ResourcePath: Equatable, Sendable {
    private let base: String

    package init(of user: UserAddress) { base = "/rest/version/1/user/\(user)" }

    /// - Parameter account: whom the guest came to call, as the guest's client writes it: a token stays one.
    package init(ofGuestCalling account: String) { base = "/rest/version/1/anonymous/\(account)" }

    package func subscription(_ subscription: SubscriptionID) -> String { "\(base)/subscription/\(subscription)" }
    package func logRecord(_ record: SessionID) -> String { "\(base)/logRecord/\(record)" }
    package func channel(_ channel: ChannelID) -> String { "\(base)/websocket/\(channel.rawValue)" }
}

// MARK: - Writing

extension SubscribeResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("statusCode", statusCode)
            object.member("subscription", subscription)
            object.member("subscriptionParams", subscriptionParams)
        }
    }
}

extension SubscribeResponse.Parameters: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("expires", expires)
            object.member("service", service)
            object.member("assignedService", assignedService)
            object.member("notificationType", notificationType)
            object.member("notificationChannel", notificationChannel)
            object.member("turnActive", turnActive)
            if let turnCredentials { object.member("turnCredentials", turnCredentials) }
        }
    }
}

extension SubscribeResponse.TURNField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("username", username)
            object.member("password", password)
        }
    }
}

extension UnsubscribeResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("statusCode", statusCode) }
    }
}
