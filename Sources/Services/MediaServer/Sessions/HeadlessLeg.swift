internal import CallControl
internal import MediaPlane
internal import Sockets

/// A leg with a place in the bridge, over any transport, and the audio that is played to the leg.
///
/// Confined to its worker's thread.
protocol HearingLeg: AnyObject {
    /// The name of the leg in its call.
    var name: LegID { get }
    /// The place of the leg in the bridge.
    var index: LegIndex { get }
    /// The audio source of the leg when nothing is played to it.
    var usualSource: MediaSource? { get set }
    /// The audio source that is played to the leg; `nil` if nothing is played.
    var played: MediaSource? { get set }
    /// The player of that source; kept for an audio engine that is made later.
    var player: (any AudioPlayer)? { get set }
    /// DTMF digits are sent to the leg, and its audio source waits.
    var isInterrupted: Bool { get set }
}

extension MediaLeg: HearingLeg {}

/// A leg without a peer: its source and its sink are inside the gateway (docs/adr/0009). It has no transport.
///
/// Confined to its worker's thread; a debug build asserts it with every change. A leg that moves to another worker is
/// made anew there.
final class HeadlessLeg: HearingLeg {
    let name: LegID
    let index: LegIndex
    /// What the other legs hear of it, and what takes what it hears.
    let voice: SpeakingVoice
    var usualSource: MediaSource? { didSet { assertOwner() } }
    var played: MediaSource? { didSet { assertOwner() } }
    var player: (any AudioPlayer)? { didSet { assertOwner() } }
    var isInterrupted = false { didSet { assertOwner() } }

    private let owner = OwnerThread()

    init(name: LegID, index: LegIndex, voice: SpeakingVoice) {
        self.name = name
        self.index = index
        self.voice = voice
    }

    private func assertOwner() { assert(owner.isCurrent, "a headless leg is used on its worker's thread") }
}
