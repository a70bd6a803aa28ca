import CallControl
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// Random subscriptions, sockets, requests and notifications of one user.
struct RegistrationPropertyTests {
    /// What the user's clients and the calls would see.
    private struct Observation {
        /// The last event on each socket that is still open.
        var sockets: [SocketID: UInt64] = [:]
        var channels: [SocketID: ChannelID] = [:]
        var everTransmitted: [[String]: NotificationFrame] = [:]
        /// Open requests, with the notifications that must not be seen before each is answered.
        var held: [UInt64: Set<String>] = [:]
        var subscriptions = 0
        /// How many of them each network has.
        var networks: [SourceNetwork: Int] = [:]
        var devices: Set<SubscriptionID> = []
        /// Sessions by which this test names its notifications.
        var delivered: [String: Int] = [:]

        /// What is kept for the next process: the notifications, and the number up to which some were transmitted last.
        var kept: Set<[String]> = []
        var mark: UInt64 = 0

        mutating func watch(_ actions: [RegistrationAction]) {
            for action in actions {
                switch action {
                case .store(.notified(_, let frame)): kept.insert(frame.name)
                case .store(.transmitted(_, let number)): mark = number
                case .store: break
                case .transmit(let frame, let socket):
                    if frame.notice != .overridden {
                        #expect(kept.contains(frame.name) && frame.eventID <= mark, "nothing is sent that is not kept")
                    }
                    #expect(
                        everTransmitted.updateValue(frame, forKey: frame.name) == nil, "the first time is not a replay")
                    see(frame, on: socket)
                case .replay(let frame, let socket):
                    #expect(everTransmitted[frame.name] == frame, "a replay repeats number, stamp and text")
                    see(frame, on: socket)
                case .close(let socket, _):
                    #expect(sockets.removeValue(forKey: socket) != nil, "only open sockets are closed, and once")
                case .inform(_, _, .joined(let device, let former, _)):
                    if let former { #expect(devices.remove(former) != nil) }
                    #expect(devices.insert(device.subscription).inserted)
                case .inform(_, _, .left(let id, let othersRemain)):
                    #expect(devices.remove(id) != nil)
                    if othersRemain { #expect(!devices.isEmpty) }
                case .inform(_, _, .listens(let device, _)): #expect(devices.contains(device))
                case .inform(_, _, .notWoken), .inform(_, _, .userRemoved):
                    Issue.record("no push fails here, and no account is removed")
                case .inform(_, _, .channelsOpen(let areOpen)):
                    #expect(areOpen != sockets.isEmpty, "somebody listens, or nobody")
                case .inform(_, _, .qualityReporting(let receivers)):
                    #expect(Set(receivers).count == receivers.count, "nobody is told twice")
                case .discarded(let count, _): #expect(count > 0)
                case .tell, .push, .keptMessagesChanged: break
                case .subscriptionsChanged(let difference): subscriptions += difference
                case .networkChanged(.found(let network)): networks[network, default: 0] += 1
                case .networkChanged(.left(let network)): networks[network, default: 0] -= 1
                }
            }
        }

        private mutating func see(_ frame: NotificationFrame, on socket: SocketID) {
            guard let last = sockets[socket] else {
                Issue.record("nothing goes to a closed socket")
                return
            }
            #expect(frame.eventID > last, "order is kept")
            sockets[socket] = frame.eventID
            guard let name = frame.notice.session?.rawValue else { return }
            delivered[name, default: 0] += 1
            #expect(!held.values.contains { $0.contains(name) }, "the answer comes first")
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `order, numbers and answers hold for any sequence of inputs`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        // Patience beyond the test: a request that is never answered is another test's matter.
        var rig = RegistrationRig(
            .init(services: ["call", "presence"], maximumSubscriptions: 4, requestPatience: .seconds(100_000)))
        var observed = Observation()
        var (count, lastSocket, isAttached) = (0, UInt64(0), false)
        for number in 0..<1_500 {
            let target = max(1, count - Int.random(in: 0...4, using: &random))
            do throws(RegistrationError) {
                switch Int.random(in: 0..<18, using: &random) {
                case 0:
                    let services = [["call"], ["presence"], ["call", "presence"], ["fax"]].randomElement(
                        using: &random)!
                    let correlator = ["phone", "tablet", nil, nil].randomElement(using: &random)!
                    let request = SubscriptionRequest(
                        services: services, forceLogOut: Int.random(in: 0..<8, using: &random) == 0,
                        clientCorrelator: correlator, network: .random(using: &random))
                    let identity = SubscriptionIdentity(
                        subscription: SubscriptionID("s\(count + 1)"), channel: ChannelID("c\(count + 1)"),
                        firstEventID: UInt64(count + 1) << 32)
                    let made = try rig.registration.subscribe(request, as: identity, at: rig.now)
                    if let network = request.network { observed.networks[network, default: 0] += 1 }
                    observed.watch(made.actions)
                    count += 1
                case 1:
                    let wishes = SubscriptionRequest(
                        services: [["call"], ["presence"], []].randomElement(using: &random)!,
                        network: .random(using: &random))
                    observed.watch(
                        try rig.registration.extend(SubscriptionID("s\(target)"), wishes, at: rig.now).actions)
                case 2: observed.watch(try rig.registration.unsubscribe(SubscriptionID("s\(target)"), at: rig.now))
                case 3...5:
                    lastSocket += 1
                    observed.sockets[SocketID(lastSocket)] = 0
                    observed.channels[SocketID(lastSocket)] = ChannelID("c\(target)")
                    do throws(RegistrationError) {
                        let actions = try rig.registration.channelOpened(
                            ChannelID("c\(target)"), on: SocketID(lastSocket), at: rig.now)
                        observed.watch(actions)
                    } catch {
                        observed.sockets[SocketID(lastSocket)] = nil
                        throw error
                    }
                case 6:
                    guard let socket = observed.sockets.keys.min(by: { $0.rawValue < $1.rawValue }) else { continue }
                    observed.sockets[socket] = nil
                    for channel in 1...max(1, count) {
                        observed.watch(
                            rig.registration.channelClosed(ChannelID("c\(channel)"), on: socket, at: rig.clock.now))
                    }
                case 7...10:
                    let receivers = (0...4).map { SubscriptionID("s\(count - $0)") }
                    for request in observed.held.keys { observed.held[request]?.insert("n\(number)") }
                    observed.watch(
                        rig.registration.notify(
                            receivers, .test(.callEnd, about: SessionID("n\(number)")), at: rig.now))
                case 11, 12: observed.held[rig.registration.requestStarted(at: rig.clock.now)] = []
                case 13:
                    guard let request = observed.held.keys.randomElement(using: &random) else { continue }
                    observed.held[request] = nil
                    observed.watch(rig.registration.requestAnswered(request, at: rig.clock.now))
                case 14, 15:
                    guard let (socket, last) = observed.sockets.randomElement(using: &random) else { continue }
                    let channel = observed.channels[socket]!
                    observed.watch(rig.registration.confirmed(channel, through: last, at: rig.now) ?? [])
                case 16:
                    guard !isAttached else { continue }
                    observed.devices = Set(
                        rig.registration.attach("A", to: .init(call: CallID(1), leg: .caller)).map(\.subscription))
                    isAttached = !observed.devices.isEmpty
                default:
                    rig.clock.advance(by: .seconds(Int.random(in: 0...900, using: &random)))
                    observed.watch(rig.registration.timeout(at: rig.now))
                }
            } catch {
                // Refusing is a fine answer; what follows shows that nothing has changed.
            }
            #expect(0...4 ~= observed.subscriptions)
            #expect(observed.networks.values.allSatisfy { $0 >= 0 })
            #expect(observed.networks.values.reduce(0, +) <= observed.subscriptions)
        }
        for request in observed.held.keys.sorted() {
            observed.held[request] = nil
            observed.watch(rig.registration.requestAnswered(request, at: rig.clock.now))
        }
        rig.clock.advance(by: .seconds(90_000))
        observed.watch(rig.registration.timeout(at: rig.now))
        rig.clock.advance(by: .seconds(90_000))
        observed.watch(rig.registration.timeout(at: rig.now))
        rig.registration.detach("A")
        #expect(observed.subscriptions == 0)
        #expect(observed.networks.values.allSatisfy { $0 == 0 }, "every place is given back")
        #expect(observed.sockets.isEmpty, "every socket was closed with its subscription")
        #expect(rig.registration.isIdle)
        #expect(rig.registration.nextDeadline == nil)
    }
}

extension NotificationFrame {
    fileprivate var name: [String] { [channel.rawValue, "\(eventID)"] }
}

extension SourceNetwork {
    /// One of three, or an unknown one.
    fileprivate static func random(using random: inout SeededRandomSource) -> SourceNetwork? {
        let host = UInt32.random(in: 0...3, using: &random)
        return host == 0 ? nil : SourceNetwork(IPAddress(v4: 0xC000_0200 + host))
    }
}
