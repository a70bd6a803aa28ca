package import CallControl
import Primitives
import SPiDR

/// The form of what is played, in bodies of `/v1` and of the administration interface, and in the database.
package enum PlayListField {
    /// The fields that a body with a list has.
    package static let fields: Set<String> = ["items", "loops", "volume"]
    private static let kinds = ["file", "url", "tone", "silence", "music"]
    private static let itemFields = Set(kinds + ["duration"])

    /// Reads `items`, `loops` and `volume`.
    ///
    /// - Throws: `request.missing_field`, `request.invalid_value`.
    package static func read<Failure>(_ fields: RequestFields<Failure>) throws(Failure) -> PlayList {
        guard let objects = try fields.objects("items", known: itemFields, in: PlayList.sizes) else {
            throw fields.missing("items")
        }
        var items: [PlayItem] = []
        for (index, object) in objects.enumerated() {
            let present = Self.kinds.filter { object.value($0) != nil }
            guard present.count == 1 else {
                throw fields.refusal(
                    "items[\(index)]", "must have exactly one of \(Self.kinds.joined(separator: ", "))")
            }
            items.append(try item(present[0], object))
        }
        let loops = try fields.number("loops", in: 0...Int64(PlayList.loopCounts.upperBound))
        let volumes = Int64(PlayList.volumes.lowerBound)...Int64(PlayList.volumes.upperBound)
        let volume = try fields.number("volume", in: volumes) ?? 0
        do throws(ApplicationFault) {
            return try PlayList(items: items, loops: loops.map { Int($0) }, volume: Int(volume))
        } catch {
            throw fields.refusal(error)
        }
    }

    private static func item<Failure>(
        _ kind: String, _ fields: RequestFields<Failure>
    ) throws(Failure) -> PlayItem {
        let longest = PlayItem.lengths.upperBound.components.seconds * 1_000
        let duration = try fields.number("duration", in: 20...longest).map { Duration.milliseconds($0) }
        switch kind {
        case "file":
            guard duration == nil else {
                throw fields.refusal("duration", "is not for a file, which has its own length")
            }
            return .file(try fields.requiredText("file"))
        case "url":
            guard duration == nil else {
                throw fields.refusal("duration", "is not for a file, which has its own length")
            }
            return .url(try fields.requiredText("url"))
        case "tone":
            let text = try fields.requiredText("tone")
            guard let tone = CallTone(word: text) else {
                let words = CallTone.allCases.map(\.word).joined(separator: ", ")
                throw fields.refusal("tone", "must be one of \(words)")
            }
            return .tone(tone, duration)
        case "silence":
            guard duration == nil else {
                throw fields.refusal("duration", "is not for silence, whose value is its length")
            }
            let length = try fields.number("silence", in: 20...longest) ?? 0
            return .silence(.milliseconds(length))
        default:
            guard try fields.flag("music") == true else { throw fields.refusal("music", "must be true") }
            return .music(duration)
        }
    }
}

extension PlayList {
    /// The form of the list.
    package var field: Field { Field(self) }

    /// The form of a list (openapi/v1.yaml, `PlayList`).
    package struct Field: Encodable, Equatable, Sendable {
        private let items: [Item]
        private let loops: Int?
        private let volume: Int?

        private struct Item: Encodable, Equatable {
            var file: String?
            var url: String?
            var tone: String?
            var silence: Int64?
            var music: Bool?
            var duration: Int64?
        }

        fileprivate init(_ list: PlayList) {
            items = list.items.map { item in
                switch item {
                case .file(let name): Item(file: name)
                case .url(let url): Item(url: url)
                case .tone(let tone, let length): Item(tone: tone.word, duration: length.map(\.wholeMilliseconds))
                case .silence(let length): Item(silence: length.wholeMilliseconds)
                case .music(let length): Item(music: true, duration: length.map(\.wholeMilliseconds))
                }
            }
            loops = list.loops
            volume = list.volume == 0 ? nil : list.volume
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    package var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}
