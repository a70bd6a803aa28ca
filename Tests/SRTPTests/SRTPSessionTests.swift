import Primitives
import SRTP
import Testing

@Suite struct SRTPSessionTests {
    typealias Profile = SRTPSession.Profile

    private static func key(_ profile: Profile) -> [UInt8] {
        (0..<(profile == .aeadAES128GCM ? 28 : 30)).map { UInt8($0) }
    }

    private static func packet(_ sequence: UInt16, payload: Int = 160, source: UInt32 = 0xCAFE_BABE) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt16(0x8000))
        writer.write(sequence)
        writer.write(UInt32(sequence) * 160)
        writer.write(source)
        writer.write([UInt8](repeating: 0x42, count: payload))
        return writer.bytes
    }

    private static func apply(_ bytes: [UInt8], _ work: (inout MutableSpan<UInt8>, Int) throws -> Int) rethrows
        -> [UInt8]
    {
        var buffer = bytes + [UInt8](repeating: 0, count: Profile.maximumTrailer)
        var span = buffer.mutableSpan
        let count = try work(&span, bytes.count)
        return Array(buffer[..<count])
    }

    private static func pair(_ profile: Profile) throws -> (outbound: SRTPSession, inbound: SRTPSession) {
        (
            try SRTPSession(profile: profile, key: key(profile), direction: .outbound),
            try SRTPSession(profile: profile, key: key(profile), direction: .inbound)
        )
    }

    @Test(arguments: Profile.allCases)
    func `what is protected can be unprotected once`(_ profile: Profile) throws {
        let (outbound, inbound) = try Self.pair(profile)
        let plain = Self.packet(1)
        let sealed = try Self.apply(plain) { try outbound.protect(&$0, count: $1) }
        #expect(sealed.count == plain.count + (profile == .aeadAES128GCM ? 16 : 10))
        #expect(sealed[12...] != plain[12...])
        #expect(try Self.apply(sealed) { try inbound.unprotect(&$0, count: $1) } == plain)
        #expect(throws: SRTPError.replayed) { try Self.apply(sealed) { try inbound.unprotect(&$0, count: $1) } }
    }

    @Test(arguments: Profile.allCases)
    func `a changed bit anywhere is noticed`(_ profile: Profile) throws {
        let (outbound, inbound) = try Self.pair(profile)
        let sealed = try Self.apply(Self.packet(1, payload: 20)) { try outbound.protect(&$0, count: $1) }
        for index in sealed.indices.dropFirst(4) {
            var forged = sealed
            forged[index] ^= 1
            #expect(throws: SRTPError.authenticationFailed) {
                try Self.apply(forged) { try inbound.unprotect(&$0, count: $1) }
            }
        }
        _ = try Self.apply(sealed) { try inbound.unprotect(&$0, count: $1) }
    }

    @Test(arguments: Profile.allCases)
    func `the sequence number wraps into the rollover counter`(_ profile: Profile) throws {
        let (outbound, inbound) = try Self.pair(profile)
        for step in 0..<200 {
            let plain = Self.packet(65_436 &+ UInt16(step))
            let sealed = try Self.apply(plain) { try outbound.protect(&$0, count: $1) }
            #expect(try Self.apply(sealed) { try inbound.unprotect(&$0, count: $1) } == plain)
        }
    }

    @Test(arguments: Profile.allCases)
    func `RTCP is protected too`(_ profile: Profile) throws {
        let (outbound, inbound) = try Self.pair(profile)
        let plain: [UInt8] = [0x80, 201, 0, 1, 0xCA, 0xFE, 0xBA, 0xBE]
        let sealed = try Self.apply(plain) { try outbound.protectControl(&$0, count: $1) }
        #expect(sealed.count > plain.count)
        #expect(try Self.apply(sealed) { try inbound.unprotectControl(&$0, count: $1) } == plain)
        #expect(throws: SRTPError.replayed) { try Self.apply(sealed) { try inbound.unprotectControl(&$0, count: $1) } }
    }

    /// What is repeated without rtx has the same bytes, and must not tell more than the first time.
    @Test(arguments: Profile.allCases)
    func `a packet that goes out twice is the same both times`(_ profile: Profile) throws {
        let (outbound, _) = try Self.pair(profile)
        let first = try Self.apply(Self.packet(7)) { try outbound.protect(&$0, count: $1) }
        _ = try Self.apply(Self.packet(8)) { try outbound.protect(&$0, count: $1) }
        #expect(try Self.apply(Self.packet(7)) { try outbound.protect(&$0, count: $1) } == first)
    }

    @Test(arguments: Profile.allCases)
    func `what is forgotten is free: the source begins anew, and others go on`(_ profile: Profile) throws {
        let (outbound, inbound) = try Self.pair(profile)
        let one = try Self.apply(Self.packet(1, source: 0x0102_0304)) { try outbound.protect(&$0, count: $1) }
        let other = try Self.apply(Self.packet(1, source: 0x0403_0201)) { try outbound.protect(&$0, count: $1) }
        for sealed in [one, other] { _ = try Self.apply(sealed) { try inbound.unprotect(&$0, count: $1) } }
        inbound.forget(SSRC(0x0102_0304))
        inbound.forget(SSRC(0x0102_0304))
        inbound.forget(SSRC(77))
        #expect(throws: SRTPError.replayed) { try Self.apply(other) { try inbound.unprotect(&$0, count: $1) } }
        _ = try Self.apply(one) { try inbound.unprotect(&$0, count: $1) }
        #expect(throws: SRTPError.replayed) { try Self.apply(one) { try inbound.unprotect(&$0, count: $1) } }
    }

    @Test func `short, empty and oversized input is refused`() throws {
        let (outbound, inbound) = try Self.pair(.aeadAES128GCM)
        for count in 0..<12 {
            #expect(throws: SRTPError.self) {
                try Self.apply([UInt8](repeating: 0x80, count: count)) { try inbound.unprotect(&$0, count: $1) }
            }
        }
        var full = Self.packet(1)
        #expect(throws: SRTPError.noRoom) {
            var span = full.mutableSpan
            _ = try outbound.protect(&span, count: span.count)
        }
        #expect(throws: SRTPError.badKey) {
            try SRTPSession(profile: .aeadAES128GCM, key: [1, 2, 3], direction: .inbound)
        }
    }

    /// RFC 7714 §16.1.1: RTP, AEAD_AES_128_GCM, with the session key given. libsrtp derives session keys, so that the
    /// vector itself is checked by the ciphers' self test at start; here the derivation is compared between the two
    /// directions.
    @Test func `the first packet of a key depends on the key`() throws {
        let first = try SRTPSession(profile: .aeadAES128GCM, key: Self.key(.aeadAES128GCM), direction: .outbound)
        let second = try SRTPSession(
            profile: .aeadAES128GCM, key: Self.key(.aeadAES128GCM).reversed(), direction: .outbound)
        let plain = Self.packet(1)
        #expect(
            try Self.apply(plain) { try first.protect(&$0, count: $1) }
                != Self.apply(plain) { try second.protect(&$0, count: $1) })
    }
}
