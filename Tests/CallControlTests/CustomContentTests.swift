import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What an application sends along reaches the other side with the notification that the request causes (spidr-wire
/// §8.4).
struct CustomContentTests {
    private static let content = CustomContent(
        parameters: [CustomParameter(name: "X-GPS", value: "1,2")],
        bodies: [CustomBody(contentType: "text/plain", contentDisposition: "render", body: "hello")])

    private func carried(_ actions: [CallAction], to leg: LegID) -> [String: CustomContent] {
        var carried: [String: CustomContent] = [:]
        for notification in actions.told.filter({ $0.leg == leg }).map(\.notification) {
            let content = CustomContent(parameters: notification.customParameters, bodies: notification.customBodies)
            if !content.isEmpty { carried[notification.type.rawValue] = content }
        }
        return carried
    }

    /// The types of the notifications that carried the content, by the device that was told.
    private func carriers(in world: CallWorld) -> [SubscriptionID: [String]] {
        var carriers: [SubscriptionID: [String]] = [:]
        for (device, notifications) in world.told {
            for notification in notifications {
                let content = CustomContent(
                    parameters: notification.customParameters, bodies: notification.customBodies)
                guard !content.isEmpty else { continue }
                #expect(content == Self.content)
                carriers[device, default: []].append(notification.type.rawValue)
            }
        }
        return carriers
    }

    @Test(arguments: ["offer", ""]) func `of a start and of an answer`(_ offer: String) throws {
        var rig = CallRig()
        var random = SeededRandomSource(seed: 1)
        let started = try rig.call.start(
            CallStartRequest(callee: CallRig.bob, sdp: offer, content: Self.content), media: .direct, at: rig.clock.now,
            random: &random)
        #expect(carried(started, to: .callee) == ["call": Self.content])
        #expect(carried(started, to: .caller).isEmpty)
        let answered = try rig.call.answer(
            by: .callee, CallAnswerRequest(sdp: "description", content: Self.content), at: rig.clock.now,
            random: &random)
        #expect(
            carried(answered, to: .caller) == [offer.isEmpty ? "startCallUpdate" : "respondCallUpdate": Self.content])
        #expect(carried(answered, to: .callee).isEmpty)
    }

    @Test func `of an offer and its answer within a call, and alone`() throws {
        var rig = try MidCallRig()
        let offer = CallUpdateRequest(sdp: ScriptedDescription.audio("caller", .inactive), content: Self.content)
        let offered = try rig.call.offer(by: .caller, offer, at: rig.clock.now, random: &rig.random)
        #expect(carried(offered, to: .callee) == ["startCallUpdate": Self.content])
        let answer = CallUpdateRequest(
            sdp: ScriptedDescription.audio("callee", .inactive, setup: "active"), content: Self.content)
        let answered = try rig.call.respond(by: .callee, answer, at: rig.clock.now, random: &rig.random)
        #expect(carried(answered, to: .caller) == ["respondCallUpdate": Self.content])
        #expect(
            carried(try rig.call.send(Self.content, by: .callee), to: .caller) == ["customParameters": Self.content])
        #expect(carried(try rig.call.send(Self.content, by: .callee), to: .callee).isEmpty)
    }

    @Test func `of a join comes back to whoever joined, and goes to nobody else`() throws {
        let world = try CallWorld.joined(with: Self.content)
        #expect(carriers(in: world) == ["a1": ["respondCallUpdate"]])
        #expect(world.log("bob1") == ["startCallUpdate"] && world.log("carol1") == ["startCallUpdate"])
    }

    /// In a conference no leg is told of another one's descriptions, so that the content is told alone.
    @Test(arguments: [.offer, .requestForOffer, .response] as [ConferenceRequest])
    func `of a description in a conference reaches all other legs alone`(_ request: ConferenceRequest) throws {
        var world = try CallWorld.joined()
        let conference = CallID(3)
        let bob = try #require(world.calls[conference]?.legs.first { $0.party.user == MidCallRig.bob }?.id)
        _ = world.takeNews()
        try world.act(conference) { call, random, now throws(CallError) in
            let sdp = ScriptedDescription.audio("callee", .sendReceive, setup: request.setup, version: 9)
            let update = CallUpdateRequest(sdp: request == .requestForOffer ? "" : sdp, content: Self.content)
            return switch request {
            case .offer, .requestForOffer: try call.offer(by: bob, update, at: now, random: &random)
            case .response: try call.respond(by: bob, update, at: now, random: &random)
            }
        }
        #expect(carriers(in: world) == ["a1": ["customParameters"], "carol1": ["customParameters"]])
    }

    enum ConferenceRequest: Sendable {
        case offer, requestForOffer, response

        var setup: String { self == .response ? "active" : "actpass" }
    }

    /// A leg that asks for an offer gets one of the gateway if the other leg cannot be asked.
    @Test func `of a request for an offer that the gateway answers reaches the other leg alone`() throws {
        var rig = try MidCallRig()
        _ = try rig.offer(by: .caller, .sendReceive)
        let asked = try rig.call.offer(
            by: .caller, CallUpdateRequest(sdp: "", content: Self.content), at: rig.clock.now, random: &rig.random)
        #expect(carried(asked, to: .callee) == ["customParameters": Self.content])
        #expect(carried(asked, to: .caller).isEmpty)
    }

    @Test func `alone before the answer too, but not after the end`() throws {
        var rig = CallRig()
        #expect(throws: CallError.noSuchCall) { try rig.call.send(Self.content, by: .caller) }
        _ = try rig.start()
        #expect(
            carried(try rig.call.send(Self.content, by: .caller), to: .callee) == ["customParameters": Self.content])
        _ = rig.take(.drain)
        #expect(throws: CallError.noSuchCall) { try rig.call.send(Self.content, by: .caller) }
    }
}
