import GatewayAPI
import HTTPTypes
import SignalingServer
import Testing

/// Services of the protocol that this gateway does not have: clients are told so in words that they read (spidr-wire
/// §10, §11, §12.1).
@Suite struct `Routes of services that are not provided` {
    private static let user = "/rest/version/1/user/joe@example.com"

    /// What a client asks, and the wrapper in which it looks for `statusCode`.
    static let services: [(String, String, String)] = [
        ("POST", user + "/imrn", "imrnResponse.")
    ]

    @Test(arguments: services)
    func `each is refused in the wrapper that its clients read`(_ method: String, _ path: String, _ wrapper: String)
        async throws
    {
        try await TestServer.run { server in
            let body = ["POST", "PUT"].contains(method) ? #"{"anyRequest":{}}"# : nil
            let answer = try await server.request(method, path, body)
            #expect(answer.status == 403)
            #expect(answer["Content-Type"] == "application/json")
            #expect(try answer.member(wrapper + "statusCode") == "35")
            #expect(try answer.member(wrapper + "code") == "service.not_provided")
        }
    }

    @Test func `every one of them is in the table above`() {
        let asked = Set(Self.services.map { $0.1.split(separator: "?")[0].split(separator: "/").dropFirst(2) })
        for service in AbsentService.allCases {
            let template = service.template.split(separator: "/").dropFirst(2)
            #expect(
                asked.contains {
                    $0.count == template.count && zip($0, template).allSatisfy { $1.hasPrefix("{") || $0 == $1 }
                }, "\(service)")
        }
    }

    @Test func `another version of one is refused as such`() {
        let refusal = #expect(throws: Refusal.self) { try Route(parsing: "/rest/version/2/user/joe/imrn") }
        #expect(refusal?.error.code == .requestUnsupportedVersion && refusal?.wrapper == .imrn)
    }

    /// Without it a browser tells its page nothing but that the network failed.
    @Test(arguments: [
        user + "/presence", user + "/no/such/resource", "/rest", "/rest/version/2/user/joe/callControl",
        "/rest/version/1/user/%ff/callControl",
    ])
    func `a preflight is answered on every path`(_ path: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("OPTIONS", path, as: nil, headers: ["Origin: https://app.example"])
            #expect(answer.status == 204)
            #expect(answer["Access-Control-Allow-Origin"] == "*")
            #expect(answer["Access-Control-Allow-Methods"] == "GET, POST, PUT, DELETE")
            #expect(answer["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
        }
    }
}
