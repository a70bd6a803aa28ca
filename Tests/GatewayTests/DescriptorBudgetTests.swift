import Gateway
import Testing

@Suite struct `Descriptor budget` {
    @Test(arguments: [
        // The limit, what is open, connections for media, apps, listeners, and what each of these may have.
        (100_000, 40, 0, 0, 1, 99_936),
        (1_024, 40, 0, 0, 2, 480),
        (1_024, 40, 0, 10, 2, 430),
        (1_024, 40, 4_000, 0, 1, 720),
        (80, 40, 0, 0, 2, 8),
        (40, 60, 0, 0, 2, 1),
        (200, 40, 0, 50, 2, 1),
    ])
    func `listeners share what everything else leaves`(
        _ limit: Int, _ inUse: Int, _ media: Int, _ apps: Int, _ listeners: Int, _ each: Int
    ) {
        let budget = DescriptorBudget(limit: limit, inUse: inUse, mediaConnections: media, apps: apps)
        #expect(budget.connections(ofEachOf: listeners) == each)
    }
}
