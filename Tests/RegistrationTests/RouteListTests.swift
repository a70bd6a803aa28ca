import Registration
import Testing

/// The routes of a user (spidr-wire §10).
@Suite struct RouteListTests {
    private static let list = RouteList([
        .init("a", isActive: true), .init("b", isActive: false), .init("c", isActive: false),
    ])

    private static func text(_ list: RouteList) -> String {
        list.routes.map { $0.name + ($0.isActive ? "+" : "") }.joined(separator: " ")
    }

    @Test(
        arguments: [
            (.activate(["c", "a"]), "a+ b c+"), (.activate([]), "a+ b c"), (.deactivate(["a"]), "a b c"),
            (.reorder(["c"]), "c a+ b"), (.reorder(["b", "c", "a"]), "b c a+"), (.provide(["d", "c", "a"]), "a+ c d"),
            (.provide([]), ""),
        ] as [(RouteList.Change, String)])
    func `a change is carried out`(_ change: RouteList.Change, _ after: String) throws {
        var list = Self.list
        try list.apply(change)
        #expect(Self.text(list) == after)
    }

    @Test(
        arguments: [
            (.activate(["a", "x"]), .unknown("x")), (.deactivate(["x"]), .unknown("x")),
            (.reorder(["b", "b"]), .repeated("b")), (.provide(["b", "b"]), .repeated("b")),
            (.provide([""]), .unusable("")), (.provide(["a\n"]), .unusable("a\n")),
            (.provide((0...100).map(String.init)), .tooMany(100)),
            (.provide([String(repeating: "x", count: 65)]), .unusable(String(repeating: "x", count: 65))),
        ] as [(RouteList.Change, RouteList.Fault)])
    func `a change that does not fit changes nothing`(_ change: RouteList.Change, _ fault: RouteList.Fault) {
        var list = Self.list
        #expect(throws: fault) { try list.apply(change) }
        #expect(list == Self.list)
    }
}
