import CallControl
import CallRuntime
import Primitives
import Registration
import Testing

/// What one network may take of all subscriptions.
@Suite struct NetworkShareTests {
    private let home = SourceNetwork(IPAddress(v4: 0xC000_0201))
    private let office = SourceNetwork(IPAddress(v4: 0xC000_0202))

    private func request(from network: SourceNetwork, correlator: String? = nil) -> SubscriptionRequest {
        SubscriptionRequest(services: ["call"], clientCorrelator: correlator, network: network)
    }

    /// Subscribes as soon as there is room, of which the switchboard learns a moment after a subscription has ended.
    private func subscribe(_ rig: RuntimeRig, _ user: UserAddress, from network: SourceNetwork) async {
        while (try? await rig.switchboard.subscribe(user, request(from: network))) == nil { await Task.yield() }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a network has its places back when subscriptions end, or are refused`() async throws {
        let configuration = LocalSwitchboard.Configuration(media: .direct, networks: .init(maximumSubscriptions: 2))
        try await RuntimeRig(configuration).serve { rig in
            let (alice, bob, carol) = (RuntimeRig.alice, RuntimeRig.bob, RuntimeRig.carol)
            let first = try await rig.switchboard.subscribe(alice, request(from: home))
            // What is refused for another reason takes no place.
            for _ in 0..<3 {
                await #expect(throws: RegistrationError.unsupportedServices(["fax"])) {
                    try await rig.switchboard.subscribe(bob, .init(services: ["fax"], network: home))
                }
            }
            let second = try await rig.switchboard.subscribe(bob, request(from: home))
            await #expect(throws: RegistrationError.limitOfNetwork) {
                try await rig.switchboard.subscribe(carol, request(from: home))
            }
            _ = try await rig.switchboard.subscribe(carol, request(from: office))
            try await rig.switchboard.unsubscribe(alice, first.subscription)
            await subscribe(rig, carol, from: home)
            // A subscription that is extended from elsewhere counts where it was made.
            _ = try await rig.switchboard.extend(bob, second.subscription, request(from: office))
            _ = try await rig.switchboard.subscribe(alice, request(from: office))
            await #expect(throws: RegistrationError.limitOfNetwork) {
                try await rig.switchboard.subscribe(alice, request(from: home))
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a device that subscribes anew is not refused by a full network`() async throws {
        let configuration = LocalSwitchboard.Configuration(media: .direct, networks: .init(maximumSubscriptions: 1))
        try await RuntimeRig(configuration).serve { rig in
            let (alice, bob) = (RuntimeRig.alice, RuntimeRig.bob)
            for _ in 0..<3 {
                _ = try await rig.switchboard.subscribe(alice, request(from: home, correlator: "phone"))
            }
            var alone = request(from: home)
            alone.forceLogOut = true
            _ = try await rig.switchboard.subscribe(alice, alone)
            for user in [alice, bob] {
                await #expect(throws: RegistrationError.limitOfNetwork) {
                    try await rig.switchboard.subscribe(user, request(from: home, correlator: "tablet"))
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `one account leaves most of the rate of its network to others, also if it is refused`() async throws {
        let configuration = LocalSwitchboard.Configuration(
            media: .direct, networks: .init(rate: .init(burst: 5, interval: .seconds(3_600))),
            subscriptionRate: .init(burst: 3, interval: .seconds(60)))
        try await RuntimeRig(configuration).serve { rig in
            let (alice, bob) = (RuntimeRig.alice, RuntimeRig.bob)
            for _ in 0..<3 {
                await #expect(throws: RegistrationError.unsupportedServices(["fax"])) {
                    try await rig.switchboard.subscribe(alice, .init(services: ["fax"], network: home))
                }
            }
            for _ in 0..<10 {
                await #expect(throws: RegistrationError.tooOften(retryAfter: .seconds(60))) {
                    try await rig.switchboard.subscribe(alice, request(from: home))
                }
            }
            for _ in 0..<3 { _ = try await rig.switchboard.subscribe(bob, request(from: home)) }
        }
    }
}
