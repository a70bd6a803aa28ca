import Sockets
import Testing

struct MailboxTests {
    /// With the thread sanitizer, which nothing is hidden from here, this shows that the lock is one.
    @Test func `what several threads send at once arrives whole, and from each in order`() throws {
        let (senders, count) = (4, 20_000)
        let mailbox = Mailbox<[Int]>(capacity: senders * count)
        let threads = try (0..<senders).map { sender in
            try WorkerThread(name: "sender \(sender)") { for number in 0..<count { mailbox.send([sender, number]) } }
        }
        var received = [Int](repeating: 0, count: senders)
        var waiting: [[Int]] = []
        while received.reduce(0, +) < senders * count {
            mailbox.drain(into: &waiting)
            for element in waiting {
                // A difference ends the test, or it would wait for ever.
                try #require(element[1] == received[element[0]])
                received[element[0]] += 1
            }
            waiting.removeAll(keepingCapacity: true)
        }
        for thread in threads { thread.join() }
        #expect(received == [Int](repeating: count, count: senders))
    }
}
