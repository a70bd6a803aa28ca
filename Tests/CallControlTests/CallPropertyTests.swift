import CallControl
import CallSupport
import Primitives
import SPiDR
import TestSupport
import Testing

/// Random interleavings of what two ends, their devices, the media plane and the clock may do.
struct CallPropertyTests {
    /// Watches the actions of one call and says what is wrong with them.
    private struct Observation {
        var told: [LegID: Set<SubscriptionID>]
        var ends: [LegID: Int] = [:]
        var ringing = 0
        var updates: [LegID: Int] = [:]
        var cancels = 0
        var hasEnded = false
        var preparedMedia = 0
        var isMediaReleased = false

        mutating func watch(_ actions: [CallAction]) {
            for action in actions {
                #expect(!hasEnded, "nothing follows the end")
                switch action {
                case .event(let event):
                    switch event.fact {
                    case .established: #expect(updates[.caller] == 1)
                    case .ended: hasEnded = true
                    default: if let told = action.told { watch(told.leg, told.receivers, told.notification) }
                    }
                case .prepareMedia, .prepareHeadless, .connectMedia:
                    #expect(!isMediaReleased)
                    preparedMedia += 1
                case .releaseMedia:
                    #expect(!isMediaReleased)
                    isMediaReleased = true
                case .play, .stopPlaying, .sendDigits, .say, .route, .releaseLeg: #expect(!isMediaReleased)
                case .detach, .peerCall:
                    Issue.record("\(action) without a transfer")
                }
            }
        }

        private mutating func watch(_ leg: LegID, _ receivers: [SubscriptionID], _ notification: Notification) {
            #expect(!receivers.isEmpty)
            #expect(Set(receivers).count == receivers.count, "nobody is told twice")
            #expect(ends[leg, default: 0] == 0, "nobody is told anything after the end")
            if notification.type == .call { told[leg, default: []].formUnion(receivers) }
            #expect(told[leg, default: []].isSuperset(of: receivers), "nobody is told of a call that was not announced")
            switch notification.type {
            case .ringing: ringing += 1
            case .respondCallUpdate, .startCallUpdate: updates[leg, default: 0] += 1
            case .callCancel: cancels += 1
            case .callEnd: ends[leg, default: 0] += 1
            default: break
            }
            #expect(ringing <= 1 && updates[leg, default: 0] <= 1 && cancels <= 1)
            if notification.type == .ringing { #expect(updates.isEmpty, "what has been answered does not ring") }
        }
    }

    private func randomStep(_ random: inout SeededRandomSource, _ number: Int) -> CallStep {
        let leg = Bool.random(using: &random) ? LegID.caller : .callee
        let device = ["a1", "b1", "b2", "x\(number - 1)", "x\(number - 2)"].randomElement(using: &random).map {
            SubscriptionID($0)
        }!
        switch Int.random(in: 0..<22, using: &random) {
        case 0...2: return .ringing(leg)
        case 3, 4: return .answer(leg)
        case 5: return .reject(leg)
        case 6: return .end(leg, Bool.random(using: &random) ? "reason" : nil)
        case 7: return .audit
        case 8...10:
            let joining = Device(SubscriptionID("x\(number)"), sendsRingingFeedback: Bool.random(using: &random))
            return .joined(leg, joining, replacing: Bool.random(using: &random) ? device : nil)
        case 11, 12: return .left(leg, device, othersRemain: Int.random(in: 0..<4, using: &random) > 0)
        case 13...15: return .media(leg, [.checked, .secured, .flowing].randomElement(using: &random)!)
        case 16: return .mediaFailed(leg)
        case 17: return .wait(.seconds(Int.random(in: 0...70, using: &random)))
        case 18: return .wait(.seconds(1))
        case 19, 20: return .respond(leg)
        default: return Int.random(in: 0..<10, using: &random) == 0 ? .drain : .audit
        }
    }

    /// A subscription that replaces one that was told knows what that one knew.
    private func inherits(_ step: CallStep, _ observed: inout Observation) {
        if case .joined(let leg, let device, let former?) = step, observed.told[leg, default: []].contains(former) {
            observed.told[leg, default: []].insert(device.subscription)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `each leg ends once, and nobody hears what is not for them`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for round in 0..<100 {
            let isAnchored = round == 0
            var rig = CallRig(isAnchored: isAnchored, seed: seed)
            var observed = Observation(told: [.caller: ["a1"]])
            var log = EventLog(from: rig.clock.now)
            func watch(_ actions: [CallAction]) {
                observed.watch(actions)
                log.add(actions, at: rig.clock.now)
            }
            // Every third call begins without an offer.
            let offer =
                try isAnchored ? Fixtures.text("sdp/chromium-156/offer-audio-video.sdp") : round % 3 == 1 ? "" : "offer"
            let answer = try isAnchored ? Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp") : "answer"
            watch(try rig.start(offer))
            for number in 0..<60 {
                let step = randomStep(&random, number)
                let before = rig.call
                inherits(step, &observed)
                do throws(CallError) {
                    if case .answer(let leg) = step {
                        watch(try rig.answer(answer, by: leg))
                    } else {
                        watch(try rig.perform(step))
                    }
                } catch {
                    #expect(rig.call == before, "a refused request changes nothing")
                }
                #expect(observed.hasEnded == (rig.call.legState(.caller) == .ended))
                if let deadline = rig.call.nextDeadline {
                    #expect(deadline.time > rig.clock.now, "what was due has been done")
                }
            }
            watch(rig.call.drain(at: rig.clock.now))
            #expect(observed.hasEnded)
            if isAnchored { #expect(observed.isMediaReleased) } else { #expect(observed.preparedMedia == 0) }
            try log.expectToReplay()
        }
    }
}
