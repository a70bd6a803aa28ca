import Foundation
import Testing

import Gateway

@Suite struct ConfigurationLoaderTests {
    private func text(_ path: String, _ configuration: GatewayConfiguration) -> String? {
        ConfigurationKey.all.first { $0.path == path }?.value(in: configuration).description
    }

    private func problems(_ loader: ConfigurationLoader) -> [String] {
        do throws(ConfigurationError) {
            _ = try loader.load()
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `flags win over the environment, the environment over the file, the file over the defaults`() throws {
        try withFile("listen:\n  port: 1\n  plain_port: 2\nmedia:\n  port: 3\n") { path in
            let result = try ConfigurationLoader(
                file: path,
                environment: ["ORBWEAVER_LISTEN_PLAIN_PORT": "20", "ORBWEAVER_MEDIA_PORT": "30", "PATH": "/bin"],
                overrides: [.init(path: "media.port", value: "300", flag: "--media-port")]
            ).load()
            #expect(text("listen.port", result.configuration) == "1")
            #expect(text("listen.plain_port", result.configuration) == "20")
            #expect(text("media.port", result.configuration) == "300")
            #expect(text("media.workers", result.configuration) == "auto")
            #expect(
                result.sources == [
                    "listen.port": .file(path, line: 2),
                    "listen.plain_port": .environment("ORBWEAVER_LISTEN_PLAIN_PORT"),
                    "media.port": .flag("--media-port"),
                ])
        }
    }

    @Test func `all problems are told at once, each with its line and the nearest name`() throws {
        let file = """
            listen:
              prot: 8443
              port: 99999
            medai:
              port: 1
            tls:
              mode: of
              port: 3
            media:
              bind: [127.0.0.1, 300.1.1.1]
              consent_timeout: 30
            log:
            drain: 10s
            calls:
              ring_time:
              zzz: 1
            """
        try withFile(file) { path in
            #expect(
                problems(ConfigurationLoader(file: path)) == [
                    "\(path):4: unknown section \"medai\"; did you mean \"media\"?",
                    "\(path):13: \"drain\" is a section: its keys go below it, indented",
                    "\(path):15: calls.ring_time has no value, or one of too many levels",
                    "\(path):2: unknown key \"prot\" in \"listen\"; did you mean \"port\"?",
                    "\(path):3: listen.port: 99999 is not a port from 0 to 65535 (0: any free one)",
                    "\(path):7: tls.mode: of is not one of on, off",
                    "\(path):8: unknown key \"port\" in \"tls\"; did you mean \"listen.port\"?",
                    "\(path):10: media.bind: [127.0.0.1, 300.1.1.1] is not a list of IP addresses, or auto",
                    "\(path):11: media.consent_timeout: 30 is not a duration from 5s to 5m (500ms, 30s, 5m, 1h, 1d)",
                    "\(path):16: unknown key \"zzz\" in \"calls\"; "
                        + "\"calls\" has maximum, max_per_user, max_ringing_per_user, starts_per_user, start_interval, ring_time, media_setup_time, "
                        + "offer_time, client_timeout, max_duration, headless_duration, completion_time, max_text_length, busy, "
                        + "early_media, music_on_hold, log_per_user, log_total, log_age, event_log",
                ])
        }
    }

    @Test(arguments: [
        ("a: [1\nb: 2", "2: this is no YAML"),
        ("listen:\n  port: 1\n  port: 2\n", "2: given more than once below here: port"),
        ("- listen", "1: expected sections"),
        ("just words", "1: expected sections"),
        ("listen:\n  port: {a: 1}", "2: listen.port has no value, or one of too many levels"),
        ("listen:\n\tport: 1", "2: this is no YAML"),
    ])
    func `a file that is not as it should be says where`(_ file: String, _ expected: String) throws {
        try withFile(file) { path in
            let found = problems(ConfigurationLoader(file: path))
            #expect(found.count == 1)
            #expect(found.first?.hasPrefix("\(path):\(expected)") == true, "\(found)")
        }
    }

    @Test(arguments: ["", "# nothing\n", "listen:\n", "---\n"])
    func `a file may be empty`(_ file: String) throws {
        try withFile(file) { path in #expect(problems(ConfigurationLoader(file: path)).isEmpty) }
    }

    @Test func `a file that is not there is named, also when the environment names it`() {
        for loader in [
            ConfigurationLoader(file: "/no/such.yaml"),
            ConfigurationLoader(environment: ["ORBWEAVER_CONFIG": "/no/such.yaml"]),
        ] {
            #expect(problems(loader).first?.hasPrefix("/no/such.yaml cannot be read: ") == true)
        }
    }

    @Test(arguments: [
        ("ORBWEAVER_MEDIA_PRT", "ORBWEAVER_MEDIA_PRT: there is no such setting; did you mean ORBWEAVER_MEDIA_PORT?"),
        (
            "ORBWEAVER_MEDA_ADVERTISE",
            "ORBWEAVER_MEDA_ADVERTISE: there is no such setting; did you mean ORBWEAVER_MEDIA_ADVERTISE?"
        ),
        (
            "ORBWEAVER_LOG_XYZZYPLUGH",
            "ORBWEAVER_LOG_XYZZYPLUGH: there is no such setting; `orbweaver check-config --help` lists all"
        ),
    ])
    func `a variable that means one of our settings is refused if there is none`(_ variable: String, _ expected: String)
    {
        #expect(problems(ConfigurationLoader(environment: [variable: "1"])) == [expected])
    }

    /// Kubernetes sets these beside a service called `orbweaver`.
    @Test(arguments: [
        "ORBWEAVER_SERVICE_HOST", "ORBWEAVER_PORT", "ORBWEAVER_PORT_8443_TCP_ADDR", "ORBWEAVER_PASSWORD",
        "ORBWEAVER_STRICT",
    ])
    func `variables of others are left alone`(_ variable: String) {
        #expect(problems(ConfigurationLoader(environment: [variable: "x"])).isEmpty)
    }

    @Test(arguments: ["nothing", "listen", "listen.", ".port", "listen.port.more"])
    func `a flag must name a setting`(_ path: String) {
        let loader = ConfigurationLoader(overrides: [.init(path: path, value: "1", flag: "--set \(path)")])
        #expect(problems(loader).count == 1)
        #expect(problems(loader).first?.hasPrefix("--set \(path): unknown ") == true)
    }

    @Test func `what is printed loads to the same`() throws {
        let overrides = [
            ("media.bind", "192.0.2.1, 2001:db8::1"), ("media.advertise", "198.51.100.1"), ("log.level", "debug"),
            ("tls.mode", "off"),
            ("listen.host", "::"), ("storage.path", "/a folder/with \"quotes\".sqlite"), ("calls.ring_time", "90s"),
            ("events.keys", "off"),
        ].map { ConfigurationLoader.Override(path: $0, value: $1, flag: "--set") }
        let first = try ConfigurationLoader(overrides: overrides).load().configuration
        try withFile(first.yaml()) { path in
            let second = try ConfigurationLoader(file: path).load().configuration
            #expect(second.yaml() == first.yaml())
            #expect(text("events.keys", second) == "off")
        }
        #expect(first.yaml().contains("  bind: [192.0.2.1, \"2001:db8::1\"]\n"))
    }

    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "configuration-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: file)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        try body(file.path)
    }
}
