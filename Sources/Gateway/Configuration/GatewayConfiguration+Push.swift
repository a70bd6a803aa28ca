package import PushClient

extension GatewayConfiguration {
    /// Push providers and the keys for them.
    package struct Push: Sendable {
        /// The team of the developer account with Apple; `nil`: there is none.
        package var appleTeam: String?
        /// The identifier of the key for APNs; `nil`: there is none.
        package var appleKeyID: String?
        /// The path of the file with that key; `nil`: there is none.
        package var appleKeyPath: String?
        /// APNs for apps from the App Store and TestFlight.
        package var appleProductionURL = PushConfiguration.Apple(team: "", keyID: "", keyPath: "").productionURL
        /// APNs for apps under development.
        package var appleDevelopmentURL = PushConfiguration.Apple(team: "", keyID: "", keyPath: "").developmentURL
        /// The path of the file with the service account for Firebase; `nil`: there is none.
        package var googleAccountPath: String?
        /// The FCM HTTP v1 API.
        package var googleURL = PushConfiguration.Google(accountPath: "").url
        /// The folder with the accounts that apps have of their own; `nil`: none has.
        package var applicationsFolder: String?
        /// The most registrations of one user, 1 or more.
        package var registrationsPerUser = 20
        /// Everything else. Its providers are filled in by ``configuration``.
        package var limits = PushConfiguration()

        /// The configuration of the push client.
        package var configuration: PushConfiguration {
            var configuration = limits
            if let appleTeam, let appleKeyID, let appleKeyPath {
                var apple = PushConfiguration.Apple(team: appleTeam, keyID: appleKeyID, keyPath: appleKeyPath)
                apple.productionURL = appleProductionURL
                apple.developmentURL = appleDevelopmentURL
                configuration.apple = apple
            }
            if let googleAccountPath {
                var google = PushConfiguration.Google(accountPath: googleAccountPath)
                google.url = googleURL
                configuration.google = google
            }
            if let applicationsFolder {
                var applications = PushConfiguration.Applications(folder: applicationsFolder)
                applications.appleProductionURL = appleProductionURL
                applications.appleDevelopmentURL = appleDevelopmentURL
                applications.googleURL = googleURL
                configuration.applications = applications
            }
            return configuration
        }
    }

    var pushComplaints: [String] {
        let given = [push.appleTeam, push.appleKeyID, push.appleKeyPath].compactMap { $0 }.count
        return given == 0 || given == 3
            ? [] : ["push.apple_team, push.apple_key_id and push.apple_key_file are given together, or none of them"]
    }
}
