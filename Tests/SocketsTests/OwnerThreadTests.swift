import Sockets
import Synchronization
import Testing

@Suite struct OwnerThreadTests {
    @Test func `a value knows the thread that it was made on from every other`() throws {
        let owner = OwnerThread()
        #expect(owner.isCurrent)
        let isElsewhere = Atomic(true)
        let other = try WorkerThread(name: "other") { isElsewhere.store(owner.isCurrent, ordering: .relaxed) }
        other.join()
        let answer = isElsewhere.load(ordering: .relaxed)
        #expect(!answer)
    }
}
