/// Why the devices of a user sleep on although the user is called. The raw value is the word that metrics use.
package enum WakeRefusal: String, Hashable, Sendable, CaseIterable {
    /// The caller has woken this user too often of late.
    case caller
    /// All callers together have.
    case user
}
