import ICE
import Primitives
import STUN
import TestSupport

struct TestAuthentication: MessageAuthentication {
    func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
        SHA1.hmac(key: key, (0..<message.count).map { message[$0] })
    }
}

/// An agent, a clock and a peer that sends whatever a test wants.
struct AgentRig {
    static let local = ICEParameters(ufrag: "gate", password: Redacted("password of the gateway"))
    static let remote = ICEParameters(ufrag: "peer", password: Redacted("password of the peer!!"))
    static let newLocal = ICEParameters(ufrag: "GATE", password: Redacted("new password of the gateway"))
    static let newRemote = ICEParameters(ufrag: "PEER", password: Redacted("new password of the peer"))

    static let a = Path(local: SocketIndex(0), remote: SocketAddress(IPAddress("192.0.2.1")!, port: 5000))
    static let b = Path(local: SocketIndex(0), remote: SocketAddress(IPAddress("192.0.2.1")!, port: 5001))
    static let c = Path(local: SocketIndex(1), remote: SocketAddress(IPAddress("2001:db8::1")!, port: 5000))

    var agent: ICELiteAgent
    var clock = VirtualClock()
    private var transactions: UInt64 = 0

    init(configuration: ICELiteAgent.Configuration = .init()) {
        agent = ICELiteAgent(local: Self.local, configuration: configuration)
    }

    /// Both descriptions are out.
    static func checking(configuration: ICELiteAgent.Configuration = .init()) -> AgentRig {
        var rig = AgentRig(configuration: configuration)
        _ = rig.agent.setRemote(Self.remote, at: rig.clock.now)
        return rig
    }

    /// How a check differs from a good one.
    struct Check: Sendable {
        var username: String? = "gate:peer"
        var password: String? = AgentRig.local.password.value
        var nominates = false
        var method = STUNMethod.binding
        var messageClass = STUNClass.request
        var role: STUNAttribute? = .iceControlling(tieBreaker: 7)
        var more: [STUNAttribute] = []
        var fingerprint = true
        /// Applied to the finished bytes.
        var damage: @Sendable (inout [UInt8]) -> Void = { _ in }

        static let good = Check()
        static let nominating = Check(nominates: true)
        /// Made with the parameters after a restart.
        static func renewed(nominates: Bool = false) -> Check {
            Check(username: "GATE:PEER", password: AgentRig.newLocal.password.value, nominates: nominates)
        }
    }

    /// What came out, with the response reduced to what it says.
    enum Outcome: Hashable {
        /// A success response with integrity and fingerprint, over the path, naming its remote address.
        case succeeded(Path)
        /// An error response; whether it carries integrity.
        case answered(Int, Path, authenticated: Bool)
        case did(ICEAction)
    }

    mutating func receive(_ check: Check, over path: Path) -> [Outcome] {
        let bytes = encode(check)
        guard let message = try? STUNMessage(parsing: bytes.span) else { return [] }  // the worker drops it
        let actions = agent.receive(
            message, raw: bytes.span, over: path, at: clock.now, authentication: TestAuthentication())
        return actions.map {
            outcome(of: $0, for: message, passwords: [Self.local, Self.newLocal].map(\.password.value))
        }
    }

    /// Time passes; wakes the agent as often as it asks.
    mutating func advance(by duration: Duration) -> [ICEAction] {
        let end = clock.now + duration
        var actions: [ICEAction] = []
        while let deadline = agent.nextDeadline, deadline.time <= end {
            clock.advance(to: deadline.time)
            actions += agent.timeout(at: clock.now)
        }
        clock.advance(to: end)
        return actions
    }

    mutating func encode(_ check: Check) -> [UInt8] {
        transactions += 1
        var attributes: [STUNAttribute] = [.priority(0x6E00_01FF)] + check.more
        if let username = check.username { attributes.append(.username(username)) }
        if let role = check.role { attributes.append(role) }
        if check.nominates { attributes.append(.useCandidate) }
        let message = STUNMessage(
            check.messageClass, check.method, TransactionID(high: 9, low: transactions), attributes)
        var bytes =
            if let password = check.password {
                message.encoded(password: password, authentication: TestAuthentication())
            } else {
                message.encoded(fingerprint: true)
            }
        if !check.fingerprint {
            bytes.removeLast(8)
            let length = UInt16(bytes.count - 20)
            (bytes[2], bytes[3]) = (UInt8(length >> 8), UInt8(length & 0xFF))
        }
        check.damage(&bytes)
        return bytes
    }

    private func outcome(of action: ICEAction, for request: STUNMessage, passwords: [String]) -> Outcome {
        guard case .transmit(let bytes, let path) = action, let response = try? STUNMessage(parsing: bytes.span),
            response.transactionID == request.transactionID, response.hasValidFingerprint(in: bytes.span)
        else { return .did(action) }
        let authenticated = passwords.contains {
            response.hasValidIntegrity(in: bytes.span, key: Array($0.utf8), authentication: TestAuthentication())
        }
        if let error = response.errorCode, response.messageClass == .error {
            return .answered(error.code, path, authenticated: authenticated)
        }
        let isComplete = response.messageClass == .success && authenticated && response.xorMappedAddress == path.remote
        return isComplete ? .succeeded(path) : .did(action)
    }
}
