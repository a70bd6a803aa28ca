/// Why a file of the media folder cannot be played.
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

extension MediaFileError: CustomStringConvertible {
    /// The sentence for whoever named the file: in logs, in problems of a configuration, and for users of dialects.
    package var description: String {
        switch self {
        case .noFolder: "no media folder is configured (media.folder)"
        case .invalidName(let name): "\"\(name.prefix(64))\" is not the name of a file in the media folder"
        case .notFound(let name): "there is no file \"\(name)\" in the media folder"
        case .notRegular(let name): "\"\(name)\" is not a file of its own in the media folder"
        case .tooLarge(let name, let limit): "\"\(name)\" is larger than \(limit >> 20) MB"
        case .unreadable(let name): "\"\(name)\" cannot be read"
        case .undecodable(let name, let fault): "\"\(name)\": \(fault)"
        }
    }
}
