/// Why text is not a candidate (RFC 8839 §5.1): the field that is missing or does not have its form.
package enum CandidateError: Error, Hashable, Sendable {
    case malformedFoundation
    case malformedComponent
    case malformedTransport
    case malformedPriority
    case malformedAddress
    case malformedPort
    case malformedType
    case malformedRelatedAddress
    /// An extension name without a value, or characters that do not belong there.
    case malformedExtension
    /// More extensions than `Candidate.maximumExtensionCount`.
    case limitExtensions
}
