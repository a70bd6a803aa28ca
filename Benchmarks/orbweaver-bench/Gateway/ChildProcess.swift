import ArgumentParser
import Foundation
import Glibc
import Synchronization

/// A server in a process of its own, so that what it costs can be told from what asking it costs.
final class ChildProcess: Sendable {
    private let process: Mutex<Process>
    private let pid: pid_t

    /// Starts a program with one event loop and waits until its port answers.
    convenience init(
        _ executable: String, _ arguments: [String], port: Int, environment: [String: String] = [:]
    ) async throws {
        try await self.init(executable, arguments, environment: environment) {
            // Refused until the port is open.
            guard let client = try? await HTTPClient(port: port) else { return false }
            await client.close()
            return true
        }
    }

    /// Starts a program with one event loop and waits until it is ready.
    ///
    /// - Throws: `ValidationError` if it ends, or is not ready after 20 seconds; it is ended then.
    init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], isReady: () async -> Bool
    ) async throws {
        let process = Process()
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        // The clients' variables are not meant for the server.
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("ORBWEAVER_") }
        process.environment = inherited.merging(["NIO_SINGLETON_GROUP_LOOP_COUNT": "1"]) { $1 }.merging(environment) {
            $1
        }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        pid = process.processIdentifier
        self.process = Mutex(process)
        for _ in 0..<400 {
            if await isReady() { return }
            guard self.process.withLock({ $0.isRunning }) else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        kill()
        throw ValidationError("\(executable) \(arguments.joined(separator: " ")) did not get ready")
    }

    /// Ends it as an operator would.
    func stop() {
        process.withLock {
            $0.terminate()
            $0.waitUntilExit()
        }
    }

    /// Ends a program that has nothing to put in order. It inherits the mask of signals of Foundation's threads, and
    /// unless it has one of its own, no other signal reaches it.
    func kill() {
        process.withLock {
            _ = Glibc.kill(pid, SIGKILL)
            $0.waitUntilExit()
        }
    }

    /// Nanoseconds that it has spent on CPUs so far, by threads that have ended too (clock_getcpuclockid(3)).
    func cpuNanoseconds() -> UInt64 { Self.cpuNanoseconds(of: pid) }

    private static func cpuNanoseconds(of pid: pid_t) -> UInt64 {
        var (clock, time) = (clockid_t(), timespec())
        guard unsafe clock_getcpuclockid(pid, &clock) == 0,
            unsafe clock_gettime(clock, &time) == 0
        else { return 0 }
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The same of the process and of the processes that it has started, as far as they live.
    func cpuNanosecondsOfTree() -> UInt64 { tree.reduce(0) { $0 + Self.cpuNanoseconds(of: $1) } }

    /// The process and the processes that it has started (proc(5), children).
    private var tree: [pid_t] {
        var (found, open) = ([pid_t](), [pid])
        while let next = open.popLast() {
            found.append(next)
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(next)/task")) ?? []
            for task in tasks {
                let children = try? String(contentsOfFile: "/proc/\(next)/task/\(task)/children", encoding: .utf8)
                open += (children ?? "").split(separator: " ").compactMap { pid_t($0) }
            }
        }
        return found
    }

    /// Nanoseconds that its living threads whose name starts like this have spent on a CPU so far (proc(5), schedstat).
    func cpuNanoseconds(ofThreads name: String) -> UInt64 {
        let tasks =
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return tasks.reduce(0) { sum, task in
            guard text("task/\(task)/comm").hasPrefix(name) else { return sum }
            return sum + (text("task/\(task)/schedstat").split(separator: " ").first.flatMap { UInt64($0) } ?? 0)
        }
    }

    /// Memory that is its own, in bytes: resident, shared pages counted by share (proc(5), smaps_rollup).
    var proportionalBytes: Int { Self.proportionalBytes(of: pid) }

    /// The same of the process and of the processes that it has started.
    var proportionalBytesOfTree: Int { tree.reduce(0) { $0 + Self.proportionalBytes(of: $1) } }

    private static func proportionalBytes(of pid: pid_t) -> Int {
        // It may have ended.
        let all = (try? String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)) ?? ""
        let line = all.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }

    /// A file about the process; a thread may end between the listing and the reading.
    private func text(_ file: String) -> String {
        (try? String(contentsOfFile: "/proc/\(pid)/\(file)", encoding: .utf8)) ?? ""
    }
}
