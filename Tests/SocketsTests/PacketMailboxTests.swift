import Primitives
import Sockets
import Testing

/// Packets and values that one thread hands to another.
@Suite struct PacketMailboxTests {
    private static func path(_ port: UInt16) -> Path {
        Path(local: SocketIndex(5), remote: SocketAddress(IPAddress(v4: 0xC000_0207), port: port))
    }

    @Test func `packets come as they were sent, with their paths, over more rounds than there is room for`() throws {
        let mailbox = PacketMailbox(capacity: 3, wakeUp: try WakeUp())
        var pool = DatagramPool(sockets: [])
        for round in 0..<10 {
            pool.emptySlots()
            for number in 0..<3 where number <= round % 3 {
                #expect(
                    mailbox.send(
                        [UInt8(round), UInt8(number)], over: Self.path(UInt16(number)),
                        number == 0 ? .outbound : .inbound))
            }
            #expect(mailbox.count == round % 3 + 1)
            for number in 0...(round % 3) {
                let next = pool.receive(from: mailbox)
                let taken = try #require(next)
                let (bytes, remote) = ([UInt8](copying: pool.datagram(taken.slot)), pool.remote(taken.slot))
                #expect(bytes == [UInt8(round), UInt8(number)])
                #expect(taken.path == Self.path(UInt16(number)))
                #expect(remote == taken.path.remote)
                #expect(taken.direction == (number == 0 ? .outbound : .inbound))
            }
            let none = pool.receive(from: mailbox) == nil
            #expect(none)
        }
    }

    @Test func `a full one refuses, until something has been taken`() throws {
        let mailbox = PacketMailbox(capacity: 2, wakeUp: try WakeUp())
        var pool = DatagramPool(sockets: [], slots: 1)
        let sent = (0..<3).map { mailbox.send([UInt8($0)], over: Self.path(1), .inbound) }
        #expect(sent == [true, true, false])
        let (first, second) = (pool.receive(from: mailbox) != nil, pool.receive(from: mailbox) != nil)
        #expect(first)
        #expect(!second, "all slots are taken")
        #expect(mailbox.send([3], over: Self.path(1), .inbound))
        for expected: UInt8 in [1, 3] {
            pool.emptySlots()
            let found = pool.receive(from: mailbox) != nil
            #expect(found)
            let first = pool.datagram(0)[0]
            #expect(first == expected)
        }
    }

    @Test func `what no slot could hold is refused, and nothing at all is a packet`() throws {
        let mailbox = PacketMailbox(capacity: 2, wakeUp: try WakeUp())
        var pool = DatagramPool(sockets: [])
        #expect(!mailbox.send([UInt8](repeating: 0, count: DatagramPool.slotSize + 1), over: Self.path(1), .inbound))
        #expect(mailbox.send([UInt8](repeating: 7, count: DatagramPool.slotSize), over: Self.path(1), .inbound))
        #expect(mailbox.send([UInt8](), over: Self.path(1), .outbound))
        for expected in [DatagramPool.slotSize, 0] {
            let next = pool.receive(from: mailbox)
            let taken = try #require(next)
            let count = pool.count(taken.slot)
            #expect(count == expected)
        }
    }

    @Test func `every packet ends the owner's wait`() throws {
        let wakeUp = try WakeUp()
        let mailbox = PacketMailbox(capacity: 8, wakeUp: wakeUp)
        var poller = try Poller(wakeUp: wakeUp)
        for _ in 0..<3 {
            // The owner may have left the one before where it is.
            #expect(mailbox.send([1], over: Self.path(1), .inbound))
            _ = try poller.wait(until: nil)
            let wasWoken = poller.wasWoken
            #expect(wasWoken)
        }
    }

    @Test func `of many senders nothing is lost or mixed, and each one's packets keep their order`() async throws {
        let mailbox = PacketMailbox(capacity: 400, wakeUp: try WakeUp())
        await withTaskGroup { group in
            for sender in 0..<4 {
                group.addTask {
                    for number in 0..<100 {
                        let bytes = [UInt8](repeating: UInt8(sender), count: 100) + [UInt8(number)]
                        #expect(mailbox.send(bytes, over: Self.path(UInt16(sender)), .inbound))
                    }
                }
            }
        }
        var pool = DatagramPool(sockets: [], slots: 400)
        var next = [UInt8](repeating: 0, count: 4)
        for _ in 0..<400 {
            let received = pool.receive(from: mailbox)
            let taken = try #require(received)
            let (bytes, sender) = ([UInt8](copying: pool.datagram(taken.slot)), Int(taken.path.remote.port))
            #expect(bytes == [UInt8](repeating: UInt8(sender), count: 100) + [next[sender]])
            next[sender] += 1
        }
        #expect(next == [100, 100, 100, 100])
    }

    @Test func `a parcel has what was packed`() {
        #expect(SendableBox([1, 2, 3]).take() == [1, 2, 3])
    }
}

extension PacketMailbox {
    fileprivate func send(_ bytes: [UInt8], over path: Path, _ direction: Direction) -> Bool {
        send(bytes.span, over: path, direction)
    }
}
