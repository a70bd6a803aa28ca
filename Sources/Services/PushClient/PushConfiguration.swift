package import Primitives
package import Push

/// Which providers pushes are sent to, and with which keys.
package struct PushConfiguration: Sendable {
    /// The account with Apple.
    package struct Apple: Hashable, Sendable {
        /// The team of the developer account, 10 characters.
        package var team: String
        /// The identifier of the key, 10 characters.
        package var keyID: String
        /// The path of the file with the private key, as Apple gives it (`.p8`). It is read again when it changes.
        package var keyPath: String
        /// The service for apps from the App Store and TestFlight, without a path.
        package var productionURL = "https://api.push.apple.com"
        /// The service for apps under development, without a path.
        package var developmentURL = "https://api.sandbox.push.apple.com"

        /// Makes an account of its parts; each parameter is the property of that name.
        package init(team: String, keyID: String, keyPath: String) {
            self.team = team
            self.keyID = keyID
            self.keyPath = keyPath
        }
    }

    /// The project with Firebase.
    package struct Google: Hashable, Sendable {
        /// The path of the file with the service account, JSON as Google gives it. It is read again when it changes.
        package var accountPath: String
        /// The service, without a path.
        package var url = "https://fcm.googleapis.com"

        /// Makes a project of its parts; the parameter is the property of that name.
        package init(accountPath: String) { self.accountPath = accountPath }
    }

    /// Apps that have accounts of their own.
    package struct Applications: Equatable, Sendable {
        /// The folder with a file for each of them (docs/configuration.md). The files are read again when they change.
        package var folder: String
        /// As `Apple.productionURL`.
        package var appleProductionURL = Apple(team: "", keyID: "", keyPath: "").productionURL
        /// As `Apple.developmentURL`.
        package var appleDevelopmentURL = Apple(team: "", keyID: "", keyPath: "").developmentURL
        /// As `Google.url`.
        package var googleURL = Google(accountPath: "").url

        /// Makes the configuration of a folder, with the providers' own services.
        package init(folder: String) { self.folder = folder }
    }

    /// The account with Apple; `nil`: nothing is sent to Apple devices of apps that have none of their own.
    package var apple: Apple?
    /// The project with Firebase; `nil`: nothing is sent to it for apps that have none of their own.
    package var google: Google?
    /// Apps that have accounts of their own; `nil`: none has.
    package var applications: Applications?
    /// The folder with the keys of webhooks: for each app a file with its bundle identifier as name, with one key or
    /// more, `whsec_…`, one a line. It is read again when it changes. `nil`: webhooks are not asked.
    package var webhookKeyFolder: String?
    /// The limits of each provider's queue. The capacity is also that of all webhooks together: once they have it, a
    /// push about a call takes the place of the latest one that is about none, and any push to a host with fewer pushes
    /// that of the latest one to the host with the most; but no other push takes the place of a call.
    package var queue = PushQueue.Configuration()
    /// The most requests to one webhook host that have no answer yet, 1…1,000.
    package var webhookRequestsInFlight = 20
    /// The longest time that an answer is waited for; more than 0.
    package var attemptTime = Duration.seconds(10)
    /// Addresses that are permitted although the Internet does not route them.
    package var allowedAddresses: [IPAddressRange] = []
    /// A file with the certificates in PEM of the authorities that are trusted; `nil`: those of the system.
    package var authorityPath: String?

    /// The providers that pushes can be sent to.
    package var providers: Set<PushProvider> {
        var providers: Set<PushProvider> = []
        // Which apps have an account may change at any time.
        if apple != nil || applications != nil { providers.insert(.apple) }
        if google != nil || applications != nil { providers.insert(.google) }
        if webhookKeyFolder != nil { providers.insert(.webhook) }
        return providers
    }

    /// Makes a configuration without any provider.
    package init() {}
}
