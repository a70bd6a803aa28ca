package import CallControl
package import Primitives

extension LoginThrottle {
    /// An account, and where somebody says to be its owner.
    package struct Claim: Hashable, Sendable {
        package let account: UserAddress
        /// `nil`: not known, as over a socket without addresses.
        package let network: SourceNetwork?

        package init(_ account: UserAddress, from network: SourceNetwork?) {
            self.account = account
            self.network = network
        }
    }
}
