internal import Cryptography
internal import Foundation
internal import HTTPClient
internal import Push

/// The keys with which pushes to webhooks are signed, by app.
struct WebhookKeys {
    private let folder: String
    private var files: [String: (file: SecretFile, keys: [[UInt8]])] = [:]

    init(folder: String) { self.folder = folder }

    /// The fields that sign a content, at the time of an attempt in seconds since 1970.
    ///
    /// - Throws: what is wrong with the app's keys.
    mutating func signature(bundleID: String, name: String, seconds: UInt64, content: [UInt8])
        throws(CredentialProblem) -> [HTTPField]
    {
        let keys = try keys(of: bundleID)
        let signed = WebhookPush.signedBytes(name: name, seconds: seconds, content: content)
        let codes = keys.map { Data(HMAC.sha256(key: $0, signed.span)).base64EncodedString() }
        return [
            HTTPField("webhook-timestamp", String(seconds)),
            HTTPField("webhook-signature", WebhookPush.signature(codes: codes)),
        ]
    }

    /// The keys of an app, whose bundle identifier has no `/`.
    private mutating func keys(of bundleID: String) throws(CredentialProblem) -> [[UInt8]] {
        // A name of dots would be another folder.
        guard !bundleID.hasPrefix(".") else { throw .unusable("the app has no key") }
        if let known = files[bundleID], !known.file.hasChanged(since: known.file.stamp) { return known.keys }
        var file = SecretFile("\(folder)/\(bundleID)")
        files[bundleID] = nil
        let text = String(decoding: try file.read(), as: UTF8.self)
        var keys: [[UInt8]] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty { continue }
            guard line.hasPrefix(WebhookPush.keyPrefix),
                let key = Data(base64Encoded: String(line.dropFirst(WebhookPush.keyPrefix.count))),
                WebhookPush.keySizes.contains(key.count)
            else {
                throw .unusable("\(file.path) has a line that is no key, whsec_ and 24 to 64 bytes in Base64")
            }
            keys.append(Array(key))
        }
        guard !keys.isEmpty else { throw .unusable("\(file.path) has no key") }
        files[bundleID] = (file, keys)
        return keys
    }
}
