import CallControl
import CallRuntime
import Primitives
import SPiDR

extension ApplicationRefusal.Limit {
    /// The `detail` of the answer: a sentence for developers of applications.
    var sentence: String {
        switch self {
        case .callsOfApplication: "The application has as many calls as it may."
        case .startsOfApplication: "The application has started too many calls in a short time."
        case .streamsOfApplication: "The application has as many streams as it may."
        case .startsOfParty: "Too many calls were started."
        case .callsOfParty: "As many calls exist as may."
        case .waitingKeys(let limit): "No more than \(limit) keys can wait to be sent."
        }
    }
}

extension ApplicationRefusal.InvalidValue {
    /// The field of the body that has the value.
    var field: String {
        switch self {
        case .unplayable(let error): error.field
        case .repeatedCall(let command), .unknownCall(_, let command): command.fieldOfCalls
        }
    }

    /// What is wrong, as the predicate of a sentence about the field.
    var predicate: String {
        switch self {
        case .unplayable(let error): error.predicate
        case .repeatedCall: "names this call, or a call twice"
        case .unknownCall(let call, _): "names no call of this application: \(call.rawValue.prefix(64))"
        }
    }
}

extension ApplicationCommand.Name {
    /// The field that names the other calls.
    fileprivate var fieldOfCalls: String { self == .join ? "calls" : "call" }
}

extension MediaFileError {
    /// The field of the item that has the file.
    fileprivate var field: String {
        switch self {
        case .noSoundFolder, .notFetched: "url"
        case .undecodable(let name, _): name.contains("/") ? "url" : "file"
        case .noFolder, .invalidName, .notFound, .notRegular, .tooLarge, .unreadable: "file"
        }
    }

    /// What is wrong, as the predicate of a sentence about the file.
    fileprivate var predicate: String {
        switch self {
        case .noFolder: "cannot be played: no media folder is configured (media.folder)"
        case .invalidName(let name): "is not the name of a file in the media folder: \(name.prefix(64))"
        case .notFound(let name): "is not in the media folder: \(name)"
        case .notRegular(let name): "is not a file of its own in the media folder: \(name)"
        case .tooLarge(let name, let limit): "is larger than \(limit >> 20) MB: \(name)"
        case .unreadable(let name): "cannot be read: \(name)"
        case .undecodable(let name, .tooLong(let minutes)): "is longer than \(minutes) minutes: \(name)"
        case .undecodable(let name, _): "is damaged, or of a format that the gateway does not play: \(name)"
        case .noSoundFolder: "cannot be played: no folder for sounds of other servers is configured (sounds.folder)"
        case .notFetched(let url, let fault): "cannot be fetched, since \(fault.clause): \(url)"
        }
    }
}
