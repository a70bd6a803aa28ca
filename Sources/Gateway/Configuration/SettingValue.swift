import Primitives

/// A value as it was written, wherever that was: one word or a list of them.
struct SettingValue: Equatable, Sendable {
    var words: [String]
    var isList: Bool

    /// A value from the environment or a flag: a list has commas.
    init(text: String) {
        words = text.split(separator: ",").map { String($0.trimmingPrefix { $0 == " " }) }
        isList = false
        original = text
    }

    init(word: String) {
        words = [word]
        isList = false
        original = word
    }

    init(list: [String]) {
        words = list
        isList = true
        original = list.joined(separator: ", ")
    }

    /// For messages.
    let original: String

    func text() throws(SettingError) -> String {
        guard !isList, !original.isEmpty else { throw .wrongForm(original) }
        return original
    }

    func integer(_ range: ClosedRange<Int>) throws(SettingError) -> Int {
        guard !isList, let number = Int(original) else { throw .wrongForm(original) }
        guard range.contains(number) else { throw .outOfRange(original) }
        return number
    }

    /// `none`, `null` and nothing at all are `nil`.
    func optional<Value>(_ parse: (SettingValue) throws(SettingError) -> Value) throws(SettingError) -> Value? {
        if !isList, ["", "none", "null", "~"].contains(original) { return nil }
        return try parse(self)
    }

    func choice<Value: RawRepresentable<String>>() throws(SettingError) -> Value {
        guard !isList, let value = Value(rawValue: original) else { throw .wrongForm(original) }
        return value
    }

    /// `250ms`, `30s`, `5m`, `1h` or `2d`.
    func duration(_ range: ClosedRange<Duration>) throws(SettingError) -> Duration {
        let digits = original.prefix { ("0"..."9").contains($0) }
        guard !isList, let count = Int64(digits), count < 1 << 32 else { throw .wrongForm(original) }
        let duration: Duration
        switch original.dropFirst(digits.count) {
        case "ms": duration = .milliseconds(count)
        case "s": duration = .seconds(count)
        case "m": duration = .seconds(60 * count)
        case "h": duration = .seconds(3_600 * count)
        case "d": duration = .seconds(86_400 * count)
        default: throw .wrongForm(original)
        }
        guard range.contains(duration) else { throw .outOfRange(original) }
        return duration
    }

    func addresses() throws(SettingError) -> [IPAddress] {
        var addresses: [IPAddress] = []
        for word in words {
            guard let address = IPAddress(word) else { throw .wrongForm(word) }
            addresses.append(address)
        }
        return addresses
    }
}

/// What is wrong with a value; who asked knows the setting and the place.
package enum SettingError: Error, Equatable {
    case wrongForm(String)
    case outOfRange(String)
}
