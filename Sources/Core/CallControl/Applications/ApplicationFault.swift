/// Why a value that an application gave cannot be used. The case tells the field, and has the bound that the value
/// breaks. A dialect makes the name of the field and the sentence.
package enum ApplicationFault: Error, Hashable, Sendable {
    // MARK: A list that is played

    /// The number of items of a list is none of these.
    case itemCount(ClosedRange<Int>)
    /// The number of repetitions of a list is none of these.
    case loops(ClosedRange<Int>)
    /// The change of loudness is none of these, in decibels.
    case volume(ClosedRange<Int>)
    /// The URL of the item at this place, counted from 0, is no https URL, or has more characters than the limit.
    case itemURL(Int, limit: Int)
    /// The length of the item at this place, counted from 0, is none of these.
    case itemLength(Int, ClosedRange<Duration>)
    /// The item at this place, counted from 0, never ends, and is not the last.
    case endlessItem(Int)

    // MARK: A gathering

    /// The most keys of a gathering are none of these numbers.
    case keyCount(ClosedRange<Int>)
    /// The terminators have something else than keys.
    case terminators
    /// The time to wait for the first key is none of these.
    case firstTimeout(ClosedRange<Duration>)
    /// The time to wait for each further key is none of these.
    case betweenTimeout(ClosedRange<Duration>)
    /// The number of valid answers is none of these.
    case answerCount(ClosedRange<Int>)
    /// The valid answer at this place, counted from 0, has something else than keys, a terminator, or none of these
    /// numbers of keys.
    case answer(Int, keys: ClosedRange<Int>)

    // MARK: A recording

    /// The number of channels is none of these.
    case channels(ClosedRange<Int>)
    /// There are two channels for one side.
    case channelsOfOneSide
    /// The longest time of a recording is none of these.
    case recordingLength(ClosedRange<Duration>)
    /// The silence that ends a recording is none of these times.
    case silence(ClosedRange<Duration>)

    // MARK: A call, and what several have

    /// The time to ring is none of these.
    case ringTimeout(ClosedRange<Duration>)
    /// The context has more bytes of UTF-8 than the limit.
    case contextLength(limit: Int)
    /// The tag has more bytes of UTF-8 than the limit.
    case tagLength(limit: Int)
}
