import CallControl
import Testing

@testable import MediaServer

struct FetchPlacesTests {
    private static func name(_ text: String) throws -> ApplicationName { try #require(ApplicationName(text)) }

    @Test func `who waits has the place that is free next, if its application may have it`() throws {
        var places = FetchPlaces()
        let (busy, idle) = (try Self.name("busy"), try Self.name("idle"))
        let granted = (0..<FetchPlaces.maximumOfOne).map { places.ask($0, for: busy) }
        #expect(granted.allSatisfy { $0 == .granted })
        let wishes = [places.ask(100, for: busy), places.ask(101, for: busy), places.ask(200, for: idle)]
        #expect(wishes == [.waits, .waits, .granted])
        // A place of the other application is none for this one.
        let turns = [places.leave(idle), places.leave(busy), places.leave(busy), places.leave(busy)]
        #expect(turns == [nil, 100, 101, nil])
    }

    @Test func `all places together have a limit, and the order of coming holds`() throws {
        var places = FetchPlaces()
        let names = try (0..<5).map { try Self.name("bot-\($0)") }
        var answers: [FetchPlaces.Answer] = []
        for number in 0..<FetchPlaces.maximum { answers.append(places.ask(number, for: names[number % 4])) }
        #expect(answers.allSatisfy { $0 == .granted })
        let late = [places.ask(100, for: names[4]), places.ask(101, for: names[0]), places.ask(102, for: names[4])]
        #expect(late == [.waits, .waits, .waits])
        let turns = [places.leave(names[1]), places.leave(names[1]), places.leave(names[0])]
        #expect(turns == [100, 102, 101], "the second is not for an application that has its share")
    }

    @Test func `so many wait and no more, for each application`() throws {
        var places = FetchPlaces()
        let (busy, other) = (try Self.name("busy"), try Self.name("other"))
        var answers: [FetchPlaces.Answer] = []
        for number in 0...(FetchPlaces.maximumOfOne + FetchPlaces.maximumWaiting) {
            answers.append(places.ask(number, for: busy))
        }
        #expect(answers.filter { $0 == .waits }.count == FetchPlaces.maximumWaiting)
        #expect(answers.last == .refused)
        let answer = places.ask(1_000, for: other)
        #expect(answer == .granted)
    }
}
