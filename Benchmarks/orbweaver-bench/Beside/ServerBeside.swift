import Foundation
import NIOCore

/// A server through which two peers can call each other. It is used by one task.
protocol ServerBeside {
    var process: ChildProcess { get }
    /// Makes what so many further calls need beforehand, such as users who have registered. That is not counted.
    func prepare(_ calls: Int) async throws
    /// Sets up a call of two peers, until each of them could know the server's description.
    ///
    /// - Parameter invited: is given the server's description to the callee before the callee answers.
    /// - Throws: `CallRefused` if the server takes no new call for its load.
    func agree(
        on caller: LoadPeer, _ callee: LoadPeer, invited: (_ description: String) throws -> Void
    ) async throws -> AgreedCall
    func hangUp(_ call: AgreedCall) async throws
    func stop()
}

/// A call whose peers can now connect to the server.
struct AgreedCall {
    /// The server's own name of the call.
    var name: String
    /// The server's descriptions.
    var toCaller: String
    var toCallee: String
}

/// The servers that are compared.
enum ServerKind: String, CaseIterable {
    case orbweaver = "Orbweaver"
    case rtpengine
    /// As it comes: a thread for each leg.
    case janus = "Janus"
    /// With one event loop for all legs.
    case janusLoop = "Janus, one loop"

    private var isJanus: Bool { self == .janus || self == .janusLoop }

    /// Whether it refuses new calls once it is busy; the others take every call.
    var refusesCalls: Bool { self == .orbweaver }

    /// Why it takes no part; `nil`: it does.
    func absence(_ programs: ServerPrograms) -> String? {
        guard !FileManager.default.isExecutableFile(atPath: programs.path(of: self)) else {
            return isJanus && programs.isLoopback
                ? "Janus is left out: it does not use loopback, and this machine has no other address" : nil
        }
        return switch self {
        case .orbweaver: "Orbweaver is not there: swift build -c release --product orbweaver"
        case .rtpengine: "rtpengine is not installed: apt-get install --no-install-recommends rtpengine-daemon"
        case .janus, .janusLoop: "Janus is not installed: apt-get install --no-install-recommends janus"
        }
    }

    func start(_ programs: ServerPrograms) async throws -> any ServerBeside {
        let path = programs.path(of: self)
        return switch self {
        case .orbweaver: try await GatewayBeside(path, at: programs.address)
        case .rtpengine: try await RTPEngineBeside(path, at: programs.address)
        case .janus: try await JanusBeside(path, at: programs.address, eventLoops: 0)
        case .janusLoop: try await JanusBeside(path, at: programs.address, eventLoops: 1)
        }
    }
}

/// Where the servers' programs are, and where their media is.
struct ServerPrograms {
    var orbweaver: String
    var rtpengine: String
    var janus: String
    /// IPv4, of this machine.
    var address: String

    var isLoopback: Bool { address.hasPrefix("127.") }

    func path(of kind: ServerKind) -> String {
        switch kind {
        case .orbweaver: orbweaver
        case .rtpengine: rtpengine
        case .janus, .janusLoop: janus
        }
    }

    /// Debian has had it in either place.
    static var installedRTPEngine: String {
        let places = ["/usr/bin/rtpengine", "/usr/sbin/rtpengine"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? places[0]
    }

    /// The first IPv4 address of this machine that is not loopback; if there is none, loopback. What is sent to either
    /// stays in the kernel.
    static func ownAddress() throws -> String {
        let all = try System.enumerateDevices().compactMap { $0.address?.ipAddress }
        return all.first { $0.contains(".") && !$0.hasPrefix("127.") } ?? "127.0.0.1"
    }
}
