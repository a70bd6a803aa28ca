// swift-tools-version:6.2
import PackageDescription

// MARK: Settings

/// The one list of language settings; every Swift target gets it.
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        .strictMemorySafety(),
        .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
    ] + (Context.environment["ORBWEAVER_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])
/// Core and the bindings hand out spans, whose lifetimes they declare.
let lifetimes: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes")]

// MARK: Tiers (docs: ARCHITECTURE.md; enforced by scripts/check-layers)

func core(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name,
        dependencies: (name == "Primitives" ? [] : ["Primitives"]) + dependencies,
        path: "Sources/Core/\(name)",
        swiftSettings: strict + lifetimes
    )
}

func binding(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: ["Primitives"] + dependencies,
        path: "Sources/Bindings/\(name)",
        exclude: exclude,
        swiftSettings: strict + lifetimes
    )
}

func service(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name,
        dependencies: ["Primitives"] + dependencies,
        path: "Sources/Services/\(name)",
        swiftSettings: strict + lifetimes
    )
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name,
        dependencies: ["Primitives", "TestSupport"] + dependencies,
        path: "Tests/\(name)",
        swiftSettings: strict + lifetimes
    )
}

let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

// Exact versions: what is deployed is built from what was tested. SwiftPM's own record, Package.resolved, cannot be
// kept here: it holds commit ids, and those of the local copies that this project is built from are not those of the
// public repositories, so git ignores it. Package.versions takes its place, with the packages that these packages need;
// scripts/packages holds a build to it.

let package = Package(
    name: "orbweaver",
    products: [
        .executable(name: "orbweaver", targets: ["orbweaver"]),
        .executable(name: "orbweaver-bench", targets: ["orbweaver-bench"]),
        .library(name: "CoreFuzzer", type: .static, targets: ["CoreFuzzer"]),
        .library(name: "SignalingFuzzer", type: .static, targets: ["SignalingFuzzer"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        // C libraries: module maps and shims
        .systemLibrary(
            name: "COpenSSL", path: "Sources/CLibraries/COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CSRTP", path: "Sources/CLibraries/CSRTP", pkgConfig: "libsrtp2", providers: [.apt(["libsrtp2-dev"])]),
        .systemLibrary(
            name: "COpus", path: "Sources/CLibraries/COpus", pkgConfig: "opus", providers: [.apt(["libopus-dev"])]),
        .systemLibrary(name: "CSpandsp", path: "Sources/CLibraries/CSpandsp", providers: [.apt(["libspandsp-dev"])]),
        .systemLibrary(
            name: "CSpeexDSP", path: "Sources/CLibraries/CSpeexDSP", pkgConfig: "speexdsp",
            providers: [.apt(["libspeexdsp-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/CLibraries/CCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CMpg123", path: "Sources/CLibraries/CMpg123", pkgConfig: "libmpg123",
            providers: [.apt(["libmpg123-dev"])]),
        .systemLibrary(
            name: "CWebSockets", path: "Sources/CLibraries/CWebSockets", pkgConfig: "libwebsockets",
            providers: [.apt(["libwebsockets-dev"])]),
        .systemLibrary(
            name: "CZlib", path: "Sources/CLibraries/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CLinux", path: "Sources/CLibraries/CLinux", cSettings: [.define("_GNU_SOURCE")]),

        // Bindings: one safe type family per library
        binding("Cryptography", ["COpenSSL"]),
        binding("DTLS", ["COpenSSL", "Cryptography"]),
        .target(
            name: "CSRTPCiphers", path: "Sources/Bindings/SRTP/Ciphers",
            linkerSettings: [.linkedLibrary("srtp2"), .linkedLibrary("crypto")]),
        binding("SRTP", ["CSRTP", "CSRTPCiphers"], exclude: ["Ciphers"]),
        binding("Opus", ["COpus"]),
        binding("Mpg123", ["CMpg123"]),
        binding("Spandsp", ["CSpandsp"]),
        binding("SpeexDSP", ["CSpeexDSP"]),
        binding("Zlib", ["CZlib"]),
        binding("Sockets", ["CLinux"]),
        binding("HTTPClient", ["CCurl", "Sockets"]),
        binding("WebSocketClient", ["CWebSockets", "Sockets"]),
        binding("EventLoops", [nioCore]),

        // Core: pure values
        core("Primitives"),
        core("STUN"),
        core("ICE", ["STUN"]),
        core("SDP"),
        core("RTP"),
        core("Audio", ["RTP"]),
        core("AudioStreams", ["Audio"]),
        core("Quality"),
        core("MediaPlane", ["STUN", "ICE", "SDP", "RTP"]),
        core("CallControl", ["SDP"]),
        core("Registration", ["CallControl"]),
        core("SPiDR", ["CallControl", "Registration", "SDP", "Push"]),
        core("EventAPI", ["CallControl"]),
        core("Push"),

        // Services: owners and I/O
        service("Observability", ["CallControl", "Push", logging]),
        service(
            "CallRuntime",
            [
                "CallControl", "EventAPI", "Registration", "SDP", "Push", "AudioStreams", "Observability", "Sockets",
                logging,
            ]),
        service(
            "GatewayAPI",
            ["SPiDR", "CallControl", "EventAPI", "Registration", "SDP", "Push", "AudioStreams", httpTypes]),
        service(
            "SignalingServer",
            [
                "CallControl", "EventAPI", "Registration", "SPiDR", "Push", "AudioStreams", "CallRuntime", "GatewayAPI",
                "Observability", "Cryptography", "EventLoops",
                "Sockets", "Zlib",
                hummingbirdCore, hummingbirdTLS, nioCore, nioPosix, nioHTTP1, nioWebSocket, nioSSL, nioHTTPTypes,
                nioHTTPTypesHTTP1, httpTypes,
                logging, lifecycle,
            ]),
        service(
            "MediaServer",
            [
                "MediaPlane", "Audio", "AudioStreams", "Quality", "ICE", "STUN", "SDP", "RTP", "CallRuntime",
                "Observability",
                "Cryptography", "DTLS", "SRTP", "Sockets", "HTTPClient",
                "Mpg123", "Opus", "Spandsp", "SpeexDSP", "CallControl", logging,
            ]),
        service(
            "Storage",
            [
                "CallControl", "EventAPI", "CallRuntime", "GatewayAPI", "Observability", "Push", "Registration",
                "Sockets",
                grdb, logging,
            ]),

        service(
            "AdminServer",
            [
                "CallControl", "Registration", "SPiDR", "EventAPI", "SDP", "CallRuntime", "GatewayAPI", "Observability",
                "Cryptography", "EventLoops", "Sockets", hummingbirdCore, hummingbirdTLS, nioCore, nioSSL, httpTypes,
                logging, lifecycle,
            ]),

        service(
            "ApplicationServer",
            ["CallControl", "SPiDR", "AudioStreams", "CallRuntime", "GatewayAPI", "Cryptography", httpTypes]),

        service(
            "PushClient", ["Push", "Observability", "Cryptography", "HTTPClient", "Sockets", logging]),

        service("StreamClient", ["AudioStreams", "CallRuntime", "Sockets", "WebSocketClient"]),

        service(
            "RecordingServer",
            ["Audio", "CallControl", "EventAPI", "CallRuntime", "Observability", "Opus", "Sockets", logging]),

        service("EventServer", ["CallControl", "EventAPI", "CallRuntime", "GatewayAPI", httpTypes]),

        service(
            "WebhookDelivery",
            [
                "CallControl", "EventAPI", "CallRuntime", "Observability", "Cryptography", "HTTPClient", "Sockets",
                logging,
            ]),

        service(
            "PushDelivery",
            [
                "Push", "CallControl", "Registration", "SPiDR", "SDP", "CallRuntime", "GatewayAPI", "Observability",
                "Sockets", "Zlib", logging,
            ]),

        // Composition root, command line
        .target(
            name: "Gateway",
            dependencies: [
                "EventLoops", "Primitives", "CallControl", "Registration", "SPiDR", "CallRuntime", "SDP", "GatewayAPI",
                "SignalingServer", "AdminServer", "ApplicationServer", "MediaServer", "Storage", "Observability",
                "Push",
                "PushClient", "PushDelivery", "EventServer", "WebhookDelivery", "EventAPI", "RecordingServer",
                "StreamClient",
                "Cryptography", "Sockets", nioCore, nioPosix, nioHTTP1, nioSSL, yams, logging, lifecycle, unixSignals,
            ],
            resources: [.copy("../../clients/js")],
            swiftSettings: strict
        ),
        .executableTarget(name: "orbweaver", dependencies: ["Gateway", argumentParser], swiftSettings: strict),

        // Benchmarks, which do not ship: they may use what tests share
        .target(
            name: "RelayBaseline", dependencies: ["CLinux"], path: "Benchmarks/RelayBaseline",
            linkerSettings: [.linkedLibrary("srtp2")]),
        .target(
            name: "HandshakeBaseline", path: "Benchmarks/HandshakeBaseline",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .target(
            name: "PushBaseline", path: "Benchmarks/PushBaseline",
            linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "BenchValues", path: "Benchmarks/BenchValues", swiftSettings: strict),
        .executableTarget(
            name: "orbweaver-bench",
            dependencies: [
                "BenchValues", "RelayBaseline", "HandshakeBaseline", "PushBaseline", "Primitives", "STUN", "ICE", "SDP",
                "CallControl", "CallRuntime", "EventAPI",
                "MediaServer", "Observability", "Cryptography", "Push", "PushClient",
                "DTLS", "SRTP", "Sockets", "Opus", "SpeexDSP", "Audio", "RTP", "PeerSupport", argumentParser, logging,
                hummingbird,
                nioCore, nioPosix, nioHTTP1, nioSSL, nioWebSocket, httpTypes, grdb,
            ],
            path: "Benchmarks/orbweaver-bench", swiftSettings: strict),

        // What tests share
        .target(name: "HeapProbe", path: "Tests/HeapProbe"),
        .target(
            name: "TestSupport", dependencies: ["Primitives"], path: "Tests/TestSupport",
            swiftSettings: strict + lifetimes),
        .target(
            name: "CallSupport", dependencies: ["Primitives", "TestSupport", "CallControl", "Registration"],
            path: "Tests/CallSupport",
            swiftSettings: strict + lifetimes),
        .target(
            name: "PeerSupport",
            dependencies: ["Primitives", "STUN", "ICE", "SDP", "Cryptography", "DTLS", "SRTP", "Sockets"],
            path: "Tests/PeerSupport", swiftSettings: strict + lifetimes),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Primitives", "STUN", "ICE", "SDP", "RTP", "Audio", "AudioStreams", "MediaPlane", "CallControl",
                "Registration", "SPiDR", "GatewayAPI", "Push",
            ],
            path: "Tests/FuzzTargets",
            swiftSettings: strict + lifetimes),
        .target(
            name: "SignalingFuzzTargets",
            dependencies: [
                "FuzzTargets", "Primitives", "SignalingServer", "Zlib", "AdminServer", "ApplicationServer",
                "CallControl", "CallRuntime", "GatewayAPI", "SPiDR", "HTTPClient", "Push", "PushClient", nioWebSocket,
                httpTypes,
            ],
            path: "Tests/SignalingFuzzTargets", swiftSettings: strict + lifetimes),
        // libFuzzer's entry, which a program can have only once; no test may depend on them.
        .target(name: "CoreFuzzer", dependencies: ["FuzzTargets"], path: "Tests/CoreFuzzer", swiftSettings: strict),
        .target(
            name: "SignalingFuzzer", dependencies: ["FuzzTargets", "SignalingFuzzTargets"],
            path: "Tests/SignalingFuzzer", swiftSettings: strict),

        // Tests, one target per module
        tests("PrimitivesTests", []),
        tests("BenchValuesTests", ["BenchValues"]),
        tests("FuzzReplayTests", ["FuzzTargets"]),
        tests("SignalingFuzzReplayTests", ["FuzzTargets", "SignalingFuzzTargets"]),
        tests("STUNTests", ["STUN", "FuzzTargets"]),
        tests("ICETests", ["ICE", "STUN", "FuzzTargets"]),
        tests("SDPTests", ["SDP", "FuzzTargets"]),
        tests("RTPTests", ["RTP", "FuzzTargets"]),
        tests("AudioTests", ["Audio"]),
        tests("AudioStreamsTests", ["AudioStreams", "Audio"]),
        tests("QualityTests", ["Quality"]),
        tests("MediaPlaneTests", ["MediaPlane", "RTP", "SDP", "ICE", "STUN"]),
        tests(
            "SimulationTests",
            [
                "MediaPlane", "RTP", "SDP", "ICE", "STUN", "Audio", "MediaServer", "Opus", "Spandsp", "HeapProbe",
                "CallControl",
            ]),
        tests("CryptographyTests", ["Cryptography"]),
        tests("DTLSTests", ["DTLS", "Cryptography", "COpenSSL"]),
        tests("SRTPTests", ["SRTP"]),
        tests("SpandspTests", ["Spandsp"]),
        tests("Mpg123Tests", ["Mpg123"]),
        tests("SocketsTests", ["Sockets"]),
        tests("PushTests", ["Push", "Cryptography"]),
        tests(
            "PushClientTests",
            [
                "PushClient", "Push", "Cryptography", "Observability", nioCore, nioPosix, nioHTTP1, nioSSL, logging,
            ]),
        tests("HTTPClientTests", ["HTTPClient", "Sockets", nioCore, nioPosix, nioHTTP1]),
        tests("WebSocketClientTests", ["WebSocketClient", "Sockets"]),
        tests("ZlibTests", ["Zlib"]),
        tests("ObservabilityTests", ["Observability", "CallControl", logging]),
        tests(
            "StorageTests",
            [
                "Storage", "CallRuntime", "CallControl", "CallSupport", "EventAPI", "Observability", "Push",
                "Registration", "Sockets",
            ]),
        tests(
            "PushDeliveryTests",
            [
                "PushDelivery", "Push", "CallRuntime", "CallControl", "Registration", "GatewayAPI", "Observability",
                "Sockets", logging,
            ]),
        tests(
            "WebhookDeliveryTests",
            [
                "WebhookDelivery", "CallControl", "CallRuntime", "Cryptography", "EventAPI", "Observability", "Sockets",
                logging, nioCore, nioPosix, nioHTTP1,
            ]),
        tests(
            "AdminServerTests",
            [
                "AdminServer", "CallControl", "CallRuntime", "CallSupport", "Cryptography", "EventAPI", "GatewayAPI",
                "Observability",
                "Push", "PushDelivery", "Registration", "Storage", httpTypes, logging, yams,
            ]),
        tests(
            "RecordingServerTests",
            [
                "RecordingServer", "Audio", "CallControl", "CallRuntime", "EventAPI", "Observability", "Opus", logging,
            ]),
        tests(
            "ApplicationServerTests",
            [
                "ApplicationServer", "AudioStreams", "CallControl", "CallRuntime", "GatewayAPI", "Storage", httpTypes,
                logging, yams,
            ]),
        tests(
            "MediaServerTests",
            [
                "MediaServer", "MediaPlane", "Audio", "AudioStreams", "RTP", "Opus", "Spandsp", "PeerSupport",
                "CallControl", "CallRuntime", "Observability", "SDP", "DTLS", "ICE",
                "STUN", "Sockets", "Cryptography", "HTTPClient", logging,
            ]),
        tests("CallControlTests", ["CallControl", "SPiDR", "SDP", "CallSupport", "FuzzTargets"]),
        tests("RegistrationTests", ["Registration", "CallControl", "SPiDR", "CallSupport"]),
        tests("SPiDRTests", ["SPiDR", "CallControl", "Registration", "SDP", "Push"]),
        tests("EventAPITests", ["EventAPI", "CallControl"]),
        tests(
            "CallRuntimeTests",
            [
                "CallRuntime", "CallControl", "CallSupport", "EventAPI", "Registration", "SPiDR", "SDP", "Push",
                "AudioStreams", "Sockets",
                logging,
            ]),
        tests("GatewayAPITests", ["GatewayAPI", "SPiDR", "CallControl", "Registration", "SDP", "FuzzTargets"]),
        tests(
            "SignalingServerTests",
            [
                "SignalingServer", "GatewayAPI", "AudioStreams", "CallControl", "EventAPI", "Registration",
                "CallRuntime", "Observability", "Cryptography", "EventLoops", "SDP", "Push", "PushDelivery", "Sockets",
                nioCore, nioPosix, nioHTTP1, nioWebSocket, nioSSL, httpTypes, logging, lifecycle,
            ]),
        tests("GatewayTests", ["Gateway", "CallControl", "Cryptography", "Observability", nioCore, nioPosix, logging]),
        tests(
            "ContractTests",
            [
                "ApplicationServer", "EventServer", "EventAPI", "GatewayAPI", "SignalingServer", "SPiDR", "CallControl",
                "AudioStreams", "CallRuntime",
                "Push", httpTypes, yams,
            ]),
    ]
)

// MARK: A part of it

// scripts/sanitize compiles what its tests reach and nothing else: ORBWEAVER_TARGETS names test targets, with commas
// between them.
if let names = Context.environment["ORBWEAVER_TARGETS"] {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var reached: Set<String> = []
    var open = names.split(separator: ",").map(String.init)
    while let name = open.popLast() {
        guard let target = targets[name] else { fatalError("ORBWEAVER_TARGETS names \(name), which is no target") }
        guard reached.insert(name).inserted else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
    }
    package.targets.removeAll { !reached.contains($0.name) }
    package.products.removeAll()
}
