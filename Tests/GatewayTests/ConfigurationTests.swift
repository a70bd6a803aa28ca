import Foundation
import Gateway
import Primitives
import TestSupport
import Testing

@Suite struct ConfigurationTests {
    private static func problems(_ read: (inout ConfigurationReader) -> Void, isDevelopment: Bool = true) -> [String] {
        var reader = ConfigurationReader(startingFrom: GatewayConfiguration())
        read(&reader)
        do {
            _ = try reader.finish(isDevelopment: isDevelopment)
            return []
        } catch {
            return error.all.map(\.description)
        }
    }

    private static func sample() throws -> String {
        let page = try String(contentsOf: Fixtures.root.deletingLastPathComponent().appending(path: "docs/configuration.md"), encoding: .utf8)
        let begin = try #require(page.range(of: "```yaml\n"))
        let end = try #require(page.range(of: "\n```", range: begin.upperBound..<page.endIndex))
        return String(page[begin.upperBound..<end.lowerBound])
    }

    @Test func `the annotated sample loads and is the defaults`() throws {
        var reader = ConfigurationReader(startingFrom: .development)
        reader.read(yaml: try Self.sample(), named: "sample")
        #expect(try reader.finish(isDevelopment: true) == GatewayConfiguration())
    }

    @Test func `the annotated sample has every setting`() throws {
        let sample = try Self.sample()
        for setting in Setting.all {
            let key = try #require(setting.name.split(separator: ".").last)
            #expect(sample.contains("  \(key): "), "\(setting.name) is missing")
            #expect(sample.contains(setting.meaning), "\(setting.name) is described otherwise")
        }
    }

    @Test func `a setting written as it is read comes back`() throws {
        var configuration = GatewayConfiguration()
        configuration.listenPort = 1
        configuration.ringTime = .milliseconds(7_500)
        var reader = ConfigurationReader(startingFrom: GatewayConfiguration())
        for setting in Setting.all where !setting.name.hasPrefix("media.bind") && !setting.name.hasPrefix("media.advertise") {
            reader.read(flag: "--set", name: setting.name, value: setting.read(configuration))
        }
        #expect(try reader.finish(isDevelopment: true) == configuration)
    }

    @Test(arguments: [
        ("media:\n  prot: 7000", "f.yaml:2: unknown key 'media.prot'; did you mean 'media.port'?"),
        ("media:\n  port: 7000\n\nmeida:\n  port: 1", "f.yaml:4: unknown section 'meida'; did you mean 'media'?"),
        ("media:\n  port: 70000", "f.yaml:2: media.port takes a port, 0…65535: '70000' is outside"),
        ("media:\n  port: many", "f.yaml:2: media.port takes a port, 0…65535, not 'many'"),
        ("media:\n  advertise: [192.0.2.1, nowhere]", "f.yaml:2: media.advertise takes a list of addresses, not 'nowhere'"),
        ("calls:\n  ring_time: 60", "f.yaml:2: calls.ring_time takes 5s…10m, not '60'"),
        ("media: 7", "f.yaml:1: 'media' is a section: keys belong below it"),
        ("- a\n- b", "f.yaml:1: expected sections such as 'media:' with keys below them"),
    ])
    func `what is wrong is named with its place`(_ yaml: String, _ problem: String) {
        #expect(Self.problems { $0.read(yaml: yaml, named: "f.yaml") } == [problem])
    }

    @Test func `everything wrong is told at once`() {
        let problems = Self.problems { reader in
            reader.read(yaml: "media:\n  port: x\n  mode: y", named: "f.yaml")
            reader.read(environment: ["ORBWEAVER_LOG_LEVEL": "loud", "ORBWEAVER_LOGLEVEL": "info", "HOME": "/"])
            reader.read(flag: "--set", name: "tls.mod", value: "off")
        }
        #expect(problems.count == 5)
        #expect(problems.contains("environment: unknown variable 'ORBWEAVER_LOGLEVEL'; did you mean 'ORBWEAVER_LOG_LEVEL'?"))
        #expect(problems.contains("--set: unknown key 'tls.mod'; did you mean 'tls.mode'?"))
    }

    @Test func `broken YAML is refused with its line`() {
        let problems = Self.problems { $0.read(yaml: "media:\n  port: [7000\n", named: "f.yaml") }
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("f.yaml:") == true)
    }

    @Test func `flags win over the environment, and that over the file`() throws {
        var reader = ConfigurationReader(startingFrom: GatewayConfiguration())
        reader.read(yaml: "listen:\n  port: 1\n  host: 127.0.0.1\nmedia:\n  port: 1", named: "f.yaml")
        reader.read(environment: ["ORBWEAVER_LISTEN_PORT": "2", "ORBWEAVER_MEDIA_PORT": "2", "ORBWEAVER_MEDIA_ADVERTISE": "192.0.2.1, 2001:db8::1"])
        reader.read(flag: "--set", name: "listen.port", value: "3")
        let configuration = try reader.finish(isDevelopment: true)
        #expect(configuration.listenHost == "127.0.0.1")
        #expect(configuration.mediaPort == 2)
        #expect(configuration.listenPort == 3)
        #expect(configuration.mediaAdvertise.map(\.description) == ["192.0.2.1", "2001:db8::1"])
    }

    @Test func `without a certificate it starts only in development or with TLS written off`() {
        #expect(Self.problems({ _ in }, isDevelopment: false).count == 1)
        #expect(Self.problems({ $0.read(yaml: "tls:\n  mode: off", named: "f") }, isDevelopment: false).isEmpty)
        #expect(Self.problems({ $0.read(yaml: "tls:\n  certificate: a\n  key: b", named: "f") }, isDevelopment: false).isEmpty)
        #expect(Self.problems({ _ in }, isDevelopment: true).isEmpty)
    }
}
