/// Why a file of the media folder cannot be played. A dialect makes the clause for whoever named the file.
package enum MediaFileError: Error, Hashable, Sendable {
    /// No media folder is configured (`media.folder`).
    case noFolder
    /// The text is no name of a file in the folder, or is hidden.
    case invalidName(String)
    /// There is no file of this name.
    case notFound(String)
    /// The name is that of a folder, or of a link, which could lead anywhere.
    case notRegular(String)
    /// The file is larger than `limit` bytes.
    case tooLarge(String, limit: Int)
    /// The file system does not give its content.
    case unreadable(String)
    /// The content is damaged, or has a format that the gateway does not play. `fault`: what the decoder says of it.
    case undecodable(String, fault: String)
}
