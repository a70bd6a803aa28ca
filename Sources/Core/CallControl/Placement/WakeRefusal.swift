/// Why the devices of a user sleep on although the user is called. The raw value is the word that metrics use.
package enum WakeRefusal: String, Hashable, Sendable, CaseIterable {
    /// The caller has woken this user too often of late, or the guests from the caller's network have.
    case caller
    /// All guests together have.
    case guests
    /// All callers together have.
    case user
}
