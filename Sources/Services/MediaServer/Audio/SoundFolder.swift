internal import Cryptography
internal import Foundation
internal import Primitives

/// The folder of sounds that were fetched: a file for each, named by the digest of its URL. The first lines of a file
/// are its entity tag and its URL, so that both are written together with the sound or not at all.
///
/// What cannot be kept, or read, is fetched anew the next time; so errors of the file system are no errors here.
struct SoundFolder: Sendable {
    /// The path of the folder.
    let path: String
    /// The bytes that the files may take together, each rounded up to whole blocks of the file system.
    let limit: Int
    /// The most files.
    var maximumFiles = 10_000

    private static let mark = "orbweaver-sound-1"
    private static let suffix = "sound"
    /// The bytes of a block of the file system.
    private static let block = 4_096
    /// How the names of the files start that Foundation writes and then renames (`Data.WritingOptions.atomic`). A
    /// process that was killed leaves one.
    private static let leftoverPrefix = ".dat.nosync"
    /// Longer than any head.
    private static let headLength = 4_096

    /// Whether the text of a header can be an entity tag (RFC 9110 §8.8.3).
    static func isTag(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The entity tag of what is kept of a URL; `nil`: nothing is.
    func tag(of url: String) -> String? {
        guard let file = try? FileHandle(forReadingFrom: place(of: url)) else { return nil }
        // A file that was only read has nothing to lose.
        defer { try? file.close() }
        guard let start = try? file.read(upToCount: Self.headLength) else { return nil }
        let lines = start.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count == 4, lines[0].elementsEqual(Self.mark.utf8), lines[2].elementsEqual(url.utf8) else {
            return nil
        }
        let tag = String(decoding: lines[1], as: UTF8.self)
        return Self.isTag(tag) ? tag : nil
    }

    /// What is kept of a URL under this entity tag; `nil`: nothing is.
    func content(of url: String, tag: String) -> [UInt8]? {
        guard let bytes = try? Data(contentsOf: place(of: url)) else { return nil }
        let head = Self.head(of: url, tag: tag)
        return bytes.starts(with: head) ? [UInt8](bytes.dropFirst(head.count)) : nil
    }

    /// Keeps a sound in place of what was kept of its URL. Others make room.
    func keep(_ content: [UInt8], from url: String, tag: String) {
        let head = Self.head(of: url, tag: tag)
        guard Self.room(for: head.count + content.count) <= limit else { return remove(url) }
        do {
            try Data(head + content).write(to: place(of: url), options: .atomic)
        } catch {
            return
        }
        makeRoom(besides: url)
    }

    /// The sound is asked for.
    func use(_ url: String) {
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: place(of: url).path)
    }

    /// Keeps nothing of a URL.
    func remove(_ url: String) { try? FileManager.default.removeItem(at: place(of: url)) }

    /// Removes the files that a process has started to write, and has not finished.
    func removeLeftovers() {
        let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for place in found ?? [] where place.lastPathComponent.hasPrefix(Self.leftoverPrefix) {
            try? FileManager.default.removeItem(at: place)
        }
    }

    /// What a file takes on the disk, in bytes.
    private static func room(for bytes: Int) -> Int { (bytes + block - 1) / block * block }

    private static func head(of url: String, tag: String) -> [UInt8] { Array("\(mark)\n\(tag)\n\(url)\n".utf8) }

    private var folder: URL { URL(filePath: path, directoryHint: .isDirectory) }

    private func place(of url: String) -> URL {
        let name = Digest.sha256.hash(Array(url.utf8)).hexadecimal
        return folder.appending(path: "\(name).\(Self.suffix)", directoryHint: .notDirectory)
    }

    /// Removes what was asked for longest ago, until the rest keeps to both limits.
    private func makeRoom(besides url: String) {
        let keys: Set<URLResourceKey> = [.fileSizeKey, .contentModificationDateKey]
        let found = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(keys))
        var files: [(place: URL, bytes: Int, used: Date)] = []
        for place in found ?? [] where place.pathExtension == Self.suffix {
            guard let values = try? place.resourceValues(forKeys: keys) else { continue }
            files.append((place, Self.room(for: values.fileSize ?? 0), values.contentModificationDate ?? .distantPast))
        }
        var (bytes, count) = (files.reduce(0) { $0 + $1.bytes }, files.count)
        let newest = place(of: url).lastPathComponent
        for file in files.sorted(by: { $0.used < $1.used })
        where (bytes > limit || count > maximumFiles) && file.place.lastPathComponent != newest {
            try? FileManager.default.removeItem(at: file.place)
            bytes -= file.bytes
            count -= 1
        }
    }
}
