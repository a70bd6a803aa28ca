package import CallControl
package import CallRuntime

/// What the claims of a signed callMe token say: whom a guest may call, under which name, how long, and whether once.
///
/// It is a JSON Web Token (RFC 7519) under HS256, whose `aud` is `callMe`, so that no token for another purpose is one
/// (RFC 8725 §3.9).
package struct SignedCallMeToken: Equatable, Sendable {
    /// `to`: the account that the guest may call.
    package let callee: UserAddress
    /// `name`: the name that the callee is shown; `nil`: none is confirmed.
    package let callerName: String?
    /// `exp`: the time from which on nothing starts with the token, in milliseconds since 1970.
    package let expiresAt: Int64
    /// `jti`, if `once` is true: names the token, with which only one guest can come; `nil`: any number.
    package let singleUse: String?

    /// What `aud` must be.
    package static let audience = "callMe"
    /// The most bytes of a name.
    package static let nameLimit = 128
    /// The most bytes of `jti`.
    package static let identifierLimit = 64

    /// Reads claims; `nil` if they are not those of a callMe token.
    ///
    /// `aud`, `to` and `exp` are required; `name`, `jti` and `once` are not, but `once` needs a `jti`. Other claims are
    /// ignored.
    ///
    /// - Parameter defaultDomain: completes an address without a domain.
    package init?(_ claims: [String: StrictJSON], defaultDomain: String) {
        guard claims["aud"]?.text == Self.audience,
            let callee = claims["to"]?.text.flatMap({ UserAddress(parsing: $0, defaultDomain: defaultDomain) }),
            let seconds = claims["exp"]?.amount, (0..<1e12).contains(seconds)
        else { return nil }
        self.callee = callee
        expiresAt = Int64(seconds * 1_000)
        switch claims["name"] {
        case nil: callerName = nil
        case .string(let name)? where Self.isName(name): callerName = name
        case _?: return nil
        }
        let identifier: String?
        switch claims["jti"] {
        case nil: identifier = nil
        case .string(let text)? where (1...Self.identifierLimit).contains(text.utf8.count): identifier = text
        case _?: return nil
        }
        switch claims["once"] {
        case nil, .boolean(false)?: singleUse = nil
        case .boolean(true)? where identifier != nil: singleUse = identifier
        case _?: return nil
        }
    }

    /// A name that can be shown: not empty, and without control characters.
    private static func isName(_ text: String) -> Bool {
        (1...nameLimit).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

/// The single-use tokens that guests have come with, until they expire.
package struct UsedTokens: Sendable {
    /// A token by its realm and its `jti`.
    private struct Name: Hashable {
        let realm: String
        let identifier: String

        init(_ token: UsedToken) { (realm, identifier) = (token.realm, token.identifier) }
    }

    private let capacity: Int
    private var expiries: [Name: Int64] = [:]

    /// Makes a list.
    ///
    /// - Parameters:
    ///   - capacity: how many tokens are remembered, at least 2. Beyond that, those that expire first are forgotten.
    ///   - known: the tokens that guests have come with before.
    package init(capacity: Int = 100_000, known: [UsedToken] = []) {
        precondition(capacity >= 2, "half of it is kept")
        self.capacity = capacity
        for token in known { _ = use(token, at: .min) }
    }

    /// Notes that a guest comes with a token.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: `false` if one has come with it before.
    package mutating func use(_ token: UsedToken, at now: Int64) -> Bool {
        let name = Name(token)
        guard expiries[name] == nil else { return false }
        if expiries.count >= capacity { expiries = expiries.filter { $0.value > now } }
        if expiries.count >= capacity {
            let last = expiries.sorted { $0.value > $1.value }.prefix(capacity / 2)
            expiries = Dictionary(uniqueKeysWithValues: last.map { ($0.key, $0.value) })
        }
        expiries[name] = token.expiresAt
        return true
    }

    /// Forgets that a guest came, since it was refused after all.
    package mutating func giveBack(_ token: UsedToken) { expiries[Name(token)] = nil }
}
