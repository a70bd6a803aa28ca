import AudioStreams

/// A stream that a program has opened itself, as the owner of its application knows it.
struct IncomingStream: Sendable {
    /// What happens to the call when the program is given up.
    var fallback: StreamOrder.Fallback
    /// How long the program is waited for.
    var absence: ProgramAbsence

    init(_ fallback: StreamOrder.Fallback, _ absence: ProgramAbsence) {
        self.fallback = fallback
        self.absence = absence
    }
}
