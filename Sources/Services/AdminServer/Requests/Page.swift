import Foundation

/// Which part of a list is asked for.
package struct PageRequest: Equatable, Sendable {
    /// The most items on a page.
    package let limit: Int
    /// The place of the last item of the page before: the parts that it is ordered by. `nil`: from the start.
    package let after: [String]?

    private static let largest = 1_000
    private static let usual = 100

    /// Reads `limit` and `cursor`.
    ///
    /// - Parameters:
    ///   - list: the name of the list, so that a cursor of another list is refused.
    ///   - parts: how many parts a place in the list has.
    /// - Throws: `request.invalid_parameter`.
    package init(_ parameters: QueryParameters, of list: AdminOperation, parts: Int) throws(AdminError) {
        if let text = parameters["limit"] {
            guard let number = Int(text), (1...Self.largest).contains(number) else {
                throw AdminError(
                    .requestInvalidParameter, "The parameter \"limit\" must be a number from 1 to \(Self.largest).")
            }
            limit = number
        } else {
            limit = Self.usual
        }
        guard let text = parameters["cursor"] else {
            after = nil
            return
        }
        guard let place = Self.place(text), place.count == parts + 1, place[0] == list.rawValue else {
            throw AdminError(.requestInvalidParameter, "The parameter \"cursor\" is not from an answer for this list.")
        }
        after = Array(place.dropFirst())
    }

    /// The cursor that continues behind an item.
    static func cursor(_ list: AdminOperation, after place: [String]) -> String {
        let bytes = (try? JSONEncoder().encode([list.rawValue] + place)) ?? Data()
        return bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func place(_ cursor: String) -> [String]? {
        let padding = String(repeating: "=", count: (4 - cursor.utf8.count % 4) % 4)
        let text = cursor.replacing("-", with: "+").replacing("_", with: "/") + padding
        guard let bytes = Data(base64Encoded: text) else { return nil }
        return try? JSONDecoder().decode([String].self, from: bytes)
    }
}

/// A part of a list.
package struct Page<Item: Sendable>: Sendable {
    /// The items.
    package var items: [Item]
    /// What continues the list; `nil`: this is its end.
    package var next: String?

    /// Makes a page of a list that was read one item further than the page reaches, if it goes on there.
    ///
    /// - Parameter place: the parts that an item is ordered by.
    package init(_ read: [Item], _ request: PageRequest, of list: AdminOperation, place: (Item) -> [String]) {
        items = Array(read.prefix(request.limit))
        next = read.count > request.limit ? items.last.map { PageRequest.cursor(list, after: place($0)) } : nil
    }
}

extension Page: Encodable where Item: Encodable {}
