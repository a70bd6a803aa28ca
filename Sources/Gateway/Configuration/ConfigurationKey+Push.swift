import Primitives
import Push
import PushClient

extension ConfigurationKey {
    /// Push providers and the keys for them.
    static let push = [
        ConfigurationKey(
            "push", "apple_team", \.push.appleTeam, ValueFormat.appleName.orNone("none", "no pushes to Apple devices"),
            "The team of the developer account with Apple."),
        ConfigurationKey(
            "push", "apple_key_id", \.push.appleKeyID,
            ValueFormat.appleName.orNone("none", "no pushes to Apple devices"),
            "The identifier of the key for APNs."),
        ConfigurationKey(
            "push", "apple_key_file", \.push.appleKeyPath,
            ValueFormat.path.orNone("none", "no pushes to Apple devices"),
            "File with the private key for APNs (.p8); read again when it changes."),
        ConfigurationKey(
            "push", "apple_production_url", \.push.appleProductionURL, .serviceURL,
            "APNs for apps from the App Store and TestFlight."),
        ConfigurationKey(
            "push", "apple_development_url", \.push.appleDevelopmentURL, .serviceURL,
            "APNs for apps under development."),
        ConfigurationKey(
            "push", "google_account_file", \.push.googleAccountPath,
            ValueFormat.path.orNone("none", "no pushes by Firebase"),
            "File with the service account for Firebase (JSON); read again when it changes."),
        ConfigurationKey("push", "google_url", \.push.googleURL, .serviceURL, "The FCM HTTP v1 API."),
        ConfigurationKey(
            "push", "applications_folder", \.push.applicationsFolder,
            ValueFormat.path.orNone("none", "all apps have the accounts above"),
            "Folder with a file for each app that has accounts of its own with Apple and Firebase, named by its bundle identifier and .json; read again when it changes."
        ),
        ConfigurationKey(
            "push", "webhook_key_folder", \.push.limits.webhookKeyFolder,
            ValueFormat.path.orNone("none", "no pushes to webhooks"),
            "Folder with a file for each app, named by its bundle identifier, with the keys (whsec_…) that sign pushes to its webhooks."
        ),
        ConfigurationKey(
            "push", "allowed_addresses", \.push.limits.allowedAddresses, .addressRanges,
            "Addresses that the Internet does not route, and that pushes may be sent to all the same."),
        ConfigurationKey(
            "push", "authority_file", \.push.limits.authorityPath,
            ValueFormat.path.orNone("system", "those of this machine"),
            "PEM file with the certificate authorities that may vouch for providers and webhooks."),
        ConfigurationKey(
            "push", "registrations_per_user", \.push.registrationsPerUser, .count(1...1_000),
            "Registrations of one user; a further one takes the place of the one that was registered longest ago."),
        ConfigurationKey(
            "push", "queue_length", \.push.limits.queue.capacity, .count(1...1_000_000),
            "Pushes to one service with one account, and to all webhooks together, that have not ended. A push about a "
                + "call then takes the place of one that is about none; further ones are given up, of webhooks those to "
                + "the host with the most."),
        ConfigurationKey(
            "push", "requests_in_flight", \.push.limits.queue.inFlight, .count(1...1_000),
            "Requests to one service that have no answer yet; further pushes wait."),
        ConfigurationKey(
            "push", "answer_time", \.push.limits.attemptTime, .duration(.milliseconds(100)...(.seconds(60))),
            "How long the answer of a provider is waited for; then the push is sent again, if there is time."),
    ]
}

extension ValueFormat<String> {
    /// What Apple gives teams and keys as names.
    fileprivate static let appleName = ValueFormat(
        "10 letters and digits",
        parseText: { text in
            text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? text : nil
        },
        writeText: { $0 })

    /// A URL that paths are appended to.
    fileprivate static let serviceURL = ValueFormat(
        "an https: URL without a path",
        parseText: { text in
            guard text.hasPrefix("https://") else { return nil }
            let authority = text.dropFirst("https://".count)
            return !authority.isEmpty && authority.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                && !authority.contains(where: { "/?#@".contains($0) }) ? text : nil
        },
        writeText: { $0 })
}
