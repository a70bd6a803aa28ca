/// Where recordings are kept, and for how long.
package struct RecordingConfiguration: Equatable, Sendable {
    /// The folder of the files, which has to exist; `nil`: nothing is recorded.
    package var folder: String?
    /// How long a recording is kept after its end; more than 0.
    package var age = Duration.seconds(30 * 86_400)
    /// The most bytes of all recordings together, 1 or more. The oldest make room; those that go on are not counted.
    package var bytes = 10_000_000_000

    /// Makes a configuration with the default of each property.
    package init() {}
}
