import CallControl
import Testing

import Observability

@Suite struct ExpositionTests {
    let metrics = GatewayMetrics(version: "1.2.3", startTime: 1_700_000_000)

    @Test func `simple metrics have help, type and value`() {
        metrics.callsActive.increment(by: 3)
        #expect(
            block("orbweaver_calls_active") == """
                # HELP orbweaver_calls_active Calls that are ringing or connected.
                # TYPE orbweaver_calls_active gauge
                orbweaver_calls_active 3

                """)
        #expect(block("process_start_time_seconds").hasSuffix("\nprocess_start_time_seconds 1700000000\n"))
        #expect(block("orbweaver_build_info").hasSuffix("\norbweaver_build_info{version=\"1.2.3\"} 1\n"))
    }

    @Test func `label values are escaped`() {
        let text = GatewayMetrics(version: "a\\b\"c\nd", startTime: 0).render()
        #expect(text.contains("orbweaver_build_info{version=\"a\\\\b\\\"c\\nd\"} 1\n"))
    }

    @Test func `a family shows every label, also those that never happened`() {
        metrics.dtlsHandshakes[.timedOut].increment()
        #expect(
            block("orbweaver_dtls_handshakes_total") == """
                # HELP orbweaver_dtls_handshakes_total DTLS handshakes that came to an end, by result.
                # TYPE orbweaver_dtls_handshakes_total counter
                orbweaver_dtls_handshakes_total{result="completed"} 0
                orbweaver_dtls_handshakes_total{result="timed_out"} 1
                orbweaver_dtls_handshakes_total{result="fingerprint_mismatch"} 0
                orbweaver_dtls_handshakes_total{result="failed"} 0

                """)
    }

    @Test func `requests about calls are shown by what they asked for and what became of them`() {
        metrics.callRequests[.start, .limit].increment()
        metrics.callRequests[.sendDigits, .done].increment(by: 2)
        let lines = block("orbweaver_call_requests_total").split(separator: "\n").dropFirst(2)
        #expect(lines.count == CallRequest.Kind.allCases.count * CallRequest.Outcome.allCases.count)
        #expect(
            lines.filter { !$0.hasSuffix(" 0") } == [
                #"orbweaver_call_requests_total{request="start",result="limit"} 1"#,
                #"orbweaver_call_requests_total{request="send_digits",result="done"} 2"#,
            ])
    }

    /// A peer chooses no value of a label: the words are fixed, and every one is in docs/operations.md.
    @Test func `the words for requests are snake case`() {
        for word in CallRequest.Kind.allCases.map(\.rawValue) + CallRequest.Outcome.allCases.map(\.rawValue) {
            #expect(word.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }, "\(word)")
        }
    }

    @Test func `a histogram is cumulative and ends with everything`() {
        metrics.callSetup.observe(.milliseconds(75))
        metrics.callSetup.observe(.milliseconds(2_500))
        metrics.callSetup.observe(.seconds(600))
        let lines = block("orbweaver_call_setup_seconds").split(separator: "\n").dropFirst(2).map(String.init)
        #expect(
            lines == [
                "orbweaver_call_setup_seconds_bucket{le=\"0.05\"} 0",
                "orbweaver_call_setup_seconds_bucket{le=\"0.1\"} 1",
                "orbweaver_call_setup_seconds_bucket{le=\"0.25\"} 1",
                "orbweaver_call_setup_seconds_bucket{le=\"0.5\"} 1",
                "orbweaver_call_setup_seconds_bucket{le=\"1\"} 1",
                "orbweaver_call_setup_seconds_bucket{le=\"2.5\"} 2",
                "orbweaver_call_setup_seconds_bucket{le=\"5\"} 2",
                "orbweaver_call_setup_seconds_bucket{le=\"10\"} 2",
                "orbweaver_call_setup_seconds_bucket{le=\"20\"} 2",
                "orbweaver_call_setup_seconds_bucket{le=\"40\"} 2",
                "orbweaver_call_setup_seconds_bucket{le=\"60\"} 2",
                "orbweaver_call_setup_seconds_bucket{le=\"120\"} 2",
                "orbweaver_call_setup_seconds_bucket{le=\"+Inf\"} 3",
                "orbweaver_call_setup_seconds_sum 602.575",
                "orbweaver_call_setup_seconds_count 3",
            ])
    }

    /// Guards the naming rule: base units, `_total` on counters and only there, snake case.
    @Test func `names follow the convention`() {
        let types = metrics.render().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
        #expect(types.count > 20)
        for line in types {
            let parts = line.split(separator: " ")
            let (name, kind) = (parts[2], parts[3])
            #expect((kind == "counter") == name.hasSuffix("_total"), "\(name)")
            #expect(name.hasPrefix("orbweaver_") || name == "process_start_time_seconds")
            #expect(name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }, "\(name)")
            #expect(!name.contains("_ms"), "\(name)")
        }
    }

    /// HELP, TYPE and samples of one metric, as rendered.
    private func block(_ name: String) -> String {
        let lines = metrics.render().split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("# HELP \(name) ") }) else { return "" }
        let end = lines[(start + 1)...].firstIndex { $0.hasPrefix("# HELP ") || $0.isEmpty } ?? lines.endIndex
        return lines[start..<end].joined(separator: "\n") + "\n"
    }
}
