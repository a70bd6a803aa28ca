import ArgumentParser
import Foundation

/// Which core a program may use.
enum Cores {
    static let ofServers = 0
    static let ofGenerator = 1
    private static let program = "/usr/bin/taskset"

    /// What a command starts with so that it only uses this core.
    static func start(_ core: Int) -> [String] { [program, "-c", "\(core)"] }

    /// Keeps this process, with all threads that it has, to the generator's core; threads inherit that.
    ///
    /// - Throws: `ValidationError` if there is no such core.
    static func keepGenerator() throws {
        let command = Process()
        command.executableURL = URL(filePath: program)
        command.arguments = ["-a", "-c", "-p", "\(ofGenerator)", "\(ProcessInfo.processInfo.processIdentifier)"]
        command.standardOutput = FileHandle.nullDevice
        try command.run()
        command.waitUntilExit()
        guard command.terminationStatus == 0 else {
            throw ValidationError("servers and generator need a core each, and this process may not use core 1")
        }
    }
}
