import Primitives
import STUN
import TestSupport
import Testing

@Suite struct STUNParsingTests {
    private static let transaction = TransactionID(high: 1, low: 2)

    @Test(
        arguments: [
            ("length-not-multiple-of-four", .malformedLength),
            ("length-beyond-datagram", .malformedLength),
            ("attribute-beyond-message", .malformedAttribute(.username)),
            ("first-two-bits-set", .malformedHeader),
            ("no-magic-cookie", .malformedHeader),
            ("attribute-after-fingerprint", .malformedOrder),
            ("priority-of-three-bytes", .malformedAttribute(.priority)),
            ("address-family-3", .malformedAttribute(.xorMappedAddress)),
            ("error-code-299", .malformedAttribute(.errorCode)),
            ("error-code-number-100", .malformedAttribute(.errorCode)),
            ("username-not-utf8", .malformedAttribute(.username)),
            ("thirty-three-attributes", .limitAttributes),
        ] as [(String, STUNError)])
    func `a faulty message is refused with its reason`(_ name: String, _ error: STUNError) throws {
        let bytes = try Fixtures.bytes("stun/refused/\(name).bin")
        #expect(throws: error) { try STUNMessage(parsing: bytes) }
    }

    @Test func `every refused fixture has a row above`() {
        #expect(Fixtures.files(in: "stun/refused").count == 12)
    }

    @Test func `a message cut anywhere is refused`() throws {
        let bytes = try Fixtures.bytes("stun/rfc5769/sample-request.bin")
        for count in 0..<bytes.count {
            let cut = Array(bytes[..<count])
            #expect(throws: STUNError.self) { try STUNMessage(parsing: cut) }
        }
    }

    /// RFC 8489 §5.
    @Test(
        arguments: [
            (0x0001, .request, 0x001), (0x0011, .indication, 0x001), (0x0101, .success, 0x001), (0x0111, .error, 0x001),
            (0x0003, .request, 0x003), (0x0117, .error, 0x007), (0x3EEF, .request, 0xFFF), (0x3FFF, .error, 0xFFF),
            (0x0020, .request, 0x010),
        ] as [(UInt16, STUNClass, UInt16)])
    func `class and method are woven into the type`(_ bits: UInt16, _ messageClass: STUNClass, _ method: UInt16) throws
    {
        let message = STUNMessage(messageClass, STUNMethod(method), Self.transaction)
        let bytes = message.encoded(fingerprint: false)
        #expect(bytes[..<2] == [UInt8(bits >> 8), UInt8(bits & 0xFF)])
        let parsed = try STUNMessage(parsing: bytes)
        #expect(parsed == message)
    }

    @Test func `attributes behind the integrity do not count, except the fingerprint`() throws {
        let message = STUNMessage(.request, .binding, Self.transaction, [.username("a:b")])
        let sealed = message.encoded(password: "p", authentication: TestAuthentication())
        let fingerprint = sealed[(sealed.count - 8)...]
        // USE-CANDIDATE, smuggled in between; then the old fingerprint, which is wrong by now.
        var bytes = Array(sealed.dropLast(8)) + [0x00, 0x25, 0, 0] + fingerprint
        bytes[3] += 4
        let parsed = try STUNMessage(parsing: bytes)
        #expect(parsed.attributes == [.username("a:b")])
        #expect(parsed.hasValidIntegrity(in: bytes, key: [0x70]))
        #expect(!parsed.hasValidFingerprint(in: bytes))
    }

    @Test(arguments: [(12, false), (16, true), (18, false), (20, true), (32, true), (36, false)])
    func `MESSAGE-INTEGRITY-SHA256 is found in every length it may have`(_ length: Int, _ isFound: Bool) throws {
        var writer = ByteWriter()
        let padded = (length + 3) / 4 * 4
        writer.write([0, 1, 0, UInt8(4 + padded), 0x21, 0x12, 0xA4, 0x42])
        writer.writeZeros(12)
        writer.write([0x00, 0x1C, 0, UInt8(length)])
        writer.writeZeros(padded)
        guard isFound else {
            #expect(throws: STUNError.malformedAttribute(.messageIntegritySHA256)) {
                try STUNMessage(parsing: writer.bytes)
            }
            return
        }
        let parsed = try STUNMessage(parsing: writer.bytes)
        #expect(parsed.protection.integritySHA256 == 20)
        #expect(parsed.attributes.isEmpty)
    }

    @Test func `unknown attributes are kept, and reported if they insist`() throws {
        let attributes: [STUNAttribute] = [
            .unknown(STUNAttributeType(0x7FFF), [1, 2, 3]), .unknown(STUNAttributeType(0xC057), [0, 1]),
            .unknown(STUNAttributeType(0x8000), []),
        ]
        let bytes = STUNMessage(.request, .binding, Self.transaction, attributes).encoded(fingerprint: true)
        let parsed = try STUNMessage(parsing: bytes)
        #expect(parsed.attributes == attributes)
        #expect(parsed.unknownRequiredAttributes == [STUNAttributeType(0x7FFF)])
        #expect("\(STUNAttributeType(0xC057)) \(STUNAttributeType.username)" == "0xC057 0x0006")
    }

    @Test func `software that is not UTF-8 does not spoil the message`() throws {
        let bytes = STUNMessage(.request, .binding, Self.transaction, [.unknown(.software, [0xFF])]).encoded(
            fingerprint: false)
        #expect(try STUNMessage(parsing: bytes).attributes == [.unknown(.software, [0xFF])])
    }

    @Test(arguments: [(31, true), (32, true), (33, false)])
    func `the limit counts what a message says, not what seals it`(_ count: Int, _ isAccepted: Bool) {
        let message = STUNMessage(.request, .binding, Self.transaction, (0..<count).map { .priority(UInt32($0)) })
        let sealed = message.encoded(password: "p", authentication: TestAuthentication())
        for bytes in [message.encoded(fingerprint: false), message.encoded(fingerprint: true), sealed] {
            #expect((try? STUNMessage(parsing: bytes))?.attributes == (isAccepted ? message.attributes : nil))
        }
    }

    @Test func `of two attributes of one type the first counts`() throws {
        let message = STUNMessage(
            .request, .binding, Self.transaction, [.priority(1), .priority(2), .username("a"), .username("b")])
        #expect(message.priority == 1)
        #expect(message.username == "a")
    }

    @Test(arguments: [(299, false), (300, true), (699, true), (700, false), (-1, false)])
    func `error codes lie between 300 and 699`(_ code: Int, _ isValid: Bool) {
        #expect((STUNErrorCode(code, reason: "") != nil) == isValid)
        #expect(STUNErrorCode(code, reason: String(repeating: "x", count: 764)) == nil)
    }
}
