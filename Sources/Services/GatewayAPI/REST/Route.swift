import Foundation

/// A parsed request path: the endpoint it names, and the user in it (spidr-wire §1.1).
package struct Route: Equatable, Sendable {
    /// The endpoint whose template the path fits.
    package let endpoint: Endpoint
    /// The `{user}` segment, percent-decoded; empty if the endpoint has none.
    package private(set) var user = ""
    /// The `{id}` segment, percent-decoded; empty if the endpoint has none.
    package private(set) var id = ""

    /// The only version of the interface (spidr-wire §1.1).
    private static let version = "1"

    /// Parses a path.
    ///
    /// - Parameter path: the path without the query. Trailing slashes make no difference.
    /// - Throws: `resource.not_found`, `service.not_provided`, `request.malformed_version`,
    ///   `request.unsupported_version`, or `request.malformed` for a broken percent-escape.
    package init(parsing path: String) throws(Refusal) {
        let segments = path.split(separator: "/").map(String.init)
        guard let (endpoint, template) = Self.match(segments) else { throw Self.refusal(of: segments) }
        self.endpoint = endpoint
        for (segment, name) in zip(segments, template) {
            switch name {
            case "{version}":
                // Only `isAlive` knows `latest` (spidr-wire §1.1).
                if segment == "latest", endpoint == .isAlive { continue }
                if let error = Self.fault(ofVersion: segment) { throw Refusal(error, in: endpoint.errorForm) }
            case "{user}": user = try Self.decoded(segment, for: endpoint)
            case "{id}": id = try Self.decoded(segment, for: endpoint)
            default: break
            }
        }
    }

    /// The first segments of the client protocol's paths. All other paths are those of pages. Nothing is below
    /// `notification`, where other servers of the protocol have long polls.
    private static let protocolRoots: Set = ["rest", "notification"]

    private static let templates: [(endpoint: Endpoint, segments: [String])] = Endpoint.allCases.map { endpoint in
        (endpoint, endpoint.template.split(separator: "/").map(String.init))
    }

    private static func match(_ segments: [String]) -> (Endpoint, [String])? {
        if let found = templates.first(where: { fits(segments, $0.segments) }) { return found }
        return segments.first.map(protocolRoots.contains) ?? false ? nil : (.page, [])
    }

    private static func fits(_ segments: [String], _ template: [String]) -> Bool {
        segments.count == template.count
            && zip(segments, template).allSatisfy { $1.hasPrefix("{") || $0 == $1 || isCallMe($0) && isCallMe($1) }
    }

    private static let absentServices: [(service: AbsentService, segments: [String])] = AbsentService.allCases.map {
        service in
        (service, service.template.split(separator: "/").map(String.init))
    }

    /// The refusal of a path that is no endpoint: a service that this gateway does not provide, or nothing at all.
    private static func refusal(of segments: [String]) -> Refusal {
        guard let (service, template) = absentServices.first(where: { fits(segments, $0.segments) }) else {
            return Refusal(APIError(.resourceNotFound, "There is nothing at this path."), in: .wrapped(.none))
        }
        let version = zip(segments, template).first { $1 == "{version}" }?.0
        let error =
            version.flatMap(fault(ofVersion:))
            ?? APIError(.serviceNotProvided, "The protocol has this service, this gateway does not.")
        return Refusal(error, in: .wrapped(service.errorWrapper))
    }

    /// Whether the segment is `callMe`, which clients spell with either case (spidr-wire §7).
    private static func isCallMe(_ segment: String) -> Bool { segment.lowercased() == "callme" }

    private static func fault(ofVersion version: String) -> APIError? {
        guard version != Self.version else { return nil }
        return version.allSatisfy { $0.isASCII && $0.isNumber }
            ? APIError(.requestUnsupportedVersion, "Only version \(Self.version) of this interface is offered.")
            : APIError(.requestMalformedVersion, "The version in the path must be \(Self.version).")
    }

    private static func decoded(_ segment: String, for endpoint: Endpoint) throws(Refusal) -> String {
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return segment }
        guard let text = segment.removingPercentEncoding else {
            throw Refusal(
                APIError(.requestMalformed, "The path holds a broken percent-escape."), in: endpoint.errorForm)
        }
        return text
    }
}

/// An error together with the form in which the answer is written.
package struct Refusal: Error, Equatable, Sendable {
    /// Why the request is refused.
    package var error: APIError
    /// How the body is written.
    package var form: ErrorForm
    /// Whether the connection is closed after the answer, since the rest of the request is not worth reading.
    package var closesConnection = false

    /// Makes a refusal of its parts; each parameter is the property of that name. By default the connection stays open.
    package init(_ error: APIError, in form: ErrorForm, closesConnection: Bool = false) {
        self.error = error
        self.form = form
        self.closesConnection = closesConnection
    }

    /// The top-level key below which a client of the protocol looks for the error. `nil` for a problem, which has none.
    package var wrapper: ErrorWrapper? {
        switch form {
        case .wrapped(let wrapper): wrapper
        case .problem: nil
        }
    }
}
