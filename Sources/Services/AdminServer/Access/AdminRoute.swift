import Foundation
package import HTTPTypes

/// The operations at the path of a request, and the values in it.
package struct AdminRoute: Equatable, Sendable {
    /// What can be done at the path.
    package let operations: [AdminOperation]
    /// The segments that vary, percent-decoded, by their names in the template.
    package let values: [String: String]

    /// Finds the path among those of the operations.
    ///
    /// - Parameter path: the path without the query. Trailing slashes make no difference.
    /// - Throws: `resource.not_found`, or `request.malformed` for a broken percent-escape.
    package init(parsing path: String) throws(AdminError) {
        let segments = path.split(separator: "/").map(String.init)
        operations = AdminOperation.allCases.filter { Self.fits(segments, Self.segments(of: $0)) }
        guard let first = operations.first else {
            throw AdminError(
                .resourceNotFound, "There is nothing at this path; openapi/admin.yaml lists what there is.")
        }
        var values: [String: String] = [:]
        for (segment, name) in zip(segments, Self.segments(of: first)) where name.hasPrefix("{") {
            guard let value = segment.removingPercentEncoding else {
                throw AdminError(.requestMalformed, "The path holds a broken percent-escape.")
            }
            values[String(name.dropFirst().dropLast())] = value
        }
        self.values = values
    }

    /// The operation of this method.
    ///
    /// - Throws: `resource.method_not_allowed`.
    package func operation(_ method: HTTPRequest.Method) throws(AdminError) -> AdminOperation {
        guard let operation = operations.first(where: { $0.method == method }) else {
            throw AdminError(
                .resourceMethodNotAllowed, "\(method.rawValue) is not possible here; use \(allow).")
        }
        return operation
    }

    /// The methods that are possible, for the header `Allow`.
    package var allow: String { operations.map(\.method.rawValue).joined(separator: ", ") }

    private static func segments(of operation: AdminOperation) -> [Substring] {
        operation.template.split(separator: "/")
    }

    private static func fits(_ segments: [String], _ template: [Substring]) -> Bool {
        segments.count == template.count && zip(segments, template).allSatisfy { $1.hasPrefix("{") || $0 == $1 }
    }
}
