package import Primitives

/// The SSRCs whose packets of one leg are deciphered: libsrtp2 keeps a context for each of them, and looks through all of them for every
/// packet (`SRTPSession`).
///
/// Only what has been authenticated gets in. There are so many places, and a source beyond the first few waits until it may have one: a
/// peer that invents a new SSRC for every packet costs a glance per packet. What a description announces is never kept waiting.
package struct SourceGate: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Sources at a time. Above the 64 announced ones and the 16 learnt ones of a `Bridge` this leaves some for whoever sends RTCP only.
        package var capacity = 96
        /// Sources that may come at once, and are in no description.
        package var burst = 32
        /// After that, one source per this time.
        package var interval = Duration.milliseconds(500)

        package init() {}
    }

    /// In the order of their coming.
    private var sources: [UInt32] = []
    private var newcomers = RateLimit()
    private let configuration: Configuration

    package init(configuration: Configuration = Configuration()) {
        precondition(configuration.capacity > 0 && configuration.burst > 0, "somebody can be heard")
        self.configuration = configuration
    }

    package var count: Int { sources.count }

    package var all: [SSRC] { sources.map { SSRC($0) } }

    /// Whether the source has its place. A scan over a handful of packed numbers, for every packet.
    package func knows(_ source: SSRC) -> Bool {
        for known in sources where known == source.rawValue { return true }
        return false
    }

    /// Whether one more source may be tried.
    ///
    /// - Parameter isAnnounced: a description names it, or it is one that media has been routed of.
    package func hasRoom(forAnnounced isAnnounced: Bool, at now: MonotonicTime) -> Bool {
        isAnnounced || newcomers.allows(rate, at: now)
    }

    /// A packet of a source that has no place yet has been authenticated.
    ///
    /// - Parameter isAnnounced: whether the source is named by a description, or media has been routed of it; such a one is the last to go.
    /// - Returns: the source that has to go, if the places are all taken.
    package mutating func enter(_ source: SSRC, at now: MonotonicTime, isAnnounced: (SSRC) -> Bool) -> SSRC? {
        if !isAnnounced(source) { _ = newcomers.admit(rate, at: now) }
        sources.append(source.rawValue)
        guard sources.count > configuration.capacity else { return nil }
        let place = sources.dropLast().firstIndex { !isAnnounced(SSRC($0)) } ?? 0
        return SSRC(sources.remove(at: place))
    }

    private var rate: RateLimit.Configuration {
        RateLimit.Configuration(burst: configuration.burst, interval: configuration.interval)
    }
}
