internal import Cryptography
internal import Foundation
package import HTTPClient
package import Push

/// The gateway's account with Apple: its provider token, and what answers say.
package struct AppleProvider {
    /// How long a token is used. The service wants a new one not more often than every 20 minutes, and takes none that
    /// is older than an hour ("Establishing a token-based connection to APNs").
    static let tokenTime = Duration.seconds(50 * 60)

    let account: PushConfiguration.Apple
    private(set) var file: SecretFile

    init(_ account: PushConfiguration.Apple) {
        self.account = account
        file = SecretFile(account.keyPath)
    }

    private struct Claims: Encodable {
        var iss: String
        var iat: UInt64
    }

    /// Makes a token, with the key as it is in its file now.
    ///
    /// - Parameter seconds: now, since 1970.
    /// - Throws: what is wrong with the key.
    mutating func makeToken(seconds: UInt64) throws(CredentialProblem) -> String {
        let text = String(decoding: try file.read(), as: UTF8.self)
        let key: SigningKey
        do throws(SigningKeyError) {
            key = try SigningKey(privateKeyPEM: text)
        } catch {
            throw .unusable("\(file.path) \(error)")
        }
        guard key.algorithm == .ecdsaP256SHA256 else { throw .unusable("\(file.path) has no EC key on P-256") }
        return try JSONWebToken.signed(["kid": account.keyID], Claims(iss: account.team, iat: seconds), with: key)
    }

    private struct Problem: Decodable {
        var reason: String?
        var timestamp: Double?
    }

    /// What an answer means.
    package static func verdict(_ response: HTTPResponse) -> PushVerdict {
        if response.status == 200 {
            return ApplePush.verdict(status: 200, reason: nil, name: response.value(of: "apns-id"))
        }
        // The status decides where the content cannot be read.
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(response.content))
        let since = problem?.timestamp.flatMap { $0.isFinite && $0 >= 0 && $0 < 1e15 ? UInt64($0) : nil }
        return ApplePush.verdict(
            status: response.status, reason: problem?.reason, since: since, name: response.value(of: "apns-id"),
            after: response.retryDelay)
    }
}
