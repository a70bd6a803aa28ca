/// Finds the active speaker: the loudest of several participants. A hysteresis keeps short noises from changing it.
struct SpeakerDetector: Sendable {
    /// Participants that are quieter than this, in dB below full scale, do not speak.
    private static let floor = 50.0
    /// A challenger becomes active if it is louder than the active speaker by this margin, in dB.
    private static let margin = 3.0
    /// The number of consecutive cycles of 20 ms in which the challenger has to be louder.
    private static let patience = 15

    /// dB below full scale, smoothed: the level rises at once, and falls by 1 dB in 20 ms.
    private var levels: [Double]
    private(set) var active: Int?
    private var challenger: (participant: Int, cycles: Int)?
    private var heard: [Bool]

    init(count: Int) {
        levels = [Double](repeating: 127, count: count)
        heard = [Bool](repeating: false, count: count)
    }

    mutating func heard(_ level: AudioLevel, from participant: Int) {
        heard[participant] = true
        levels[participant] = min(Double(level.decibelsBelow), levels[participant] + 1)
    }

    /// Ends a cycle. Returns the active speaker if it has changed; `nil` if it has not.
    mutating func advance() -> Int? {
        for participant in levels.indices where !heard[participant] {
            levels[participant] = min(127, levels[participant] + 1)
        }
        for participant in heard.indices { heard[participant] = false }
        var loudest = 0
        for participant in levels.indices where levels[participant] < levels[loudest] { loudest = participant }
        guard levels[loudest] < Self.floor, loudest != active else {
            challenger = nil
            return nil
        }
        if let active, levels[loudest] > levels[active] - Self.margin {
            challenger = nil
            return nil
        }
        let cycles = challenger?.participant == loudest ? (challenger?.cycles ?? 0) + 1 : 1
        challenger = (loudest, cycles)
        guard active == nil || cycles >= Self.patience else { return nil }
        active = loudest
        challenger = nil
        return loudest
    }

    mutating func remove(_ participant: Int) {
        levels[participant] = 127
        if active == participant { active = nil }
        if challenger?.participant == participant { challenger = nil }
    }

    func level(of participant: Int) -> AudioLevel {
        AudioLevel(decibelsBelow: UInt8(min(max(levels[participant], 0), 127)))
    }
}
