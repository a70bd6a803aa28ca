import Cryptography
import Dispatch

/// A password that an account is to get.
package enum NewPassword {
    /// What is wrong with it, as the end of a sentence about the password; `nil`: it can be used. `Basic` has to be
    /// able to carry it (RFC 7617 §2).
    package static func complaint(about password: String) -> String? {
        if password.isEmpty { return "is empty" }
        if password.utf8.count > 256 { return "is longer than 256 bytes" }
        if password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return "contains a control character"
        }
        return nil
    }

    /// The record of a password, made on a thread that nobody else waits for: it takes some 200 ms.
    ///
    /// - Throws: `request.invalid_value`, or `service.unavailable` if there is no memory.
    static func record(of password: String, _ cost: PasswordHash.Cost) async throws(AdminError) -> String {
        if let complaint = complaint(about: password) {
            throw AdminError(.requestInvalidValue, "The password \(complaint).")
        }
        let record = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            DispatchQueue.global().async {
                var random = SecureRandomSource()
                // Fails only for want of memory.
                continuation.resume(returning: try? PasswordHash(of: password, cost: cost, random: &random).text)
            }
        }
        guard let record else {
            throw AdminError(.serviceUnavailable, "There is no memory to hash a password.", retryAfter: .seconds(5))
        }
        return record
    }
}
