package import CallControl

extension RequestFields {
    /// The refusal of an object with a value that cannot be used.
    package func refusal(_ fault: ApplicationFault) -> Failure { refusal(fault.field, fault.predicate) }
}

extension ApplicationFault {
    /// Where in the object the field is, such as `items[2].duration`.
    fileprivate var field: String {
        switch self {
        case .itemCount: "items"
        case .loops: "loops"
        case .volume: "volume"
        case .itemURL(let index, _): "items[\(index)].url"
        case .itemLength(let index, _), .endlessItem(let index): "items[\(index)].duration"
        case .keyCount, .recordingLength: "maximum"
        case .terminators: "terminators"
        case .firstTimeout: "firstTimeout"
        case .betweenTimeout: "betweenTimeout"
        case .answerCount: "valid"
        case .answer(let index, _): "valid[\(index)]"
        case .channels, .channelsOfOneSide: "channels"
        case .silence: "silence"
        case .ringTimeout: "ringTimeout"
        case .contextLength: "context"
        case .tagLength: "tag"
        }
    }

    /// What the field must be, as the predicate of a sentence about it.
    fileprivate var predicate: String {
        switch self {
        case .itemCount(let counts): "must be \(counts.lowerBound) to \(counts.upperBound) items"
        case .loops(let counts): "must be \(counts.lowerBound) to \(counts.upperBound); 0 is for ever"
        case .volume(let volumes): "must be \(volumes.lowerBound) to \(volumes.upperBound) decibels"
        case .itemURL(_, let limit): "must be an https URL of at most \(limit) ASCII characters"
        case .itemLength(_, let lengths):
            "must be \(lengths.lowerBound.wholeMilliseconds) ms to \(lengths.upperBound.wholeSeconds / 3_600) hour"
        case .endlessItem: "must be given: without it the items that follow are never heard"
        case .keyCount(let counts): "must be \(counts.lowerBound) to \(counts.upperBound)"
        case .terminators: "must be keys: 0-9, A-D, * and #"
        case .firstTimeout(let timeouts), .betweenTimeout(let timeouts):
            "must be \(timeouts.lowerBound.wholeMilliseconds) ms to \(timeouts.upperBound.wholeSeconds) seconds"
        case .answerCount(let counts): "must be \(counts.lowerBound) to \(counts.upperBound) answers"
        case .answer(_, let counts):
            "must be \(counts.lowerBound) to \(counts.upperBound) keys (0-9, A-D, * and #), none of them a terminator"
        case .channels(let counts): "must be \(counts.lowerBound) or \(counts.upperBound)"
        case .channelsOfOneSide: "must be 1 where one side is recorded"
        case .recordingLength(let lengths):
            "must be \(lengths.lowerBound.wholeSeconds) s to \(lengths.upperBound.wholeSeconds / 3_600) h"
        case .silence(let lengths):
            "must be \(lengths.lowerBound.wholeSeconds) s to \(lengths.upperBound.wholeSeconds / 60) min"
        case .ringTimeout(let timeouts):
            "must be \(timeouts.lowerBound.wholeSeconds) to \(timeouts.upperBound.wholeSeconds) seconds"
        case .contextLength(let limit), .tagLength(let limit): "must be at most \(limit) bytes"
        }
    }
}

extension Duration {
    /// Whole seconds, rounded down.
    fileprivate var wholeSeconds: Int64 { components.seconds }
}
