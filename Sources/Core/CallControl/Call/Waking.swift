/// The devices of a leg that rings which were woken by push and have not come back (spidr-wire §11.2).
///
///     asleep ── woken ──▶ waking ── it subscribes, or its channel opens ──▶ back: told over its channel
///                            ├───── the leg rings no more ────────────────▶ told so by another push
///                            └───── its push has failed ──────────────────▶ not awaited, and told nothing
package struct Waking: Equatable, Sendable {
    /// The devices, in the order in which they were woken.
    private var devices: [SleepingDevice] = []
    /// The caller offers video, as the devices were told.
    package private(set) var hasVideo = false

    /// Makes a value without devices.
    package init() {}

    /// Whether no device is awaited.
    package var isEmpty: Bool { devices.isEmpty }

    /// Devices are woken.
    package mutating func wake(_ woken: [SleepingDevice], with invitation: CallEvent.Invitation) {
        devices += woken
        hasVideo = invitation.hasVideo
    }

    /// A subscription is the user's device of this name, which listens or is about to.
    ///
    /// - Parameter clientCorrelator: the device's name for itself; `nil`: it has none, so that it could be any device.
    /// - Returns: the devices that have come back by this.
    package mutating func cameBack(_ clientCorrelator: String?) -> [PushDeviceID] {
        guard let clientCorrelator else { return [] }
        let back = devices.filter { $0.clientCorrelator == clientCorrelator }
        devices.removeAll { $0.clientCorrelator == clientCorrelator }
        return back.map(\.id)
    }

    /// The push to a device has failed, so that the device is not awaited.
    ///
    /// - Returns: whether it was awaited.
    package mutating func failed(_ device: PushDeviceID) -> Bool {
        let count = devices.count
        devices.removeAll { $0.id == device }
        return devices.count < count
    }

    /// A device that has no subscription declines. It knows that, and is told nothing more, if it can be no other than
    /// the only one that is awaited.
    mutating func declined() {
        if devices.count == 1 { devices = [] }
    }

    /// The leg rings no more.
    ///
    /// - Returns: the devices that have not come back, and are to be told so.
    package mutating func finish() -> [PushDeviceID] {
        defer { devices = [] }
        return devices.map(\.id)
    }
}

extension CallEvent.Invitation {
    /// Whether the offer has video that is not rejected (RFC 3264 §5).
    package var hasVideo: Bool {
        guard let description else { return false }
        return description.split(whereSeparator: \.isNewline).contains { line in
            line.hasPrefix("m=video ") && !line.hasPrefix("m=video 0 ")
        }
    }
}
