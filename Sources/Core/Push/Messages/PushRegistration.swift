package import Primitives

/// A device that can be reached by push, as it has registered itself (spidr-wire §11).
package struct PushRegistration: Hashable, Sendable {
    /// Where the pushes of a registration go.
    package enum Target: Hashable, Sendable {
        /// To Apple's push service.
        case apple(AppleTokens)
        /// To Firebase Cloud Messaging: the registration token of the app.
        case google(token: Redacted<String>)
        /// To the application's own push service, by an `https:` URL.
        case webhook(url: String)
    }

    /// The tokens of an app on an Apple device. At least one is there.
    package struct AppleTokens: Hashable, Sendable {
        /// What a token is for.
        package enum Kind: Hashable, Sendable, CaseIterable {
            /// VoIP pushes.
            case voip
            /// Other pushes.
            case standard
        }

        /// The token for VoIP pushes, in hexadecimal digits; `nil`: the app takes none.
        package var voip: Redacted<String>?
        /// The token for other pushes, in hexadecimal digits; `nil`: the app takes none.
        package var standard: Redacted<String>?
        /// Whether the tokens are of the production environment. Those of the development environment are of no use
        /// there.
        package var isProduction: Bool

        /// Makes tokens of their parts; each parameter is the property of that name.
        package init(voip: Redacted<String>?, standard: Redacted<String>?, isProduction: Bool) {
            self.voip = voip
            self.standard = standard
            self.isProduction = isProduction
        }
    }

    /// A part of a registration that the device gives, and that a provider may not take.
    package enum Part: Hashable, Sendable {
        /// The app.
        case bundleID
        /// A token of Apple.
        case appleToken(AppleTokens.Kind)
        /// The registration token of Firebase.
        case googleToken
        /// The URL of the application's own push service.
        case url
    }

    /// The name of the registration, the last segment of its path.
    package internal(set) var id: String
    /// The address of the user.
    package let user: String
    /// The app: its bundle identifier or package name.
    package let bundleID: String
    /// The realm of the registration.
    package let realm: String
    /// The services that the device wants pushes of, such as `call`.
    package let services: [String]
    /// The device's name for itself; `nil`: it has none.
    package let clientCorrelator: String?
    /// Where the pushes go.
    package let target: Target

    /// Makes a registration of what a device has sent; each parameter is the property of that name.
    ///
    /// - Throws: the part that cannot be used. Tokens and the bundle identifier become parts of paths and header
    ///   fields, so that only their own characters are taken.
    package init(
        id: String, user: String, bundleID: String, realm: String, services: [String], clientCorrelator: String?,
        target: Target
    ) throws(PushRegistrationError) {
        guard Self.isName(bundleID) else { throw .unusable(.bundleID) }
        switch target {
        case .apple(let tokens):
            guard tokens.voip != nil || tokens.standard != nil else { throw .noAppleToken }
            if let token = tokens.voip, !Self.isHexadecimal(token.value) { throw .unusable(.appleToken(.voip)) }
            if let token = tokens.standard, !Self.isHexadecimal(token.value) {
                throw .unusable(.appleToken(.standard))
            }
        case .google(let token):
            guard (1...4_096).contains(token.value.utf8.count),
                token.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw .unusable(.googleToken) }
        case .webhook(let url):
            guard url.utf8.count <= 2_048, url.hasPrefix("https://"), url.utf8.count > "https://".utf8.count,
                url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { throw .unusable(.url) }
        }
        self.id = id
        self.user = user
        self.bundleID = bundleID
        self.realm = realm
        self.services = services
        self.clientCorrelator = clientCorrelator
        self.target = target
    }

    /// The provider of the target.
    package var provider: PushProvider {
        switch target {
        case .apple: .apple
        case .google: .google
        case .webhook: .webhook
        }
    }

    /// A bundle identifier or a package name: at most 155 letters, digits, `-`, `_` and `.`, which is what Apple takes.
    private static func isName(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private static func isHexadecimal(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
                default: false
                }
            }
    }
}

/// Who carries pushes to devices.
package enum PushProvider: String, Hashable, Sendable, CaseIterable {
    /// Apple's push service (APNs).
    case apple
    /// Firebase Cloud Messaging (FCM).
    case google
    /// The application's own push service.
    case webhook
}

/// Why a device cannot be registered. A dialect makes the names of fields and the sentence.
package enum PushRegistrationError: Error, Hashable, Sendable {
    /// Neither of the tokens for Apple's push service is there.
    case noAppleToken
    /// The provider does not take the part.
    case unusable(PushRegistration.Part)
}
