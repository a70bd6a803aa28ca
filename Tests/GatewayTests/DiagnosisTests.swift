import Primitives
import Testing

import Gateway

@Suite struct DiagnosisTests {
    private func address(_ text: String) -> IPAddress { IPAddress(text)! }

    @Test func `candidates that the Internet does not reach are worth a look`() {
        let inside = Diagnosis.candidates([address("10.0.0.7"), address("fd00::1")], hasTCP: true, hasTURN: false)
        #expect(inside.map(\.verdict) == [.look])
        let outside = Diagnosis.candidates([address("10.0.0.7"), address("203.0.113.7")], hasTCP: false, hasTURN: true)
        #expect(outside.map(\.verdict) == [.good])
        #expect(Diagnosis.candidates([], hasTCP: true, hasTURN: true).map(\.verdict) == [.bad])
        #expect(
            Diagnosis.candidates([address("8.8.8.8")], hasTCP: false, hasTURN: false).map(\.verdict) == [.good, .look])
    }

    @Test(
        arguments: [
            ("10.1.2.3", true), ("172.16.0.1", true), ("172.32.0.1", false), ("192.168.9.9", true),
            ("100.64.0.1", true), ("100.128.0.1", false), ("169.254.1.1", true), ("127.0.0.1", true),
            ("8.8.8.8", false), ("fd12::1", true), ("fe80::1", true), ("::1", true), ("2001:db8::1", false),
        ])
    func `addresses of private networks are known`(_ text: String, _ isPrivate: Bool) {
        #expect(address(text).isPrivate == isPrivate)
    }

    @Test func `a certificate is judged by its time, names and chain`() {
        func verdicts(
            _ remaining: Duration, names: [String] = ["a.example"], isValidYet: Bool = true, chain: Int = 2,
            isSelfSigned: Bool = false
        ) -> [Finding.Verdict] {
            Diagnosis.certificate(
                names: names, isValidYet: isValidYet, remaining: remaining, chain: chain, isSelfSigned: isSelfSigned
            ).map(\.verdict)
        }
        #expect(verdicts(.seconds(86_400 * 60)) == [.good])
        #expect(verdicts(.seconds(86_400 * 10)) == [.look])
        #expect(verdicts(.seconds(-1)) == [.bad])
        #expect(verdicts(.seconds(86_400 * 60), isValidYet: false) == [.bad])
        #expect(verdicts(.seconds(86_400 * 60), names: []) == [.good, .bad])
        #expect(verdicts(.seconds(86_400 * 60), chain: 1) == [.good, .look])
        #expect(verdicts(.seconds(86_400 * 60), chain: 1, isSelfSigned: true) == [.good, .look])
    }

    @Test func `a machine is judged by its limits and its clock`() {
        #expect(Diagnosis.openFiles(limit: 1_000, wanted: 1_000).verdict == .good)
        #expect(Diagnosis.openFiles(limit: 999, wanted: 1_000).verdict == .look)
        #expect(Diagnosis.memory(100_000_000).verdict == .bad && Diagnosis.memory(nil).verdict == .look)
        #expect(Diagnosis.memory(2_000_000_000).verdict == .good)
        #expect(Diagnosis.clock(isKept: true).verdict == .good && Diagnosis.clock(isKept: false).verdict == .look)
    }

    @Test func `it is said which providers pushes go to, and which key cannot be read`() {
        var push = GatewayConfiguration().push
        #expect(Diagnosis.push(push) { _ in true }.map(\.verdict) == [.look])
        (push.appleTeam, push.appleKeyID, push.appleKeyPath) = ("TEAM123456", "KEY1234567", "/keys/apple.p8")
        push.googleAccountPath = "/keys/firebase.json"
        let found = Diagnosis.push(push) { $0 == "/keys/firebase.json" }
        #expect(found.map(\.verdict) == [.bad, .good])
        #expect(found[0].sentence.contains("push.apple_key_file: /keys/apple.p8"))
        push.applicationsFolder = "/apps"
        let unread = Diagnosis.push(push, appProblems: ["/apps cannot be read"]) { $0 != "/apps" }
        #expect(unread.map(\.verdict) == [.good, .good, .bad])
        #expect(unread[2].sentence.hasSuffix("so that all pushes by Apple and Firebase are given up."))
        let broken = Diagnosis.push(push, appProblems: ["/apps/com.example.app.json cannot be read"]) { _ in true }
        #expect(broken.map(\.verdict) == [.good, .good, .good, .bad])
        #expect(broken[3].sentence.hasPrefix("/apps/com.example.app.json cannot be read."))
    }
}
