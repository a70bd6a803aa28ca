package import Primitives

/// The SSRCs of one leg whose packets are decrypted. libsrtp2 keeps a context for each of them, and searches all of
/// them for every packet (`SRTPSession`).
///
/// Only authenticated sources are admitted. The number of places is limited, and after the first few sources a new one
/// waits for its turn. A peer that invents a new SSRC for every packet thus costs one lookup per packet. A source that
/// a description announces never waits.
package struct SourceGate: Equatable, Sendable {
    /// The limits of a gate.
    package struct Configuration: Equatable, Sendable {
        /// The most sources at a time. Beyond the 64 announced and the 16 learnt sources of a `Bridge`, this leaves
        /// some for senders of RTCP only.
        package var capacity = 96
        /// The number of sources without announcement that may come at once.
        package var burst = 32
        /// After that, the time per further source.
        package var interval = Duration.milliseconds(500)

        /// Makes limits with the defaults.
        package init() {}
    }

    /// The admitted sources, in the order of admission.
    private var sources: [UInt32] = []
    private var newSourceRate = RateLimit()
    private let configuration: Configuration

    /// Makes a gate without sources. Capacity and burst must be at least 1.
    package init(configuration: Configuration = Configuration()) {
        precondition(configuration.capacity > 0 && configuration.burst > 0, "some sources can be heard")
        self.configuration = configuration
    }

    /// The number of admitted sources.
    package var count: Int { sources.count }

    /// The admitted sources, in the order of admission.
    package var all: [SSRC] { sources.map { SSRC($0) } }

    /// Whether the source is admitted. This is a scan over a few packed numbers, for every packet.
    package func knows(_ source: SSRC) -> Bool {
        for known in sources where known == source.rawValue { return true }
        return false
    }

    /// Whether the packet of one more source may be decrypted on trial.
    ///
    /// - Parameters:
    ///   - isAnnounced: Whether a description announces the source, or its media has been routed to an m-line.
    ///   - now: The time of arrival.
    package func hasRoom(forAnnounced isAnnounced: Bool, at now: MonotonicTime) -> Bool {
        isAnnounced || newSourceRate.allows(rate, at: now)
    }

    /// Admits a source, since a packet of it has been authenticated.
    ///
    /// - Parameters:
    ///   - source: The source, which is not admitted yet.
    ///   - now: The time of arrival.
    ///   - isAnnounced: Whether a description announces a source, or its media has been routed to an m-line. Such
    ///     sources are the last to be displaced.
    /// - Returns: The source that is displaced; `nil` if there is a free place.
    package mutating func enter(_ source: SSRC, at now: MonotonicTime, isAnnounced: (SSRC) -> Bool) -> SSRC? {
        if !isAnnounced(source) { _ = newSourceRate.admit(rate, at: now) }
        sources.append(source.rawValue)
        guard sources.count > configuration.capacity else { return nil }
        let place = sources.dropLast().firstIndex { !isAnnounced(SSRC($0)) } ?? 0
        return SSRC(sources.remove(at: place))
    }

    private var rate: RateLimit.Configuration {
        RateLimit.Configuration(burst: configuration.burst, interval: configuration.interval)
    }
}
