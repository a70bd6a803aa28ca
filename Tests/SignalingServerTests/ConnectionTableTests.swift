import Observability
import Primitives
import SignalingServer
import TestSupport
import Testing

@Suite struct `Connection table` {
    private typealias Network = SourceNetwork
    private let here = Network(IPAddress(v4: 0x0A00_0001))
    private let there = Network(IPAddress(v4: 0x0A00_0002))

    private func table(maximum: Int = 4, perNetwork: Int = 3) -> ConnectionTable {
        ConnectionTable(ConnectionTable.Configuration(maximum: maximum, perNetwork: perNetwork))
    }

    /// Longest waited for is who came first.
    private func inOrder(_ id: ConnectionTable.ID) -> UInt64? { 100 + id }

    @Test func `up to its limits everybody is admitted, and nobody leaves`() {
        var table = self.table()
        for id in 1...3 {
            #expect(table.admit(UInt64(id), from: here, waitingSince: inOrder) == .admitted(inPlaceOf: []))
        }
        #expect(table.admit(4, from: there, waitingSince: inOrder) == .admitted(inPlaceOf: []))
        #expect(table.count == 4)
    }

    @Test func `one more from an address takes the place of the one of that address that was waited for longest`() {
        var table = self.table(maximum: 100)
        _ = table.admit(1, from: there, waitingSince: inOrder)
        for id in 2...4 { _ = table.admit(UInt64(id), from: here, waitingSince: inOrder) }
        #expect(table.admit(5, from: here, waitingSince: { $0 == 2 ? nil : 200 - $0 }) == .admitted(inPlaceOf: [4]))
        #expect(table.count == 4)
    }

    @Test func `a reverse proxy has as many connections as the port, and gives way only when that is full`() {
        var table = self.table(maximum: 6)
        for id in 1...6 {
            #expect(
                table.admit(UInt64(id), from: here, isProxy: true, waitingSince: inOrder) == .admitted(inPlaceOf: []))
        }
        #expect(table.admit(7, from: here, isProxy: true, waitingSince: inOrder) == .admitted(inPlaceOf: [1]))
    }

    @Test func `one more from an address whose connections are all worked on is refused`() {
        var table = self.table(maximum: 100)
        for id in 1...3 { _ = table.admit(UInt64(id), from: here, waitingSince: inOrder) }
        #expect(table.admit(4, from: here, waitingSince: { _ in nil }) == .refused(.address))
        #expect(table.admit(5, from: there, waitingSince: { _ in nil }) == .admitted(inPlaceOf: []))
        table.remove(1)
        #expect(table.admit(6, from: here, waitingSince: { _ in nil }) == .admitted(inPlaceOf: []))
    }

    @Test func `channels do not count for their address, but for the port`() {
        var table = self.table()
        for id in 1...4 {
            _ = table.admit(UInt64(id), from: here, waitingSince: { _ in nil })
            table.becameChannel(UInt64(id))
        }
        #expect(table.admit(5, from: here, waitingSince: inOrder) == .refused(.full))
        table.remove(2)
        #expect(table.admit(6, from: here, waitingSince: inOrder) == .admitted(inPlaceOf: []))
    }

    @Test func `a full port makes room at the cost of the address with the most connections`() {
        var table = self.table(perNetwork: 100)
        _ = table.admit(1, from: there, waitingSince: inOrder)
        for id in 2...4 { _ = table.admit(UInt64(id), from: here, waitingSince: inOrder) }
        // The first has been waited for longer, but its address has only the one.
        #expect(table.admit(5, from: there, waitingSince: inOrder) == .admitted(inPlaceOf: [2]))
        #expect(table.admit(6, from: there, waitingSince: { $0 < 3 ? 1 : nil }) == .admitted(inPlaceOf: [1]))
    }

    @Test func `a full port in which nobody is waited for refuses`() {
        var table = self.table(perNetwork: 100)
        for id in 1...4 { _ = table.admit(UInt64(id), from: here, waitingSince: inOrder) }
        #expect(table.admit(5, from: there, waitingSince: { _ in nil }) == .refused(.full))
        #expect(table.count == 4)
    }

    @Test func `the addresses of one IPv6 network count as one`() {
        var table = self.table(perNetwork: 2)
        for id in 1...2 {
            _ = table.admit(
                UInt64(id), from: Network(IPAddress(v6: 0x2001_0DB8_0000_0001, UInt64(id))), waitingSince: inOrder)
        }
        #expect(
            table.admit(3, from: Network(IPAddress(v6: 0x2001_0DB8_0000_0001, 99)), waitingSince: { _ in nil })
                == .refused(.address))
        #expect(
            table.admit(4, from: Network(IPAddress(v6: 0x2001_0DB8_0000_0002, 99)), waitingSince: inOrder)
                == .admitted(inPlaceOf: []))
    }

    @Test func `whatever happens, no limit is passed and every place is given back`() {
        var random = SeededRandomSource(seed: 20_260_729)
        var table = self.table(maximum: 20, perNetwork: 6)
        var open: Set<ConnectionTable.ID> = []
        let networks = (1...5).map { Network(IPAddress(v4: $0)) }
        var plain: [ConnectionTable.ID: Network] = [:]
        for id in 1...5_000 as ClosedRange<ConnectionTable.ID> {
            let network = networks[Int(random.next() % 5)]
            let busy = random.next() % 3
            if case .admitted(let leaving) = table.admit(id, from: network, waitingSince: { $0 % 3 == busy ? nil : $0 })
            {
                open.subtract(leaving)
                for id in leaving { plain[id] = nil }
                open.insert(id)
                plain[id] = network
            }
            if random.next() % 4 == 0, let channel = plain.keys.min() {
                table.becameChannel(channel)
                plain[channel] = nil
            }
            if random.next() % 3 == 0, let gone = open.min() {
                let wasThere = table.remove(gone)
                #expect(wasThere)
                open.remove(gone)
                plain[gone] = nil
            }
            #expect(table.count == open.count)
            #expect(open.count <= 20)
            for network in networks { #expect(plain.values.count { $0 == network } <= 6) }
        }
    }

    @Test func `a connection that a proxy passes on counts for its client, and can be one too many there`() {
        var table = self.table(maximum: 100)
        for id in 1...3 { _ = table.admit(UInt64(id), from: here, waitingSince: inOrder) }
        for id in 4...8 { _ = table.admit(UInt64(id), from: there, isProxy: true, waitingSince: inOrder) }
        #expect(table.attribute(4, to: here, waitingSince: inOrder) == .admitted(inPlaceOf: [1]))
        #expect(table.attribute(5, to: here, waitingSince: { _ in nil }) == .refused(.address))
        #expect(table.attribute(6, to: here, isProxy: true, waitingSince: { _ in nil }) == .admitted(inPlaceOf: []))
        #expect(table.count == 6)
        table.becameChannel(4)
        #expect(table.count == 6)
        // It gave way before its header came.
        #expect(table.attribute(1, to: here, waitingSince: inOrder) == .admitted(inPlaceOf: []))
        #expect(table.count == 6)
    }
}
