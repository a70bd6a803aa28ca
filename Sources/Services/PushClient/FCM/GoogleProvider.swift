internal import Cryptography
internal import Foundation
package import HTTPClient
package import Push

/// The gateway's project with Firebase: its access token ("Using OAuth 2.0 for server to server applications"), and
/// what answers say.
package struct GoogleProvider {
    let project: PushConfiguration.Google
    private(set) var file: SecretFile

    init(_ project: PushConfiguration.Google) {
        self.project = project
        file = SecretFile(project.accountPath)
    }

    /// The service account, as Google gives it.
    private struct Account: Decodable {
        var projectId: String
        var privateKeyId: String
        var privateKey: String
        var clientEmail: String
        var tokenUri: String
    }

    private struct Claims: Encodable {
        var iss: String
        var scope = "https://www.googleapis.com/auth/firebase.messaging"
        var aud: String
        var iat: UInt64
        var exp: UInt64
    }

    /// The request for an access token, by an assertion that the account signs (RFC 7523 §2.1), and the name of the
    /// project that the token will be good for.
    ///
    /// - Parameter seconds: now, since 1970.
    /// - Throws: what is wrong with the account.
    mutating func tokenRequest(seconds: UInt64, timeout: Duration) throws(CredentialProblem)
        -> (request: HTTPRequest, project: String)
    {
        let bytes = try file.read()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        guard let account = try? decoder.decode(Account.self, from: Data(bytes)) else {
            throw .unusable(
                "\(file.path) is no service account: it needs project_id, private_key_id, private_key, client_email and token_uri"
            )
        }
        guard Self.isProjectName(account.projectId) else { throw .unusable("\(file.path) has no usable project_id") }
        let key: SigningKey
        do throws(SigningKeyError) {
            key = try SigningKey(privateKeyPEM: account.privateKey)
        } catch {
            throw .unusable("private_key of \(file.path) \(error)")
        }
        let assertion = try JSONWebToken.signed(
            ["kid": account.privateKeyId],
            Claims(iss: account.clientEmail, aud: account.tokenUri, iat: seconds, exp: seconds + 3_600), with: key)
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        let request = HTTPRequest(
            .post(Array(form.utf8)), account.tokenUri,
            fields: [HTTPField("content-type", "application/x-www-form-urlencoded")], timeout: timeout)
        return (request, account.projectId)
    }

    /// An access token and the seconds for which it is good.
    package struct Token: Decodable, Equatable, Sendable {
        /// The token, visible ASCII characters.
        package var accessToken: String
        var expiresIn: Double

        /// How long it is used: until five minutes before its end, but never less than a minute.
        package var renewal: Duration {
            .seconds(expiresIn.isFinite ? max(60, min(expiresIn, 86_400) - 300) : 60)
        }
    }

    private struct TokenProblem: Decodable {
        var error: String?
        var errorDescription: String?
    }

    /// The token in the answer to a ``tokenRequest(seconds:timeout:)``.
    ///
    /// - Throws: why there is none.
    package static func token(_ response: HTTPResponse) throws(CredentialProblem) -> Token {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let bytes = Data(response.content)
        if response.status == 200, let token = try? decoder.decode(Token.self, from: bytes),
            !token.accessToken.isEmpty, token.accessToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            return token
        }
        let problem = try? decoder.decode(TokenProblem.self, from: bytes)
        let reason = "the token service answers \(response.status) \(PushVerdict.printable(problem?.error) ?? "")"
        if response.status == 429 || response.status >= 500 { throw .transient(reason) }
        throw .unusable(reason)
    }

    private static func isProjectName(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A: true
                default: false
                }
            }
    }

    // MARK: Answers

    private struct Success: Decodable { var name: String? }

    private struct Failure: Decodable {
        var error: Error?

        struct Error: Decodable {
            var status: String?
            var message: String?
            var details: [Detail]?
        }

        struct Detail: Decodable {
            var errorCode: String?
            var fieldViolations: [Violation]?
        }

        struct Violation: Decodable { var field: String? }
    }

    /// What an answer means.
    package static func verdict(_ response: HTTPResponse) -> PushVerdict {
        let bytes = Data(response.content)
        // The status decides what becomes of the push. Content that cannot be read adds nothing to it.
        if response.status == 200 {
            let name = (try? JSONDecoder().decode(Success.self, from: bytes))?.name
            return GooglePush.verdict(status: 200, name: name)
        }
        let error = (try? JSONDecoder().decode(Failure.self, from: bytes))?.error
        let problem = GooglePush.Problem(
            status: error?.status, message: error?.message, code: error?.details?.compactMap(\.errorCode).first,
            fields: error?.details?.flatMap { $0.fieldViolations ?? [] }.compactMap(\.field) ?? [])
        return GooglePush.verdict(status: response.status, problem: problem, after: response.retryDelay)
    }
}
