import Gateway
import Testing

@Suite struct `Descriptor budget` {
    @Test(arguments: [
        // The limit, what is open, connections for media, listeners, and what each of these may have.
        (100_000, 40, 0, 1, 99_936),
        (1_024, 40, 0, 2, 480),
        (1_024, 40, 4_000, 1, 720),
        (80, 40, 0, 2, 8),
        (40, 60, 0, 2, 1),
    ])
    func `listeners share what everything else leaves`(
        _ limit: Int, _ inUse: Int, _ media: Int, _ listeners: Int, _ each: Int
    ) {
        let budget = DescriptorBudget(limit: limit, inUse: inUse, mediaConnections: media)
        #expect(budget.connections(ofEachOf: listeners) == each)
    }
}
