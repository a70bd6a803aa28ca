import Primitives
import STUN
import TestSupport
import Testing

@Suite struct RFC5769Tests {
    private static let password = "VOkJxbRl1RmTxUk/WvJxBt"
    private static let transaction = TransactionID(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)

    /// The attributes as the RFC lists them.
    static let vectors: [(name: String, STUNClass, [STUNAttribute])] = [
        (
            "sample-request", .request,
            [
                .software("STUN test client"), .priority(0x6E00_01FF),
                .iceControlled(tieBreaker: 0x932F_F9B1_5126_3B36), .username("evtj:h6vY"),
            ]
        ),
        (
            "sample-ipv4-response", .success,
            [.software("test vector"), .xorMappedAddress(SocketAddress(IPAddress("192.0.2.1")!, port: 32853))]
        ),
        (
            "sample-ipv6-response", .success,
            [
                .software("test vector"),
                .xorMappedAddress(SocketAddress(IPAddress("2001:db8:1234:5678:11:2233:4455:6677")!, port: 32853)),
            ]
        ),
    ]

    @Test(arguments: ["rfc5769", "zero-padded"], vectors)
    func `a vector parses into what the RFC says`(
        _ folder: String, _ vector: (name: String, STUNClass, [STUNAttribute])
    ) throws {
        let bytes = try Fixtures.bytes("stun/\(folder)/\(vector.name).bin")
        let message = try STUNMessage(parsing: bytes)
        #expect(message.messageClass == vector.1)
        #expect(message.method == .binding)
        #expect(message.transactionID == Self.transaction)
        #expect(message.attributes == vector.2)
        #expect(message.hasValidFingerprint(in: bytes))
        #expect(message.hasValidIntegrity(in: bytes, key: Array(Self.password.utf8)))
        #expect(!message.hasValidIntegrity(in: bytes, key: Array("wrong".utf8)))
    }

    @Test(arguments: vectors)
    func `what the RFC says encodes into the vector, padded with zeros`(
        _ vector: (name: String, STUNClass, [STUNAttribute])
    ) throws {
        let message = STUNMessage(vector.1, .binding, Self.transaction, vector.2)
        let expected = try Fixtures.bytes("stun/zero-padded/\(vector.name).bin")
        #expect(message.encoded(password: Self.password, authentication: TestAuthentication()) == expected)
    }

    /// §2.4. Long-term credentials are not used here; the message still parses, and its integrity holds under its key.
    @Test func `the long-term request keeps what is not known`() throws {
        let bytes = try Fixtures.bytes("stun/rfc5769/sample-long-term-request.bin")
        let message = try STUNMessage(parsing: bytes)
        let key: [UInt8] = [
            0xE8, 0xCA, 0x7A, 0xD5, 0x9D, 0x5E, 0xB0, 0x51, 0x8E, 0x31, 0x29, 0x11, 0xD2, 0xDA, 0xB2, 0xA9,
        ]
        #expect(message.username == "マトリックス")
        #expect(message.unknownRequiredAttributes.map(\.rawValue) == [0x0015, 0x0014])
        #expect(message.hasValidIntegrity(in: bytes, key: key))
        #expect(!message.hasValidFingerprint(in: bytes))
    }

    @Test(arguments: vectors.map(\.name))
    func `every flipped bit is noticed`(_ name: String) throws {
        let bytes = try Fixtures.bytes("stun/rfc5769/\(name).bin")
        for bit in 0..<(bytes.count * 8) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            guard let message = try? STUNMessage(parsing: flipped) else { continue }  // refused: noticed as well
            #expect(!message.hasValidFingerprint(in: flipped), "bit \(bit)")
        }
    }
}
