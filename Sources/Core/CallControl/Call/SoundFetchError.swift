/// Why a sound cannot be fetched from its URL. A dialect makes the clause for whoever named the URL.
package enum SoundFetchError: Error, Hashable, Sendable {
    /// The URL cannot be asked: its form is wrong, or it names a user.
    case unusableURL
    /// The host has no address that may be asked: none at all, or only such as the Internet does not route and are not
    /// allowed all the same (`sounds.allowed_addresses`). It is one case for both, so that nobody learns from it which
    /// names there are in the operator's network.
    case noAddress
    /// No connection came about.
    case notConnected
    /// The certificate of the server is not trusted, or is another host's.
    case untrusted
    /// The connection ended before everything had come.
    case connectionLost
    /// Not everything came in time (`sounds.answer_time`).
    case timedOut
    /// The file has more than so many bytes (`sounds.largest`).
    case tooLarge(limit: Int)
    /// The server answers with this HTTP status, which is no success. Redirects are not followed.
    case status(Int)
    /// Too many sounds are being fetched, for the application or in all, and none of them was done in time.
    case busy
    /// Fetched sounds that are kept, play or wait to be played take as much memory as they may.
    case noMemory
    /// The gateway stops.
    case stopping
}
