import CallControl
import Primitives
import TestSupport
import Testing

/// The notification channel (spidr-wire §4).
struct ChannelTests {
    private var rig = RegistrationRig()

    init() throws {
        try rig.subscribe()
        try rig.subscribe()
    }

    @Test mutating func `a notification goes to the sockets of those it is for`() throws {
        _ = try rig.open(1, on: 11)
        _ = try rig.open(2, on: 12)
        #expect(
            rig.notify([1, 2]) == [
                .transmit(rig.frame(1, 1_000), to: SocketID(11)), .transmit(rig.frame(2, 2_000), to: SocketID(12)),
            ])
        #expect(rig.notify([2, 7]) == [.transmit(rig.frame(2, 2_001), to: SocketID(12))])
    }

    @Test mutating func `what was missed is sent when the socket opens`() throws {
        #expect(rig.notify([1]) == [])
        #expect(rig.notify([1], .callEnd) == [])
        #expect(
            try rig.open(1, on: 11) == [
                .transmit(rig.frame(1, 1_000), to: SocketID(11)), .transmit(rig.frame(1, 1_001, .callEnd), to: SocketID(11)),
            ])
    }

    @Test mutating func `what may have been lost on a dead socket is sent again under its number`() throws {
        _ = try rig.open(1, on: 11)
        _ = rig.notify([1])
        #expect(rig.close(1, on: 11) == [])
        #expect(rig.notify([1], .callEnd) == [])
        #expect(
            try rig.open(1, on: 12) == [
                .replay(rig.frame(1, 1_000), to: SocketID(12)), .transmit(rig.frame(1, 1_001, .callEnd), to: SocketID(12)),
            ])
        #expect(rig.notify([1]) == [.transmit(rig.frame(1, 1_002), to: SocketID(12))])
    }

    @Test mutating func `after a minute nothing is sent again`() throws {
        _ = try rig.open(1, on: 11)
        _ = rig.notify([1])
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .seconds(60), .replayAge))
        #expect(rig.advance(by: .seconds(60)) == [])
        #expect(try rig.open(1, on: 11) == [])
    }

    @Test mutating func `what nobody fetched in time is counted as discarded`() throws {
        _ = rig.notify([1])
        #expect(rig.advance(by: .seconds(60)) == [.discarded(1, of: "s1")])
    }

    @Test mutating func `a second socket overrides the first`() throws {
        _ = try rig.open(1, on: 11)
        _ = rig.notify([1])
        #expect(
            try rig.open(1, on: 12) == [
                .transmit(rig.frame(1, 1_001, .websocketOverridden), to: SocketID(11)), .close(SocketID(11), .replaced),
                .replay(rig.frame(1, 1_000), to: SocketID(12)),
            ])
        #expect(rig.close(1, on: 11) == [], "the old one's end changes nothing")
        #expect(rig.notify([1]) == [.transmit(rig.frame(1, 1_002), to: SocketID(12))])
    }

    @Test mutating func `an unknown channel is refused`() {
        #expect(throws: RegistrationError.noSuchSubscription) { try rig.open(7, on: 11) }
        #expect(!rig.registration.channelExists(ChannelID("c7")))
        #expect(rig.registration.channelExists(ChannelID("c1")))
    }

    @Test mutating func `a socket that closes while its subscription ends takes the rest with it`() throws {
        _ = try rig.open(1, on: 11)
        let request = rig.registration.requestBegan(at: rig.clock.now)
        _ = try rig.registration.unsubscribe("s1", at: rig.now)
        #expect(rig.close(1, on: 11) == [])
        #expect(rig.registration.requestAnswered(request) == [])
    }

    // MARK: Requests

    @Test mutating func `a request is answered before anything is notified`() throws {
        _ = try rig.open(1, on: 11)
        let request = rig.registration.requestBegan(at: rig.clock.now)
        #expect(rig.notify([1]) == [])
        #expect(rig.registration.requestAnswered(request) == [.transmit(rig.frame(1, 1_000), to: SocketID(11))])
    }

    @Test mutating func `a notification does not wait for requests that begin after it`() throws {
        _ = try rig.open(1, on: 11)
        let first = rig.registration.requestBegan(at: rig.clock.now)
        _ = rig.notify([1])
        let second = rig.registration.requestBegan(at: rig.clock.now)
        _ = rig.notify([1], .callEnd)
        #expect(rig.registration.requestAnswered(first) == [.transmit(rig.frame(1, 1_000), to: SocketID(11))])
        #expect(rig.registration.requestAnswered(second) == [.transmit(rig.frame(1, 1_001, .callEnd), to: SocketID(11))])
    }

    @Test mutating func `a socket that opens meanwhile does not get ahead of the answer`() throws {
        let request = rig.registration.requestBegan(at: rig.clock.now)
        _ = rig.notify([1])
        #expect(try rig.open(1, on: 11) == [])
        #expect(rig.registration.requestAnswered(request) == [.transmit(rig.frame(1, 1_000), to: SocketID(11))])
    }

    @Test mutating func `a request that is not answered loses its hold after a while`() throws {
        _ = try rig.open(1, on: 11)
        let request = rig.registration.requestBegan(at: rig.clock.now)
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .seconds(10), .requestPatience))
        _ = rig.notify([1])
        #expect(rig.advance(by: .seconds(10)) == [.transmit(rig.frame(1, 1_000), to: SocketID(11))])
        #expect(rig.registration.requestAnswered(request) == [])
    }
}
