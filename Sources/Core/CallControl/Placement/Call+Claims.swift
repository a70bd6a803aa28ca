/// What a call answers to placements before anything is decided.
extension Call {
    /// Throws if the leg cannot forward or transfer now.
    ///
    /// - Throws: as `checkTransfer(by:)` and `checkForward(by:)`.
    package func check(_ retargeting: Retargeting, by leg: LegID) throws(CallError) {
        switch retargeting {
        case .transfer: try checkTransfer(by: leg)
        case .forward: try checkForward(by: leg)
        }
    }

    /// Throws if the request of this claim cannot be carried out now.
    ///
    /// - Throws: as `check(_:by:)`.
    package func check(_ claim: PlacementClaim) throws(CallError) {
        switch claim {
        case .retarget(let retargeting, let leg, _): try check(retargeting, by: leg)
        case .consultation(let leg, _): try check(.transfer, by: leg)
        }
    }

    /// Whether the request of this claim is in progress.
    package func isInProgress(_ claim: PlacementClaim) -> Bool {
        switch claim {
        case .retarget(.transfer, let leg, let address): transfer?.isRepeated(by: leg, to: address) ?? false
        // A leg that has forwarded the call is not part of it any more.
        case .retarget(.forward, _, _): false
        case .consultation(let leg, let other):
            consultation?.isRepeated(by: leg, with: other) ?? transfer?.isRepeated(by: leg, replacing: other) ?? false
        }
    }
}
