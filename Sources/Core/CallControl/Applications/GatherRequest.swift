/// A wish of an application to gather the keys that the other legs press.
package struct GatherRequest: Equatable, Sendable {
    /// The permitted numbers of keys.
    package static let sizes = 1...64
    /// The permitted times to wait for a key.
    package static let timeouts = Duration.milliseconds(100)...Duration.seconds(300)
    /// The most answers that may be given as valid.
    package static let maximumAnswers = 1_000

    /// The most keys: when there are as many, the gathering ends.
    package let maximum: Int
    /// Keys that end the gathering; they are not part of what was gathered.
    package let terminators: Set<Key>
    /// How long the first key is waited for; it counts from the end of the prompt.
    package let firstTimeout: Duration
    /// How long each further key is waited for.
    package let betweenTimeout: Duration
    /// What is played meanwhile; it stops at the first key.
    package let prompt: PlayList?
    /// Whole answers that end the gathering at once, unless a longer one starts with the same keys. `nil`: any keys
    /// will do.
    package let valid: [[Key]]?
    /// The application's own name for it, which comes back in events; `nil`: none.
    package let tag: String?

    /// Makes a request of its parts; each parameter is the property of that name. `terminators` is text of keys, and
    /// each of `valid` is.
    ///
    /// - Throws: `ApplicationFault` if a value is out of its range, or no key.
    package init(
        maximum: Int = 1, terminators: String = "", firstTimeout: Duration = .seconds(5),
        betweenTimeout: Duration = .seconds(3), prompt: PlayList? = nil, valid: [String]? = nil, tag: String? = nil
    ) throws(ApplicationFault) {
        guard Self.sizes.contains(maximum) else { throw .keyCount(Self.sizes) }
        guard let keys = Key.keys(of: terminators) else { throw .terminators }
        guard Self.timeouts.contains(firstTimeout) else { throw .firstTimeout(Self.timeouts) }
        guard Self.timeouts.contains(betweenTimeout) else { throw .betweenTimeout(Self.timeouts) }
        guard (valid?.count ?? 1) > 0, (valid?.count ?? 0) <= Self.maximumAnswers else {
            throw .answerCount(1...Self.maximumAnswers)
        }
        var answers: [[Key]] = []
        for (index, text) in (valid ?? []).enumerated() {
            guard let answer = Key.keys(of: text), (1...maximum).contains(answer.count),
                answer.allSatisfy({ !keys.contains($0) })
            else { throw .answer(index, keys: 1...maximum) }
            answers.append(answer)
        }
        if let tag { try PlayRequest.check(tag: tag) }
        self.maximum = maximum
        self.terminators = Set(keys)
        self.firstTimeout = firstTimeout
        self.betweenTimeout = betweenTimeout
        self.prompt = prompt
        self.valid = valid == nil ? nil : answers
        self.tag = tag
    }
}

/// A key of a telephone (RFC 4733 §3.2).
package enum Key: String, Hashable, Sendable, CaseIterable, Codable {
    /// The digit 0.
    case zero = "0"
    /// The digit 1.
    case one = "1"
    /// The digit 2.
    case two = "2"
    /// The digit 3.
    case three = "3"
    /// The digit 4.
    case four = "4"
    /// The digit 5.
    case five = "5"
    /// The digit 6.
    case six = "6"
    /// The digit 7.
    case seven = "7"
    /// The digit 8.
    case eight = "8"
    /// The digit 9.
    case nine = "9"
    /// The star.
    case star = "*"
    /// The number sign.
    case pound = "#"
    /// The letter A, which few telephones have.
    case letterA = "A"
    /// The letter B.
    case letterB = "B"
    /// The letter C.
    case letterC = "C"
    /// The letter D.
    case letterD = "D"

    /// The number of the key in a telephone event, 0…15.
    package var eventCode: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }

    /// The key of this number in a telephone event; `nil` if that event is no key.
    package init?(eventCode: UInt8) {
        guard Int(eventCode) < Self.allCases.count else { return nil }
        self = Self.allCases[Int(eventCode)]
    }

    /// Reads keys; lower-case letters are accepted. `nil` if there is anything else.
    package static func keys(of text: String) -> [Key]? {
        var keys: [Key] = []
        for character in text.uppercased() {
            guard let key = Key(rawValue: String(character)) else { return nil }
            keys.append(key)
        }
        return keys
    }
}
