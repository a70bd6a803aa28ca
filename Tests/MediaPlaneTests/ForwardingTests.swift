import MediaPlane
import Primitives
import Testing

/// What workers know of legs that have left them, and whose a socket, a path or a call is.
@Suite struct ForwardingTests {
    private static let peer = SocketAddress(IPAddress(v4: 0xC000_0207), port: 4_711)
    private static let path = Path(local: SocketIndex(3), remote: peer)
    private static let other = Path(local: SocketIndex(2), remote: peer)
    private let first = WorkerIndex(1)
    private let second = WorkerIndex(2)

    private func table(_ changes: (ForwardingTable.Change, WorkerIndex)...) -> ForwardingTable {
        var table = ForwardingTable()
        for (change, host) in changes { table.apply(change, by: host) }
        return table
    }

    @Test func `a leg that has left is found by its fragments and by its paths, and nothing else is`() {
        let table = table((.moved(fragments: ["old", "new"], paths: [Self.path]), first))
        #expect([table.host(of: "old"), table.host(of: "new"), table.host(of: Self.path)] == [first, first, first])
        #expect(table.host(of: "strange") == nil)
        #expect(table.host(of: Self.other) == nil, "the same peer at another socket has not been authenticated")
        #expect(!table.isEmpty)
    }

    @Test func `only what has been checked is a path, only what has been named a fragment`() {
        var table = table((.moved(fragments: ["before"], paths: []), first))
        #expect(table.host(of: Self.path) == nil)
        table.apply(.validated(Self.path), by: first)
        table.apply(.named("after"), by: first)
        #expect(table.host(of: Self.path) == first)
        #expect(table.host(of: "after") == first)
        table.apply(.withdrawn(fragments: ["before"], paths: []), by: first)
        #expect(table.host(of: "before") == nil)
        #expect(table.host(of: "after") == first)
    }

    @Test func `nothing is left of a leg that has ended`() {
        let table = table(
            (.moved(fragments: ["a"], paths: [Self.path]), first), (.validated(Self.other), first), (.named("b"), first),
            (.withdrawn(fragments: ["a", "b"], paths: [Self.path, Self.other]), first))
        #expect(table == ForwardingTable())
        #expect(table.isEmpty)
    }

    @Test func `a leg that moves on is where it says, and a late word of its last host counts no more`() {
        let table = table(
            (.moved(fragments: ["a"], paths: [Self.path]), first), (.moved(fragments: ["a"], paths: [Self.path]), second),
            (.withdrawn(fragments: ["a"], paths: [Self.path]), first))
        #expect(table.host(of: "a") == second)
        #expect(table.host(of: Self.path) == second)
    }

    @Test func `a leg that comes back leaves no entry, and neither does a path that a leg here has taken over`() {
        var table = table((.moved(fragments: ["a"], paths: [Self.path, Self.other]), first))
        table.remove(paths: [Self.other])
        #expect(table.host(of: Self.other) == nil)
        table.remove(fragments: ["a"], paths: [Self.path])
        #expect(table.isEmpty)
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (256, 256)])
    func `every socket and every call has one worker`(workers: Int, sockets: Int) {
        let layout = WorkerLayout(workers: workers, socketsPerWorker: sockets)
        for worker in 0..<workers {
            let index = WorkerIndex(UInt16(worker))
            for place in [0, sockets - 1] {
                let local = SocketIndex(UInt16(layout.firstSocket(of: index) + place))
                for transport in [Path.Transport.udp, .tcp(ConnectionID(place: 0, generation: 0))] {
                    #expect(layout.worker(of: Path(local: local, remote: Self.peer, transport: transport)) == index)
                }
            }
            for random in [0, 1, UInt64.max / 2, .max] {
                let number = layout.number(random, onTheWorkerOf: UInt64(worker))
                #expect(layout.worker(ofCall: number) == index)
            }
        }
    }
}
