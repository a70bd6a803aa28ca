internal import Foundation

/// A file with a secret, and whether it has changed since it was read.
struct SecretFile {
    /// The largest file that is read, in bytes.
    static let sizeLimit = 65_536

    let path: String
    /// The state in which it was read last; `nil`: it was not, or was not there.
    private(set) var stamp: Stamp?

    /// What tells one state of the file from another.
    struct Stamp: Equatable {
        fileprivate var inode: Int
        fileprivate var modified: Date
        fileprivate var size: Int
    }

    init(_ path: String) { self.path = path }

    /// Whether the file is another one than in a state in which it was read.
    func hasChanged(since stamp: Stamp?) -> Bool { self.stamp(of: path) != stamp }

    /// The bytes of the file.
    ///
    /// - Throws: `unusable` if it cannot be read or is too large.
    mutating func read() throws(CredentialProblem) -> [UInt8] {
        stamp = stamp(of: path)
        guard let stamp else { throw .unusable("\(path) cannot be read") }
        guard stamp.size <= Self.sizeLimit else { throw .unusable("\(path) has more than \(Self.sizeLimit) bytes") }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw .unusable("\(path) cannot be read")
        }
        return Array(bytes)
    }

    private func stamp(of path: String) -> Stamp? {
        let resolved = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        // `read` reports a file that is missing or may not be looked at.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved),
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        let number = { (key: FileAttributeKey) in (attributes[key] as? NSNumber)?.intValue ?? 0 }
        return Stamp(inode: number(.systemFileNumber), modified: modified, size: number(.size))
    }
}

/// Why there is no credential. The text never contains a secret.
package enum CredentialProblem: Error, Equatable {
    /// It will not be there later either, unless the operator changes something.
    case unusable(String)
    /// It may be there later.
    case transient(String)

    /// What is wrong, in plain words.
    package var reason: String {
        switch self {
        case .unusable(let reason), .transient(let reason): reason
        }
    }

    var isFinal: Bool {
        switch self {
        case .unusable: true
        case .transient: false
        }
    }
}
