package import Primitives

extension Call {
    /// A transfer whose target rings, or was asked to replace a call (spidr-wire §8.5, §8.8).
    package struct Transfer: Equatable, Sendable {
        /// The leg that asked for the transfer.
        let transferor: LegID
        /// The leg that is to be connected with the target.
        let transferred: LegID
        /// The leg of the target, which rings or was asked to replace a call.
        let target: LegID
        /// The user whom the target's leg belongs to.
        let party: UserAddress
        /// The target's call that this one is to replace; `nil`: the target is rung.
        let replaced: ReplacedCall?
        /// What every device of the target is told, including devices that subscribe later.
        let invitation: CallEvent.Invitation
        /// When the transfer fails because the target has not answered.
        let deadline: MonotonicTime

        /// Makes a transfer that starts now.
        ///
        /// - Parameters:
        ///   - target: is rung, or replaces a call, as it says.
        ///   - offer: what the target is offered; `nil`: nothing is described to it.
        package init(
            of transferred: LegID, by transferor: LegID, to target: CallTarget, offering offer: String?,
            at now: MonotonicTime, configuration: Configuration
        ) {
            self.transferor = transferor
            self.transferred = transferred
            self.target = target.leg
            party = target.party.user
            replaced = target.replaced
            invitation = CallEvent.Invitation(description: offer, replaces: target.replaced?.session)
            // A target that replaces a call answers by itself, which takes less time than a user.
            deadline = now + (target.replaced == nil ? configuration.ringTime : configuration.offerTime)
        }
    }
}

extension Call.Transfer {
    // MARK: The target

    /// Whether this leg is the target, whose answer is awaited.
    package func awaits(_ leg: LegID) -> Bool { leg == target }

    /// Whether the devices of the target ring. Otherwise they are asked to replace a call, and accept by themselves.
    package var rings: Bool { replaced == nil }

    /// Whether this leg was not rung, but asked to take this call in place of another.
    package func asksToReplace(_ leg: LegID) -> Bool { awaits(leg) && !rings }

    /// What a device of the target is told that has subscribed meanwhile; `nil`: nothing, since only a device that has
    /// a call can have another one in its place.
    ///
    /// - Parameter wasTold: the device was told of the transfer under its former subscription.
    package func invitation(forDeviceThatWasTold wasTold: Bool) -> CallEvent.Invitation? {
        rings || wasTold ? invitation : nil
    }

    // MARK: Repeated requests

    /// Whether a request of this leg to transfer to this address is the one in progress.
    package func isRepeated(by leg: LegID, to address: UserAddress) -> Bool { leg == transferor && address == party }

    /// Whether a request of this leg to bring the other leg together with the party of this call is the one in
    /// progress.
    package func isRepeated(by leg: LegID, replacing call: CallID) -> Bool {
        leg == transferor && call == replaced?.call
    }

    // MARK: Outcome

    /// What the call that is replaced is told once the target has accepted; `nil`: no call is replaced.
    package var replacement: PeerCallAction? { replaced.map { .passOn($0.call, $0.keeper, .replaced) } }
}
