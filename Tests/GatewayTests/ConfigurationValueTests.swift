import Testing

import Gateway

/// What each kind of value accepts, seen through a setting of that kind.
@Suite struct ConfigurationValueTests {
    /// `nil` if the value was refused, else how it is printed.
    private func load(_ path: String, _ value: String) -> String? {
        do throws(ConfigurationError) {
            let loader = ConfigurationLoader(overrides: [.init(path: path, value: value, flag: "--set")])
            let configuration = try loader.load().configuration
            return ConfigurationKey.all.first { $0.path == path }?.value(in: configuration).description
        } catch {
            return nil
        }
    }

    @Test(
        arguments: [
            ("30s", "30s"), ("60s", "1m"), ("90s", "90s"), ("5m", "5m"), ("5000ms", "5s"), ("10m", "10m"),
            ("30", nil), ("s", nil), ("30 s", nil), ("-30s", nil), ("30S", nil), ("1m30s", nil), ("4s", nil),
            ("601s", nil),
            ("99999999999999999999s", nil), ("9223372036854775807d", nil), ("", nil),
        ] as [(String, String?)])
    func `a duration is a number with a unit, within its range`(_ value: String, _ expected: String?) {
        #expect(load("calls.ring_time", value) == expected)
    }

    @Test(
        arguments: [
            ("off", "off"), ("1s", "1s"), ("90s", "90s"), ("1d", "1d"), ("999ms", nil), ("25h", nil), ("0s", nil),
            ("never", nil),
        ] as [(String, String?)])
    func `a client may be waited for for ever`(_ value: String, _ expected: String?) {
        #expect(load("calls.client_timeout", value) == expected)
    }

    @Test(
        arguments: [
            ("0", "0"), ("65535", "65535"), ("07000", "7000"),
            ("65536", nil), ("-1", nil), ("+1", nil), ("1.0", nil), ("", nil), ("http", nil), ("off", nil),
        ] as [(String, String?)])
    func `a port has sixteen bits`(_ value: String, _ expected: String?) {
        #expect(load("media.port", value) == expected)
    }

    @Test(
        arguments: [("off", "off"), ("8080", "8080"), ("on", nil), ("abc", nil), ("none", nil)] as [(String, String?)])
    func `a port that may be missing has a word for it`(_ value: String, _ expected: String?) {
        #expect(load("listen.plain_port", value) == expected)
    }

    @Test(
        arguments: [("auto", "auto"), ("1", "1"), ("256", "256"), ("0", nil), ("257", nil), ("many", nil)]
            as [(String, String?)])
    func `a count stays in its range`(_ value: String, _ expected: String?) {
        #expect(load("media.workers", value) == expected)
    }

    @Test(
        arguments: [
            ("auto", "auto"), ("192.0.2.1", "[192.0.2.1]"), ("192.0.2.1,198.51.100.2", "[192.0.2.1, 198.51.100.2]"),
            ("192.0.2.1, 2001:DB8::1", "[192.0.2.1, \"2001:db8::1\"]"),
            ("", nil), ("192.0.2.1,", nil), ("192.0.2.256", nil), ("example.com", nil), ("fe80::1%eth0", nil),
            ("auto,192.0.2.1", nil),
        ] as [(String, String?)])
    func `addresses are separated by commas`(_ value: String, _ expected: String?) {
        #expect(load("media.advertise", value) == expected)
    }

    @Test(
        arguments: [
            ("example.com", "example.com"), ("0.0.0.0", "0.0.0.0"), ("::", "\"::\""), ("localhost", "localhost"),
            ("", nil), ("a b", nil), ("http://x", nil), ("1::2::3", nil),
        ] as [(String, String?)])
    func `a host is a name or an address`(_ value: String, _ expected: String?) {
        #expect(load("listen.host", value) == expected)
    }

    @Test(arguments: [("Example.COM", "example.com"), ("::1", nil), ("a@b", nil)] as [(String, String?)])
    func `a domain is kept in lower case`(_ value: String, _ expected: String?) {
        #expect(load("registration.domain", value) == expected)
    }

    @Test(
        arguments: [
            ("ringback", "ringback"), ("off", "off"), ("file:welcome.wav", #""file:welcome.wav""#),
            ("file:", nil), ("welcome.wav", nil), ("busy", nil), ("music", nil), ("Ringback", nil), ("", nil),
        ] as [(String, String?)])
    func `what is heard before the answer is ringback, a file or nothing`(_ value: String, _ expected: String?) {
        #expect(load("calls.early_media", value) == expected)
    }

    @Test(arguments: [("on", "on"), ("off", "off"), ("On", nil), ("true", nil)] as [(String, String?)])
    func `a choice is one of its words`(_ value: String, _ expected: String?) {
        #expect(load("tls.mode", value) == expected)
    }

    @Test(
        arguments: [
            ("any", "any"), ("opus", "[opus]"), ("opus, PCMU", "[opus, PCMU]"),
            ("telephone-event", "[telephone-event]"),
            ("", nil), ("opus,", nil), ("opus/48000", nil), ("o p", nil),
        ] as [(String, String?)])
    func `codecs are named, separated by commas`(_ value: String, _ expected: String?) {
        #expect(load("media.audio_codecs", value) == expected)
    }

    @Test(
        arguments: [
            ("none", "none"), ("114 opus/48000/2", "[\"114 opus/48000/2\"]"),
            (
                "126 H264/90000 profile-level-id=42e029 packetization-mode=1",
                "[\"126 H264/90000 packetization-mode=1 profile-level-id=42e029\"]"
            ),
            ("", nil), ("114", nil), ("95 opus/48000/2", nil), ("128 opus/48000/2", nil), ("114 opus", nil),
            ("126 H264/90000 42e029", nil),
        ] as [(String, String?)])
    func `a payload number names its codec`(_ value: String, _ expected: String?) {
        #expect(load("media.payload_numbers", value) == expected)
    }

    @Test(
        arguments: [("default", "default"), ("on", "on"), ("off", "off"), ("true", nil), ("1", nil)]
            as [(String, String?)])
    func `what may be on, off or left alone`(_ value: String, _ expected: String?) {
        #expect(load("media.opus_fec", value) == expected)
    }

    @Test(
        arguments: [("none", "none"), ("webrtc", "webrtc"), ("mobile", "mobile"), ("default", nil)]
            as [(String, String?)])
    func `the sets of the reference guide have names`(_ value: String, _ expected: String?) {
        #expect(load("media.opus_set", value) == expected)
    }

    @Test(
        arguments: [("none", "none"), ("1", "1"), ("1000000", "1000000"), ("0", nil), ("1000001", nil), ("1k", nil)]
            as [(String, String?)])
    func `bandwidth is in kilobits`(_ value: String, _ expected: String?) {
        #expect(load("media.video_bandwidth", value) == expected)
    }
}
