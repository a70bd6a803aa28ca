package import Primitives

/// Why a file of the media folder, or one of another server, cannot be played. A dialect makes the clause for whoever
/// named the file.
package enum MediaFileError: Error, Hashable, Sendable {
    /// No media folder is configured (`media.folder`).
    case noFolder
    /// The text is not a name that a file in the folder may have, or is that of a hidden file.
    case invalidName(String)
    /// There is no file of this name.
    case notFound(String)
    /// The name is that of a folder, or of a link, which could lead anywhere.
    case notRegular(String)
    /// The file is larger than `limit` bytes.
    case tooLarge(String, limit: Int)
    /// The file system does not give its content.
    case unreadable(String)
    /// The content is damaged, or has a format that the gateway does not play.
    case undecodable(String, SoundFileError)
    /// No folder for sounds of other servers is configured (`sounds.folder`).
    case noSoundFolder
    /// The file cannot be fetched from its URL.
    case notFetched(String, SoundFetchError)
}
