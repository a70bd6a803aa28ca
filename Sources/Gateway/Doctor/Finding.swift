/// One thing that `orbweaver doctor` has looked at.
package struct Finding: Equatable, Sendable {
    /// How good it is.
    package enum Verdict: String, Sendable {
        /// As it should be.
        case good
        /// Possible, and worth a look.
        case look
        /// Clients will notice.
        case bad
    }

    /// What it is about, such as `database`.
    package var subject: String
    /// How good it is.
    package var verdict: Verdict
    /// What was found, and what to do about it.
    package var sentence: String

    /// Makes a finding of its parts; each parameter is the property of that name.
    package init(_ subject: String, _ verdict: Verdict, _ sentence: String) {
        self.subject = subject
        self.verdict = verdict
        self.sentence = sentence
    }

    /// One line for people.
    package var line: String { "\(verdict.rawValue)\t\(subject)\t\(sentence)" }
}
