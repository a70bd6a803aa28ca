import CallRuntime
import Cryptography
import Foundation
import Logging
import Observability
import Primitives
import SignalingServer

/// What the authenticator starts with.
struct LoginMemory: Sendable {
    var key: CredentialDigest.Key
    var remembered = RememberedLogins()
    /// `nil`: nothing is written down.
    var journal: LoginJournal?
}

extension GatewayConfiguration {
    /// The key of remembered logins, and what is remembered under it. If logins are not to be remembered: a key for
    /// this process only, and no logins.
    func loginMemory(
        _ repository: some LoginRepository, clock: some RuntimeClock, random: inout some RandomSource, logger: Logger
    ) async throws -> LoginMemory {
        guard rememberedLogins != nil, !isDevelopment else {
            return LoginMemory(key: CredentialDigest.Key(using: &random))
        }
        let key = CredentialDigest.Key(try loginKey(using: &random, logger: logger))
        let remembered = try await repository.rememberedLogins(
            under: key.name, at: clock.epochMilliseconds / 1_000, limit: authenticator.rememberedLimit)
        return LoginMemory(
            key: key, remembered: remembered, journal: LoginJournal(repository, under: key.name, logger: logger))
    }

    var resolvedAuthenticator: Authenticator.Configuration {
        var resolved = authenticator
        resolved.queue.threads = hashingThreads ?? ProcessInfo.processInfo.activeProcessorCount
        resolved.rememberedFor = rememberedLogins ?? resolved.rememberedFor
        return resolved
    }

    /// The bytes in the key file, which is created if it does not exist.
    private func loginKey(
        using random: inout some RandomSource, logger: Logger
    ) throws(ConfigurationError) -> Redacted<[UInt8]> {
        let path = loginKeyPath ?? storagePath + ".key"
        func problem(_ text: String) -> ConfigurationError {
            ConfigurationError(problems: [
                ConfigurationProblem(nil, "auth.remember_key_file: \(path) \(text); auth.remember: off does without")
            ])
        }
        let size = CredentialDigest.Key.size
        let files = FileManager.default
        if files.fileExists(atPath: path) {
            guard let bytes = files.contents(atPath: path) else { throw problem("cannot be read") }
            // An empty file is from a process that ended before it had written its key.
            if !bytes.isEmpty {
                guard bytes.count == size else { throw problem("holds no key of \(size) bytes") }
                warnIfOthersMayRead(path, logger)
                return Redacted(Array(bytes))
            }
        } else {
            // The file is private from the start, before there is anything in it.
            guard files.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw problem("cannot be made")
            }
        }
        let key = Redacted(random.nextBytes(size))
        do {
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.write(contentsOf: Data(key.value))
            try file.synchronize()
            try file.close()
        } catch {
            throw problem("cannot be written")
        }
        return key
    }

    private func warnIfOthersMayRead(_ path: String, _ logger: Logger) {
        // Only a warning depends on the attributes. A file whose attributes cannot be read was read as the key all the
        // same.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let permissions = (attributes?[.posixPermissions] as? NSNumber)?.intValue, permissions & 0o077 != 0 else {
            return
        }
        logger.warning("others may read the key of remembered logins", metadata: [LogKey.path: "\(path)"])
    }
}
