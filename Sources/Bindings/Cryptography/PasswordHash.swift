internal import COpenSSL
internal import Foundation
package import Primitives

/// A salted scrypt hash (RFC 7914) with its text form `$scrypt$ln=15,r=8,p=3$salt$hash`; salt and hash are base64
/// without padding.
package struct PasswordHash: Hashable, Sendable {
    /// The cost of one hash: 2^`logN` · `r` · 128 bytes of memory, and `p` times the work.
    package struct Cost: Hashable, Sendable {
        /// The binary logarithm of N, 1…17.
        package var logN: Int
        /// The block size, 1…16.
        package var r: Int
        /// The parallelization parameter, 1…4.
        package var p: Int

        /// Makes a cost of its parts; the default takes 32 MB, and is what OWASP recommends (Password Storage Cheat
        /// Sheet, "scrypt").
        package init(logN: Int = 15, r: Int = 8, p: Int = 3) {
            self.logN = logN
            self.r = r
            self.p = p
        }

        /// Reads what ``text`` writes; `nil` if it is no such text, or the cost is out of bounds or not possible: N
        /// must be below 2^(16·r) (RFC 7914 §2).
        package init?(parsing text: String) {
            guard let cost = Self.fields(of: text[...]), cost.isAffordable, cost.logN < 16 * cost.r else { return nil }
            self = cost
        }

        /// As in a record: `ln=15,r=8,p=3`.
        package var text: String { "ln=\(logN),r=\(r),p=\(p)" }

        /// How often the inner function runs: N · r · p, which is proportional to the time of a hash.
        package var work: Int { (1 << logN) * r * p }

        /// A cost with the work that this one has in excess of another one, to within N · r; `nil`: there is none.
        package func excess(over other: Cost) -> Cost? {
            guard work > other.work else { return nil }
            let unit = (1 << logN) * r
            return Cost(logN: logN, r: r, p: (work - other.work + unit - 1) / unit)
        }

        fileprivate static func fields(of text: Substring) -> Cost? {
            let parameters = text.split(separator: ",").map { $0.split(separator: "=", maxSplits: 1) }
            guard parameters.map(\.first) == ["ln", "r", "p"] else { return nil }
            let values = parameters.compactMap { $0.count == 2 ? Int($0[1]) : nil }
            return values.count == 3 ? Cost(logN: values[0], r: values[1], p: values[2]) : nil
        }

        /// Whether a record may ask for this cost: a damaged record must not cost gigabytes.
        var isAffordable: Bool { (1...17).contains(logN) && (1...16).contains(r) && (1...4).contains(p) }
        var memory: UInt64 { (UInt64(1) << UInt64(logN)) * UInt64(r) * 128 + 1024 * 1024 }
    }

    /// The cost of this hash.
    package let cost: Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a new password with 16 bytes of salt. It is slow by design: some 200 ms.
    ///
    /// - Throws: `refused` if OpenSSL has no memory for the hash.
    package init(of password: String, cost: Cost = Cost(), random: inout some RandomSource) throws(PasswordHashError) {
        precondition(cost.isAffordable, "cost within what a record may hold")
        self.cost = cost
        salt = random.nextBytes(16)
        hash = try Self.derive(password, salt: salt, cost: cost, count: 32)
    }

    /// Parses a text as `text` writes it; `nil` if it is no such text, or its cost is out of bounds.
    package init?(parsing text: String) {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0].isEmpty, fields[1] == "scrypt" else { return nil }
        guard let cost = Cost.fields(of: fields[2]) else { return nil }
        self.cost = cost
        guard cost.isAffordable, let salt = Self.decode(fields[3]), let hash = Self.decode(fields[4]) else {
            return nil
        }
        guard (8...64).contains(salt.count), (16...64).contains(hash.count) else { return nil }
        self.salt = salt
        self.hash = hash
    }

    /// The text form for storage.
    package var text: String {
        "$scrypt$\(cost.text)$\(Self.encode(salt))$\(Self.encode(hash))"
    }

    /// Whether a password is the one that was hashed. It is slow by design, and compares in constant time.
    ///
    /// - Throws: `PasswordHashError.refused` if OpenSSL does not compute the hash.
    package func verifies(_ password: String) throws(PasswordHashError) -> Bool {
        constantTimeEqual(try Self.derive(password, salt: salt, cost: cost, count: hash.count), hash)
    }

    /// Takes as long as a hash of this cost, and makes none.
    ///
    /// - Throws: `PasswordHashError.refused` if OpenSSL does not compute it.
    package static func spend(_ cost: Cost) throws(PasswordHashError) {
        _ = try derive("", salt: [0], cost: cost, count: 16)
    }

    /// The scrypt function (RFC 7914 §6), which makes `count` bytes.
    ///
    /// - Throws: `PasswordHashError.refused` if OpenSSL does not compute it.
    package static func derive(_ password: String, salt: [UInt8], cost: Cost, count: Int) throws(PasswordHashError)
        -> [UInt8]
    {
        var output = [UInt8](repeating: 0, count: count)
        let bytes = password.utf8.map { CChar(bitPattern: $0) }
        let succeeded = unsafe EVP_PBE_scrypt(
            bytes, bytes.count, salt, salt.count, UInt64(1) << UInt64(cost.logN), UInt64(cost.r), UInt64(cost.p),
            cost.memory, &output, count)
        guard succeeded == 1 else {
            ERR_clear_error()
            throw .refused
        }
        return output
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("=", with: "")
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text + padding).map { [UInt8]($0) }
    }
}

/// Why a password was not hashed.
package enum PasswordHashError: Error, Equatable {
    /// OpenSSL has not computed the hash: it has no memory for the tens of megabytes, or a record asks for parameters
    /// that scrypt does not allow (N must be below 2^(16·r), RFC 7914 §2).
    case refused
}
