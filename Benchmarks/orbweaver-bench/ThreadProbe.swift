import Foundation
import RelayBaseline

/// CPU time and allocations of one thread of this process, read from outside of it.
struct ThreadProbe {
    let id: Int32

    /// The first thread with this name; `nil` if there is none.
    init?(named name: String) {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let match = tasks.first { task in
            let comm = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return comm?.trimmingCharacters(in: .whitespacesAndNewlines) == name
        }
        guard let match, let id = Int32(match) else { return nil }
        self.id = id
    }

    /// The calling thread (proc(5), thread-self).
    init() throws {
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        guard let id = path.split(separator: "/").last.flatMap({ Int32($0) }) else {
            preconditionFailure("a thread has a number: \(path)")
        }
        self.id = id
    }

    /// Nanoseconds on a CPU so far (proc(5), schedstat).
    var cpuNanoseconds: UInt64 {
        let text = (try? String(contentsOfFile: "/proc/self/task/\(id)/schedstat", encoding: .utf8)) ?? ""
        return text.split(separator: " ").first.flatMap { UInt64($0) } ?? 0
    }

    var allocations: UInt64 { allocations_of_thread(id) }
}
