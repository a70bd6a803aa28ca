package import GatewayAPI

/// The parameters of a query to the administration interface.
package typealias QueryParameters = RequestQuery<AdminError>
/// The fields of a body sent to the administration interface.
package typealias BodyFields = RequestFields<AdminError>
/// Which part of a list of the administration interface is asked for.
package typealias PageRequest = ListPageRequest<AdminError>
/// A part of a list of the administration interface.
package typealias Page = ListPage

extension ListPageRequest<AdminError> {
    /// Reads `limit` and `cursor`.
    ///
    /// - Parameter parts: how many parts a place in the list has.
    /// - Throws: `request.invalid_parameter`.
    package init(
        _ parameters: QueryParameters, of list: AdminOperation, parts: Int
    ) throws(AdminError) {
        try self.init(parameters, of: list.rawValue, parts: parts)
    }
}

extension ListPage {
    /// Makes a page of a list that was read one item further than the page reaches, if it goes on there.
    ///
    /// - Parameter place: the parts that an item is ordered by.
    package init(_ read: [Item], _ request: PageRequest, of list: AdminOperation, place: (Item) -> [String]) {
        self.init(read, request, of: list.rawValue, place: place)
    }
}

extension AdminError: RequestRefusal {
    /// Makes the refusal of a request that cannot be read.
    package init(_ problem: RequestProblem, _ detail: String) {
        let code: AdminErrorCode =
            switch problem {
            case .malformed: .requestMalformed
            case .invalidParameter: .requestInvalidParameter
            case .bodyMissing: .requestBodyMissing
            case .malformedJSON: .requestMalformedJSON
            case .missingField: .requestMissingField
            case .invalidValue: .requestInvalidValue
            case .keyInvalid: .idempotencyKeyInvalid
            }
        self.init(code, detail)
    }
}
