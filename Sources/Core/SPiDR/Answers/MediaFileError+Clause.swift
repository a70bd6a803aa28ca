package import CallControl

extension MediaFileError {
    /// The error as a clause for whoever named the file: in the `reason` of an answer, in a log and in a problem of the
    /// configuration.
    package var clause: String {
        switch self {
        case .noFolder: "no media folder is configured (media.folder)"
        case .invalidName(let name): "\"\(name.prefix(64))\" is not the name of a file in the media folder"
        case .notFound(let name): "there is no file \"\(name)\" in the media folder"
        case .notRegular(let name): "\"\(name)\" is not a file of its own in the media folder"
        case .tooLarge(let name, let limit): "\"\(name)\" is larger than \(limit >> 20) MB"
        case .unreadable(let name): "\"\(name)\" cannot be read"
        case .undecodable(let name, let fault): "\"\(name)\": \(fault.clause)"
        case .noSoundFolder: "no folder for sounds of other servers is configured (sounds.folder)"
        case .notFetched(let url, let fault): "\"\(url)\" cannot be fetched: \(fault.clause)"
        }
    }
}
