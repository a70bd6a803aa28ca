import Foundation

/// Which part of a list is asked for. `Failure` is what is thrown if that cannot be read.
package struct ListPageRequest<Failure: RequestRefusal>: Equatable, Sendable {
    /// The most items on a page.
    package let limit: Int
    /// The place of the last item of the page before: the parts that it is ordered by. `nil`: from the start.
    package let after: [String]?

    private static var largest: Int { 1_000 }
    private static var usual: Int { 100 }

    /// Reads `limit` and `cursor`.
    ///
    /// - Parameters:
    ///   - list: the name of the list, so that a cursor of another list is refused.
    ///   - parts: how many parts a place in the list has.
    /// - Throws: `request.invalid_parameter`.
    package init(_ parameters: RequestQuery<Failure>, of list: String, parts: Int) throws(Failure) {
        if let text = parameters["limit"] {
            guard let number = Int(text), (1...Self.largest).contains(number) else {
                throw Failure(
                    .invalidParameter, "The parameter \"limit\" must be a number from 1 to \(Self.largest).")
            }
            limit = number
        } else {
            limit = Self.usual
        }
        guard let text = parameters["cursor"] else {
            after = nil
            return
        }
        guard let place = Self.place(text), place.count == parts + 1, place[0] == list else {
            throw Failure(.invalidParameter, "The parameter \"cursor\" is not from an answer for this list.")
        }
        after = Array(place.dropFirst())
    }

    /// The cursor that continues behind an item.
    fileprivate static func cursor(_ list: String, after place: [String]) -> String {
        let bytes = (try? JSONEncoder().encode([list] + place)) ?? Data()
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
package struct ListPage<Item: Sendable>: Sendable {
    /// The items.
    package var items: [Item]
    /// What continues the list; `nil`: this is its end.
    package var next: String?

    /// Makes a page of a list that was read one item further than the page reaches, if it goes on there.
    ///
    /// - Parameters:
    ///   - list: the name of the list, as it was given to the request.
    ///   - place: the parts that an item is ordered by.
    package init<Failure: RequestRefusal>(
        _ read: [Item], _ request: ListPageRequest<Failure>, of list: String, place: (Item) -> [String]
    ) {
        items = Array(read.prefix(request.limit))
        next =
            read.count > request.limit
            ? items.last.map { ListPageRequest<Failure>.cursor(list, after: place($0)) } : nil
    }
}

extension ListPage: Encodable where Item: Encodable {}
