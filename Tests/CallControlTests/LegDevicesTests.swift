import CallControl
import CallSupport
import Testing

/// The devices of a leg, few and many of them.
struct LegDevicesTests {
    /// On both sides of the number from which there is a table.
    @Test(arguments: [1, 8, 9, 10, 900])
    func `each device keeps its place, whatever is added and replaced`(_ count: Int) {
        let devices = (0..<count).map { Device(SubscriptionID("\($0)")) }
        var added = LegDevices()
        #expect(devices.map { added.add($0) } == Array(0..<count))
        #expect(devices.map { added.add($0) } == Array(0..<count) && added.all == devices)
        #expect(added == LegDevices(devices))
        #expect(devices.map { added.place(of: $0.subscription) } == Array(0..<count))
        added.replace("0", with: "new")
        #expect(added.place(of: "0") == nil && added.place(of: "new") == 0)
        added.replace("nobody", with: "newer")
        #expect(added.place(of: "newer") == nil && added.all.count == count)
    }

    @Test func `a subscription that is there replaces no other`() {
        var devices = LegDevices([Device("a"), Device("b")])
        devices.replace("a", with: "b")
        #expect(devices == LegDevices([Device("a"), Device("b")]))
    }

    @Test func `a device that says when it rings is told apart only by itself`() {
        let silent = Device("silent")
        let first = Device("first", sendsRingingFeedback: true), second = Device("second", sendsRingingFeedback: true)
        #expect(LegDevices([silent]).onlyOneThatRings == nil)
        #expect(LegDevices([silent, first]).onlyOneThatRings == "first")
        #expect(LegDevices([first, silent, second]).onlyOneThatRings == nil)
    }
}
