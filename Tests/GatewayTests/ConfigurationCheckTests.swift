import Cryptography
import Foundation
import Primitives
import Testing

import Gateway

@Suite struct ConfigurationCheckTests {
    private func complaints(_ settings: [(String, String)], isDevelopment: Bool = false) throws -> [String] {
        let overrides = settings.map { ConfigurationLoader.Override(path: $0.0, value: $0.1, flag: "--set") }
        let configuration = try ConfigurationLoader(isDevelopment: isDevelopment, overrides: overrides).load()
            .configuration
        do throws(ConfigurationError) {
            try configuration.check()
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `without a certificate nothing starts, unless TLS is off or it is only development`() throws {
        let refused = try complaints([])
        #expect(refused.count == 1)
        #expect(refused.first?.hasPrefix("tls.certificate is missing") == true)
        #expect(try complaints([("tls.mode", "off")]).isEmpty)
        #expect(try complaints([], isDevelopment: true).isEmpty)
    }

    @Test(
        arguments: [
            ([("tls.key", "/k")], "tls.key is given, but not tls.certificate"),
            ([("tls.certificate", "/c")], "tls.certificate is given, but not tls.key"),
            ([("tls.mode", "off"), ("tls.key", "/k")], "tls.mode is off, but tls.certificate or tls.key is given"),
            (
                [("tls.mode", "off"), ("listen.plain_port", "8443"), ("listen.plain_host", "0.0.0.0")],
                "listen.port and listen.plain_port are the same"
            ),
            (
                [("tls.mode", "off"), ("listen.proxy_protocol", "required")],
                "listen.trusted_proxies is missing: listen.proxy_protocol reads the headers of trusted proxies only"
            ),
            (
                [("tls.mode", "off"), ("media.port", "65535"), ("media.workers", "2")],
                "media.port 65535 leaves no room for 2 workers: ports end at 65535"
            ),
            (
                [("tls.mode", "off"), ("media.consent_timeout", "14s")],
                "media.consent_timeout is too short: peers check every 4 to 6 seconds (RFC 7675 §5.1), and calls would end with a check or two "
                    + "that got lost; 15s or more"
            ),
            (
                [("tls.mode", "off"), ("drain.announce", "6s")],
                "drain.announce must be half of drain.deadline at most: calls are ended and sockets closed in what is left of it"
            ),
            (
                [("tls.mode", "off"), ("media.advertise", "0.0.0.0")],
                "media.advertise: 0.0.0.0 is no address a peer could send to"
            ),
            ([("tls.mode", "off"), ("media.bind", "::1,::1")], "an address is listed twice in media: ::1, ::1"),
            (
                [("tls.mode", "off"), ("anonymous.mode", "token")],
                "anonymous.realms_file is missing: anonymous.mode token needs the realms and their keys"
            ),
            (
                [("tls.mode", "off"), ("anonymous.mode", "token"), ("anonymous.realms_file", "/nowhere/realms")],
                "anonymous.realms_file: /nowhere/realms cannot be read"
            ),
            (
                [("tls.mode", "off"), ("anonymous.mode", "open"), ("anonymous.realms_file", "/r")],
                "anonymous.realms_file is given, but anonymous.mode is not token"
            ),
            (
                [("tls.mode", "off"), ("auth.token_issuer", "https://login.example.com")],
                "auth.token_keys is missing: without keys no token is accepted, whatever auth.token_… says"
            ),
            (
                [("tls.mode", "off"), ("auth.token_keys", "/nowhere/keys")],
                "auth.token_keys: /nowhere/keys cannot be read"
            ),
            (
                [("tls.mode", "off"), ("registration.minimum_expires", "2h")],
                "registration: minimum_expires, default_expires and maximum_expires must not fall"
            ),
            (
                [("tls.mode", "off"), ("media.payload_numbers", "100 opus/48000/2, 100 VP8/90000")],
                "media.payload_numbers: 100 is wanted for both opus/48000/2 and VP8/90000"
            ),
        ] as [([(String, String)], String)])
    func `values that contradict each other are refused`(_ settings: [(String, String)], _ expected: String) throws {
        #expect(try complaints(settings) == [expected])
    }

    @Test func `Opus values out of range are ignored, and named`() throws {
        let overrides = [
            ("media.opus_max_playback_rate", "96000"), ("media.opus_max_average_bitrate", "5999"),
            ("media.packet_time", "25"),
            ("media.opus_dtx", "on"),
        ].map { ConfigurationLoader.Override(path: $0.0, value: $0.1, flag: "--set") }
        let configuration = try ConfigurationLoader(isDevelopment: true, overrides: overrides).load().configuration
        try configuration.check()
        #expect(
            configuration.warnings == [
                "media.opus_max_playback_rate: 96000 is ignored: RFC 7587 allows 8000 to 48000 Hz",
                "media.opus_max_average_bitrate: 5999 is ignored: RFC 7587 allows 6000 to 510000 bit/s",
            ])
        #expect(GatewayConfiguration().warnings.isEmpty)
    }

    @Test func `demo users do not get into a database that lasts`() throws {
        #expect(try complaints([("storage.path", "/var/lib/real.sqlite")], isDevelopment: true).count == 1)
    }

    @Test func `certificate and key must be readable and belong together`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        func write(_ name: String, _ text: String) throws -> String {
            let file = folder.appending(path: name)
            try Data(text.utf8).write(to: file)
            return file.path
        }
        let (mine, other) = (try Certificate(commonName: "mine"), try Certificate(commonName: "other"))
        let certificate = try write("cert.pem", mine.certificatePEM)
        let key = try write("key.pem", mine.privateKeyPEM.value)
        let otherKey = try write("other.pem", other.privateKeyPEM.value)
        let rubbish = try write("rubbish.pem", "not PEM")

        #expect(try complaints([("tls.certificate", certificate), ("tls.key", key)]).isEmpty)
        for (settings, course) in [
            (["/no/such.pem", key], "tls.certificate: /no/such.pem cannot be read"),
            ([rubbish, key], "tls.certificate: \(rubbish) cannot be read"),
            ([certificate, "/no/such.pem"], "tls.key: /no/such.pem cannot be read"),
            ([certificate, rubbish], "tls.key: \(rubbish) cannot be read"),
            ([certificate, otherKey], "tls.key: \(otherKey) does not belong to"),
        ] {
            let found = try complaints([("tls.certificate", settings[0]), ("tls.key", settings[1])])
            #expect(found.count == 1)
            #expect(found.first?.hasPrefix(course) == true, "\(found)")
        }
    }
}
