import ArgumentParser
import Primitives
import RelayBaseline
import Sockets
import Synchronization

/// The C loop on a thread of its own.
final class BaselineLoop: Sendable {
    let port: UInt16
    private let outcome: Outcome
    private let thread: WorkerThread

    /// What the thread leaves behind.
    private final class Outcome: Sendable {
        let result = Mutex<(status: Int32, packets: UInt64, nanoseconds: UInt64)?>(nil)
    }

    init(keys: [[UInt8]], packets: UInt64, destination: UInt16) throws {
        let descriptor = relay_baseline_open()
        guard descriptor >= 0 else { throw ValidationError("no socket for the C loop") }
        port = relay_baseline_port(descriptor)
        let outcome = Outcome()
        self.outcome = outcome
        thread = try WorkerThread(name: "baseline") {
            var result = relay_baseline_result()
            let status = unsafe keys[0].withUnsafeBufferPointer { inbound in
                unsafe keys[1].withUnsafeBufferPointer { outbound in
                    var pair = unsafe relay_baseline_keys(
                        is_gcm: 1, inbound: inbound.baseAddress, outbound: outbound.baseAddress)
                    return unsafe relay_baseline_run(descriptor, destination, &pair, packets, &result)
                }
            }
            outcome.result.withLock { $0 = (status, result.packets, result.cpu_ns) }
        }
    }

    var isFinished: Bool { outcome.result.withLock { $0 != nil } }

    func nanosecondsPerPacket() throws -> Double {
        thread.join()
        guard let result = outcome.result.withLock({ $0 }), result.status == 0, result.packets > 0 else {
            throw ValidationError("the C loop failed")
        }
        return Double(result.nanoseconds) / Double(result.packets)
    }
}
