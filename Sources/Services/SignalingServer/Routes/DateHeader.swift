package import CallRuntime
import Synchronization

/// The `Date` header (RFC 9110 §6.6.1), written once a second and kept.
package final class DateHeader: Sendable {
    private let clock: any RuntimeClock
    private let cached = Mutex<(second: Int64, text: String)>((second: .min, text: ""))

    /// Makes a header that shows the time of a clock.
    package init(clock: any RuntimeClock) { self.clock = clock }

    /// The value at present.
    package var value: String {
        let second = clock.epochMilliseconds / 1000
        return cached.withLock { cached in
            if cached.second != second { cached = (second, Self.text(second)) }
            return cached.text
        }
    }

    /// A time in the only form that is sent, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    ///
    /// - Parameter second: seconds since 1970, 0 or more.
    package static func text(_ second: Int64) -> String {
        let (days, time) = (second / 86_400, second % 86_400)
        let (year, month, day) = civil(days)
        let clock = [time / 3600, time / 60 % 60, time % 60].map(twoDigits).joined(separator: ":")
        return "\(weekdays[Int(days % 7)]), \(twoDigits(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    // 1970-01-01 was a Thursday.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// The date of the Gregorian calendar that is so many days after 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day comes last. 719,468 days lie between 0000-03-01 and
    /// 1970-01-01.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int, day: Int64) {
        let shifted = days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            era * 400 + yearOfEra + (month <= 2 ? 1 : 0), Int(month), dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }
}
