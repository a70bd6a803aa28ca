import CallControl
import Registration
import SPiDR
import Primitives
import TestSupport

/// One user's registration on a virtual clock; subscriptions are called s1, s2, … in the order they begin, their
/// channels c1, c2, …, and the events of each start at 1,000 times its number.
struct RegistrationRig {
    static let user = UserAddress(parsing: "ann@example.com")!
    var clock = VirtualClock()
    var registration: Registration
    private var count = 0
    /// What has to outlive the process, of all inputs that went through the rig.
    var stored: [RegistrationChange] = []

    /// - Parameter digests: Whether clients are given time for the answers to their requests; most tests are not about
    ///   that.
    init(_ configuration: Registration.Configuration = .init(), digests: Bool = false) {
        var configuration = configuration
        if !digests {
            (configuration.answerTime, configuration.sessionTime, configuration.closeDelay) = (.zero, .zero, .zero)
        }
        registration = Registration(user: Self.user, configuration: configuration, firstRequest: 1)
    }

    /// When the virtual clock started, milliseconds since 1970.
    var epoch: Int64 = 42
    var now: Moment { Moment(clock.now, epochMilliseconds: epoch) }

    @discardableResult
    mutating func subscribe(
        expires: Duration? = nil, services: [String] = ["call"], feedback: Bool = false, forceLogOut: Bool = false,
        correlator: String? = nil, longest: Duration? = nil, allowed: Set<String>? = nil
    ) throws(RegistrationError) -> (grant: SubscriptionGrant, actions: [RegistrationAction]) {
        var request = SubscriptionRequest(
            expires: expires, services: services, sendsRingingFeedback: feedback, forceLogOut: forceLogOut,
            clientCorrelator: correlator)
        request.longestExpires = longest
        request.allowedServices = allowed
        let number = count + 1
        let identity = SubscriptionIdentity(
            subscription: SubscriptionID("s\(number)"), channel: ChannelID("c\(number)"),
            firstEventID: UInt64(number) * 1_000)
        let (grant, actions) = try registration.subscribe(request, as: identity, at: now)
        count = number
        return (grant, note(actions))
    }

    /// Notes what has to outlive the process.
    ///
    /// - Returns: the other actions.
    mutating func note(_ actions: [RegistrationAction]) -> [RegistrationAction] {
        for case .store(let change) in actions { stored.append(change) }
        return actions.carriedOut
    }

    mutating func extend(
        _ number: Int, expires: Duration? = nil, services: [String] = ["call"], longest: Duration? = nil
    ) throws(RegistrationError) -> (grant: SubscriptionGrant, actions: [RegistrationAction]) {
        var request = SubscriptionRequest(expires: expires, services: services)
        request.longestExpires = longest
        let (grant, actions) = try registration.extend(SubscriptionID("s\(number)"), request, at: now)
        return (grant, note(actions))
    }

    mutating func open(
        _ number: Int, on socket: UInt64, since latest: UInt64? = nil
    ) throws(RegistrationError) -> [RegistrationAction] {
        note(try registration.channelOpened(ChannelID("c\(number)"), on: SocketID(socket), since: latest, at: now))
    }

    mutating func confirm(_ number: Int, through eventID: UInt64) -> [RegistrationAction] {
        note(registration.confirmed(ChannelID("c\(number)"), through: eventID, at: now) ?? [])
    }

    mutating func close(_ number: Int, on socket: UInt64) -> [RegistrationAction] {
        note(registration.channelClosed(ChannelID("c\(number)"), on: SocketID(socket), at: clock.now))
    }

    mutating func notify(_ numbers: [Int], _ type: Notification.EventType = .ringing) -> [RegistrationAction] {
        note(registration.notify(numbers.map { SubscriptionID("s\($0)") }, .test(type), at: now))
    }

    mutating func advance(by duration: Duration) -> [RegistrationAction] {
        clock.advance(by: duration)
        return note(registration.timeout(at: now))
    }

    func frame(_ number: Int, _ eventID: UInt64, _ type: Notification.EventType = .ringing) -> NotificationFrame {
        NotificationFrame(
            eventID: eventID, time: 42, user: Self.user, channel: ChannelID("c\(number)"),
            notice: .test(type))
    }

    func frame(_ number: Int, _ eventID: UInt64, notice: Notice) -> NotificationFrame {
        NotificationFrame(
            eventID: eventID, time: epoch, user: Self.user, channel: ChannelID("c\(number)"), notice: notice)
    }
}

extension [RegistrationAction] {
    /// Without what is kept for the next process.
    var carriedOut: [RegistrationAction] {
        filter { if case .store = $0 { false } else { true } }
    }
}
