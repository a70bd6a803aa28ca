import Primitives
import Sockets
import Synchronization
import Testing

@Suite struct DatagramPoolTests {
    @Test(arguments: ["127.0.0.1", "::1"])
    func `more datagrams than slots arrive whole, in order, with their sender`(_ address: String) throws {
        let loopback = try #require(IPAddress(address))
        let sender = try UDPSocket(bind: SocketAddress(loopback, port: 0))
        let receiver = try UDPSocket(bind: SocketAddress(loopback, port: 0), receiveBufferBytes: 1 << 20)
        var pool = DatagramPool(sockets: [sender, receiver], slots: 16, transmitSlots: 16)
        for number in 0..<100 {
            pool.queue(copying: [UInt8(number), 7].span, to: receiver.localAddress, via: SocketIndex(0))
        }
        let transmissions = pool.flush()
        #expect(transmissions.sent == 100)
        var seen: [UInt8] = []
        var poller = try Poller(wakeUp: WakeUp())
        try poller.add(receiver, as: SocketIndex(1))
        while seen.count < 100, try poller.wait(until: MonotonicClock.now + .seconds(2)) > 0 {
            #expect(poller.readySocket(0) == SocketIndex(1))
            for slot in 0..<pool.receive(from: SocketIndex(1)) {
                let (remote, count) = (pool.remote(slot), pool.count(slot))
                #expect(remote == sender.localAddress)
                #expect(count == 2)
                seen.append(pool.datagram(slot)[0])
            }
        }
        #expect(seen == (0..<100).map { UInt8($0) })
    }

    /// In a network whose loopback takes less, `unshare -rn sh -c 'ip link set lo mtu 1300 up; …'`, the large ones are
    /// sent in fragments.
    @Test(arguments: ["127.0.0.1", "::1"])
    func `large datagrams arrive whole and in order among small ones`(_ address: String) throws {
        let loopback = try #require(IPAddress(address))
        let sender = try UDPSocket(bind: SocketAddress(loopback, port: 0))
        let receiver = try UDPSocket(bind: SocketAddress(loopback, port: 0), receiveBufferBytes: 1 << 20)
        var pool = DatagramPool(sockets: [sender, receiver])
        let lengths = [200, DatagramPool.slotSize, 1_200, 1_500, DatagramPool.slotSize, 20]
        for round in 0..<2 {
            for length in lengths {
                pool.queue(
                    copying: [UInt8](repeating: UInt8(round), count: length).span, to: receiver.localAddress,
                    via: SocketIndex(0))
            }
            let transmissions = pool.flush()
            #expect(transmissions == Transmissions(sent: lengths.count))
            var arrived: [Int] = []
            var poller = try Poller(wakeUp: WakeUp())
            try poller.add(receiver, as: SocketIndex(1))
            while arrived.count < lengths.count, try poller.wait(until: MonotonicClock.now + .seconds(2)) > 0 {
                for slot in 0..<pool.receive(from: SocketIndex(1)) { arrived.append(pool.count(slot)) }
            }
            #expect(arrived == lengths)
        }
    }

    @Test func `a slot is changed in place and sent from there`() throws {
        let loopback = IPAddress(v4: 0x7F00_0001)
        let (a, b) = (
            try UDPSocket(bind: SocketAddress(loopback, port: 0)), try UDPSocket(bind: SocketAddress(loopback, port: 0))
        )
        var pool = DatagramPool(sockets: [a, b])
        pool.queue(copying: [1, 2, 3].span, to: b.localAddress, via: SocketIndex(0))
        _ = pool.flush()
        let arrived = pool.receive(from: SocketIndex(1))
        #expect(arrived == 1)
        var slot = pool.slot(0)
        slot[1] = 9
        slot[3] = 4
        pool.queue(slot: 0, count: 4, to: a.localAddress, via: SocketIndex(1))
        _ = pool.flush()
        let returned = pool.receive(from: SocketIndex(0))
        let bytes = [UInt8](copying: pool.datagram(0))
        #expect(returned == 1)
        #expect(bytes == [1, 9, 3, 4])
    }

    @Test func `what does not fit a slot is counted or marked`() throws {
        let loopback = IPAddress(v4: 0x7F00_0001)
        let socket = try UDPSocket(bind: SocketAddress(loopback, port: 0))
        var pool = DatagramPool(sockets: [socket])
        pool.queue(
            copying: [UInt8](repeating: 0, count: DatagramPool.slotSize + 1).span, to: socket.localAddress,
            via: SocketIndex(0))
        let transmissions = pool.flush()
        #expect(transmissions.oversized == 1)
    }

    @Test func `a mailbox wakes a waiting thread, keeps order, and refuses only what is offered when full`() throws {
        let wakeUp = try WakeUp()
        let mailbox = Mailbox<Int>(capacity: 3, wakeUp: wakeUp)
        let thread = try WorkerThread(name: "test") { for number in 0..<3 { _ = mailbox.offer(number) } }
        thread.join()
        #expect(!mailbox.offer(3))
        mailbox.send(4)
        #expect(!mailbox.offer(5))
        #expect(mailbox.count == 4)
        var poller = try Poller(wakeUp: wakeUp)
        _ = try poller.wait(until: MonotonicClock.now + .seconds(2))
        let wasWoken = poller.wasWoken
        #expect(wasWoken)
        var elements: [Int] = []
        mailbox.drain(into: &elements)
        #expect(elements == [0, 1, 2, 4])
        _ = try poller.wait(until: .zero)
        let isWokenAgain = poller.wasWoken
        #expect(!isWokenAgain)
    }

    @Test func `a deadline ends the wait, not before its time`() throws {
        var poller = try Poller(wakeUp: WakeUp())
        let deadline = MonotonicClock.now + .milliseconds(5)
        let ready = try poller.wait(until: deadline)
        #expect(ready == 0)
        #expect(MonotonicClock.now >= deadline)
    }

    @Test func `this machine has a loopback address`() throws {
        #expect(try NetworkInterfaces.addresses().contains { $0.isLoopback && $0.address.isLoopback })
    }
}
