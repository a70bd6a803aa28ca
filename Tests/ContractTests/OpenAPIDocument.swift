import Foundation
import GatewayAPI
import HTTPTypes
import SignalingServer
import TestSupport
import Yams

/// A file of `openapi/` as plain values, with its references followed.
struct OpenAPIDocument {
    typealias Object = [String: Any]

    let root: Object

    init(_ name: String = "orbweaver.yaml") throws {
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "openapi/\(name)")
        guard let root = try Yams.load(yaml: String(contentsOf: file, encoding: .utf8)) as? Object else {
            throw CocoaError(.fileReadCorruptFile)
        }
        self.root = root
    }

    /// What an operation of a path can be called.
    static let methods: Set = ["get", "post", "put", "delete", "patch"]

    /// The version is written out where only one is offered.
    static func path(of endpoint: Endpoint) -> String {
        endpoint == .isAlive ? endpoint.template : endpoint.template.replacing("{version}", with: "1")
    }

    static func path(of service: AbsentService) -> String { service.template.replacing("{version}", with: "1") }

    /// The answers that are described for an operation, by HTTP status.
    func responses(of endpoint: Endpoint, _ method: HTTPRequest.Method) -> [Int: Object] {
        responses(at: Self.path(of: endpoint), method)
    }

    func responses(at path: String, _ method: HTTPRequest.Method) -> [Int: Object] {
        let operation = paths[path]?[method.rawValue.lowercased()] as? Object
        let described = (operation?["responses"] as? Object ?? [:]).compactMap { status, node -> (Int, Object)? in
            guard let status = Int(status), let response = resolve(node) else { return nil }
            return (status, response)
        }
        return Dictionary(uniqueKeysWithValues: described)
    }

    /// Methods by path.
    var paths: [String: Object] { root["paths"] as? [String: Object] ?? [:] }

    var schemas: [String: Any] { ((root["components"] as? Object)?["schemas"] as? Object) ?? [:] }

    /// The node itself, or what its `$ref` points to.
    func resolve(_ node: Any?) -> Object? {
        guard let object = node as? Object else { return nil }
        guard let reference = object["$ref"] as? String else { return object }
        var target: Any? = root
        for part in reference.dropFirst(2).split(separator: "/") { target = (target as? Object)?[String(part)] }
        return resolve(target)
    }
}
