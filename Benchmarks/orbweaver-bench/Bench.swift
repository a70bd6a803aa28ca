import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orbweaver-bench",
        abstract:
            "Measures what the gateway costs, as CPU per unit of work and as a ratio to a baseline in the same run.",
        discussion:
            "Build with `swift build -c release`; a debug build says nothing. Figures belong into docs/performance.md.",
        subcommands: [
            RelayBenchmark.self, AllocationsBenchmark.self, SRTPBenchmark.self, CallStartBenchmark.self,
            MemoryBenchmark.self, LoadBenchmark.self,
            TranscodeBenchmark.self,
            CallsBenchmark.self, ChannelsBenchmark.self, SubscribeBenchmark.self, BareRoute.self, BareChannels.self,
            BareRows.self, PushBenchmark.self, EventsBenchmark.self, WebhooksBenchmark.self,
            BotsBenchmark.self, BesideBenchmark.self,
        ]
    )
}
