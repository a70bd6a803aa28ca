import Cryptography
import Primitives

/// A line of the realms file that cannot be used. It never shows a key.
package struct RealmFileError: Error, Equatable, CustomStringConvertible {
    /// The number of the line, from 1.
    package var line: Int
    /// What is wrong with the line.
    package var reason: String

    /// The line and the reason, for the operator.
    package var description: String { "line \(line): \(reason)" }
}

extension CallMeRealm {
    /// Parses the realms file.
    ///
    /// Each line has one realm: its name, the cipher, the key and, optionally, a fixed initialization vector, both in
    /// hexadecimal digits. What follows a `#` is a comment.
    ///
    ///     shop   aes-128-ecb   000102030405060708090a0b0c0d0e0f
    ///
    /// `hs256` in place of the cipher means that tokens are signed; the key then has 32 bytes or more.
    ///
    /// - Throws: ``RealmFileError`` for the first line that cannot be used, or that repeats a realm.
    package static func realms(parsing file: String) throws(RealmFileError) -> [CallMeRealm] {
        var realms: [CallMeRealm] = []
        for (index, line) in file.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let fields = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
            if fields.isEmpty { continue }
            do throws(Complaint) {
                let realm = try CallMeRealm(fields: fields)
                guard !realms.contains(where: { $0.name == realm.name }) else {
                    throw Complaint(text: "the realm \(realm.name) is there twice")
                }
                realms.append(realm)
            } catch {
                throw RealmFileError(line: index + 1, reason: error.text)
            }
        }
        return realms
    }

    /// Stands in place of a cipher where tokens are signed with HMAC-SHA-256.
    private static let signatureName = "hs256"

    private struct Complaint: Error { var text: String }

    private init(fields: [String]) throws(Complaint) {
        guard (3...4).contains(fields.count) else {
            throw Complaint(text: "expected a name, a cipher, a key and perhaps a vector")
        }
        if fields[1].lowercased() == Self.signatureName {
            guard fields.count == 3, let key = [UInt8](hexadecimal: fields[2]),
                let realm = CallMeRealm(fields[0], signatureKey: key)
            else {
                throw Complaint(
                    text:
                        "the key of \(Self.signatureName) has \(2 * Self.signatureKeySize) hexadecimal digits or more, "
                        + "and nothing follows it")
            }
            self = realm
            return
        }
        guard let cipher = BlockCipher(rawValue: fields[1].lowercased()) else {
            throw Complaint(
                text: "\(fields[1]) is no cipher; use \(Self.signatureName), "
                    + BlockCipher.allCases.map(\.rawValue).joined(separator: " or ")
            )
        }
        guard let key = [UInt8](hexadecimal: fields[2]), key.count == cipher.keySize else {
            throw Complaint(text: "the key of \(cipher.rawValue) has \(2 * cipher.keySize) hexadecimal digits")
        }
        let vector = fields.count == 4 ? [UInt8](hexadecimal: fields[3]) : nil
        guard fields.count == 3 || vector != nil,
            let realm = CallMeRealm(fields[0], cipher, key: key, initializationVector: vector)
        else {
            throw Complaint(
                text: cipher.needsInitializationVector
                    ? "a vector has \(2 * BlockCipher.blockSize) hexadecimal digits"
                    : "\(cipher.rawValue) has no use for a vector")
        }
        self = realm
    }
}
