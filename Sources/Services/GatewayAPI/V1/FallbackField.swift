package import CallControl

/// The form of what happens to a call of an application about which nobody decides: an object with one of `reject`,
/// `announce`, `forward` and `answer`, in bodies of the administration interface and in the database.
package struct FallbackField: Encodable, Equatable, Sendable {
    private var reject: String?
    private var announce: PlayList.Field?
    private var forward: String?
    private var answer: String?

    private static let kinds = ["reject", "announce", "forward", "answer"]
    /// The only word of `answer`: the gateway plays back what it hears.
    private static let echo = "echo"
    private static let echoDelay = Duration.seconds(1)

    /// The form of a fallback. A source that is no echo has none, and is shown as one.
    package init(_ fallback: ApplicationFallback) {
        switch fallback {
        case .reject(let cause): reject = cause.rawValue
        case .announce(let list): announce = list.field
        case .forward(let address): forward = address.text
        case .answer: answer = Self.echo
        }
    }

    /// Reads a field that holds such an object; `nil`: it is not there.
    ///
    /// - Throws: `request.invalid_value`.
    package static func read<Failure>(
        _ name: String, of body: RequestFields<Failure>
    ) throws(Failure) -> ApplicationFallback? {
        guard let fields = try body.object(name, known: Set(kinds)) else { return nil }
        let fallback = try read(fields) { body.refusal(name, $0) }
        // What was written before this was a rule is still read.
        if case .announce(let list) = fallback, list.isEndless {
            throw body.refusal(
                name, "must announce something that ends: with loops of 1 or more, and a duration of a tone or music")
        }
        return fallback
    }

    /// Reads the fields of such an object.
    ///
    /// - Parameter refusal: the error of a rule that the object does not follow.
    /// - Throws: `request.invalid_value`.
    private static func read<Failure>(
        _ fields: RequestFields<Failure>, refusal: (String) -> Failure
    ) throws(Failure) -> ApplicationFallback {
        let present = kinds.filter { fields.value($0) != nil }
        guard present.count == 1 else {
            throw refusal("must have exactly one of \(kinds.joined(separator: ", "))")
        }
        switch present[0] {
        case "reject":
            guard let cause = try fields.word("reject", RejectCause.self) else { throw fields.missing("reject") }
            return .reject(cause)
        case "announce":
            guard let list = try fields.object("announce", known: PlayListField.fields) else {
                throw fields.missing("announce")
            }
            return .announce(try PlayListField.read(list))
        case "forward":
            guard let address = UserAddress(parsing: try fields.requiredText("forward")) else {
                throw fields.refusal("forward", "must be an address, such as alice@example.com")
            }
            return .forward(address)
        default:
            guard try fields.text("answer") == echo else { throw fields.refusal("answer", "must be \"\(echo)\"") }
            return .answer(.echo(delay: echoDelay))
        }
    }

    /// Reads what was written of a fallback; `nil` if the text is none.
    package static func read(written text: String) -> ApplicationFallback? {
        do throws(V1Error) {
            let fields = try RequestFields<V1Error>(parsing: Array(text.utf8), known: Set(kinds))
            return try read(fields) { V1Error(RequestProblem.invalidValue, $0) }
        } catch {
            return nil
        }
    }
}

extension PlayList {
    /// Whether the list is played until something else is. Nobody would end a call that hears it as a fallback.
    fileprivate var isEndless: Bool { loops == 0 || items.contains(where: \.isEndless) }
}
