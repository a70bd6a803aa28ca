/// What an application has played: items one after the other, once, several times or for ever.
package struct PlayList: Hashable, Sendable {
    /// The permitted numbers of items.
    package static let sizes = 1...100
    /// The permitted numbers of repetitions; 0 is for ever.
    package static let loopCounts = 0...1_000
    /// The permitted volumes, in decibels.
    package static let volumes = -30...10

    /// The items, in their order.
    package let items: [PlayItem]
    /// How often the list is played; 0: for ever. `nil`: once.
    package let loops: Int?
    /// The change of loudness, in decibels. Samples that are too large are cut.
    package let volume: Int

    /// Makes a list of its parts; each parameter is the property of that name.
    ///
    /// - Throws: `ApplicationFault` if a value is out of its range, or an item that never ends is not the last.
    package init(items: [PlayItem], loops: Int? = nil, volume: Int = 0) throws(ApplicationFault) {
        guard Self.sizes.contains(items.count) else { throw .itemCount(Self.sizes) }
        guard loops.map(Self.loopCounts.contains) ?? true else { throw .loops(Self.loopCounts) }
        guard Self.volumes.contains(volume) else { throw .volume(Self.volumes) }
        for (index, item) in items.enumerated() {
            if case .url(let url) = item, !PlayItem.isURL(url) {
                throw .itemURL(index, limit: PlayItem.longestURL)
            }
            if let length = item.length {
                guard PlayItem.lengths.contains(length) else { throw .itemLength(index, PlayItem.lengths) }
            } else if item.isEndless, index < items.count - 1 {
                throw .endlessItem(index)
            }
        }
        self.items = items
        self.loops = loops
        self.volume = volume
    }

    /// A list of one item, which has no length that could be wrong.
    package init(file name: String) {
        items = [.file(name)]
        loops = nil
        volume = 0
    }

    /// The names of the files in the list, each once.
    package var files: [String] {
        var seen: Set<String> = []
        return items.compactMap { item in
            guard case .file(let name) = item, seen.insert(name).inserted else { return nil }
            return name
        }
    }

    /// The URLs of the sounds in the list that are fetched, each once.
    package var urls: [String] {
        var seen: Set<String> = []
        return items.compactMap { item in
            guard case .url(let url) = item, seen.insert(url).inserted else { return nil }
            return url
        }
    }
}

/// One item of a list that is played.
package enum PlayItem: Hashable, Sendable {
    /// A file of the gateway's media folder, by its name.
    case file(String)
    /// A file of another server, by its https URL.
    case url(String)
    /// A tone of the telephone network, for this long; `nil`: until something else is played.
    case tone(CallTone, Duration?)
    /// Nothing for this long.
    case silence(Duration)
    /// Music on hold, for this long; `nil`: until something else is played.
    case music(Duration?)

    /// The permitted lengths of an item that has one.
    package static let lengths = Duration.milliseconds(20)...Duration.seconds(3_600)

    /// The most characters of a URL.
    package static let longestURL = 2_048

    /// Whether a text can be the URL of an item. Whether the URL can be asked shows when it is.
    static func isURL(_ text: String) -> Bool {
        let scheme = "https://"
        return text.hasPrefix(scheme) && text.utf8.count > scheme.utf8.count && text.utf8.count <= longestURL
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The length that was asked for; `nil`: a file ends by itself, and other items never do.
    package var length: Duration? {
        switch self {
        case .file, .url: nil
        case .tone(_, let length), .music(let length): length
        case .silence(let length): length
        }
    }

    /// Whether the item never ends by itself.
    package var isEndless: Bool {
        switch self {
        case .file, .url, .silence: false
        case .tone(_, let length), .music(let length): length == nil
        }
    }
}
