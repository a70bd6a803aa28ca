import ArgumentParser
import Cryptography
import Foundation
import Primitives
import Push
import PushClient

/// A push provider on loopback: nghttpd, an HTTP/2 server over TLS in a process of its own. It answers each push to a
/// device that it knows with 200, as Apple's service does, and reads none. The answer has a content of two bytes: if it
/// had none, nghttpd would end it in a frame of its own, which libcurl 7.88 resets the stream before, and after 1,000
/// resets nghttpd ends the connection.
struct LocalProvider {
    /// The device that it knows unless others are named.
    static let token = String(repeating: "ab", count: 32)

    let url: String
    private let process: ChildProcess
    private let folder: URL

    /// Starts nghttpd (Debian: nghttp2-server), and waits until its port answers.
    ///
    /// - Parameters:
    ///   - inFlight: the most requests of a client that may have no answer.
    ///   - tokens: the devices that it knows.
    init(_ program: String, inFlight: Int, tokens: [String] = [token]) async throws {
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw ValidationError("\(program) is not there: install nghttp2-server, or say where it is with --provider")
        }
        let port = try await FreePort.tcp()
        url = "https://127.0.0.1:\(port)"
        folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-bench-push-\(UUID())")
        let devices = folder.appending(path: "www/3/device")
        try FileManager.default.createDirectory(at: devices, withIntermediateDirectories: true)
        for token in tokens { try Data("{}".utf8).write(to: devices.appending(path: token)) }
        let certificate = try Certificate(commonName: "orbweaver-bench", alternativeNames: ["IP:127.0.0.1"])
        try Data(certificate.certificatePEM.utf8).write(to: folder.appending(path: "certificate.pem"))
        try Data(certificate.privateKeyPEM.value.utf8).write(to: folder.appending(path: "key.pem"))
        let path = { [folder] (name: String) in folder.appending(path: name).path(percentEncoded: false) }
        do {
            process = try await ChildProcess(
                program,
                [
                    "--address=127.0.0.1", "--max-concurrent-streams=\(inFlight)", "--htdocs=\(path("www"))", "\(port)",
                    path("key.pem"), path("certificate.pem"),
                ],
                port: port)
        } catch {
            // What is left of a temporary folder does no harm.
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    func stop() {
        process.kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The path of the file with the certificate to trust.
    var authority: String { folder.appending(path: "certificate.pem").path(percentEncoded: false) }
    /// The path of a file with a key to sign with. The provider checks no signature.
    var key: String { folder.appending(path: "key.pem").path(percentEncoded: false) }

    /// Settings by which the provider takes the place of Apple's.
    func configuration(inFlight: Int, capacity: Int) -> PushConfiguration {
        var configuration = PushConfiguration()
        var apple = PushConfiguration.Apple(team: "TEAM123456", keyID: "KEY1234567", keyPath: key)
        apple.productionURL = url
        configuration.apple = apple
        configuration.authorityPath = authority
        configuration.queue.inFlight = inFlight
        configuration.queue.capacity = capacity
        configuration.allowedAddresses = [IPAddressRange(IPAddress(v4: 0x7F00_0000), prefixLength: 8)].compactMap(
            \.self)
        return configuration
    }
}
