import Foundation
import NIOSSL
import Primitives
import PushClient
import ServiceLifecycle

/// What lets a development gateway push to its own demo page: a stand-in for the push service of an app, the key that
/// signs pushes to it, and the trust in the gateway's own certificate.
struct DemoPush {
    /// The stand-in, which the page asks.
    let service: StandInPushService
    /// The configuration of the push client, which sends to the stand-in only.
    let configuration: PushConfiguration
    /// Holds the key and the certificate until the gateway ends.
    let folder: URL

    /// Prepares pushes to the demo page; `nil` if the gateway has none, has other push services, or serves no TLS.
    ///
    /// - Throws: an error of Foundation or of NIO if the files cannot be written.
    init?(
        _ configuration: GatewayConfiguration, certificate: NIOSSLCertificateSource?, random: inout some RandomSource
    ) throws {
        var push = configuration.push.configuration
        guard configuration.isDevelopment, case .certificate(let certificate)? = certificate, push.apple == nil,
            push.google == nil, push.applications == nil, push.webhookKeyFolder == nil, push.authorityPath == nil
        else { return nil }
        folder = FileManager.default.temporaryDirectory.appending(
            path: "orbweaver-demo-\(random.nextToken(12, alphabet: .url))")
        let keys = folder.appending(path: "keys")
        try FileManager.default.createDirectory(
            at: keys, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let key = (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        try Data("whsec_\(Data(key).base64EncodedString())\n".utf8)
            .write(to: keys.appending(path: StandInPushService.bundleID))
        let authority = folder.appending(path: "authority.pem")
        let lines = Data(try certificate.toDERBytes()).base64EncodedString(options: [
            .lineLength64Characters, .endLineWithLineFeed,
        ])
        try Data("-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n".utf8).write(to: authority)
        push.webhookKeyFolder = keys.path
        push.authorityPath = authority.path
        push.allowedAddresses += ["127.0.0.0/8", "::1/128"].compactMap { IPAddressRange($0) }
        self.configuration = push
        service = StandInPushService(key: key)
    }
}

/// Removes the files of the demo's pushes when the gateway ends.
struct DemoPushService: Service {
    /// `nil`: there are none.
    let demo: DemoPush?

    func run() async {
        await untilShutdown()
        // What is left of a temporary folder does no harm.
        if let demo { try? FileManager.default.removeItem(at: demo.folder) }
    }
}
