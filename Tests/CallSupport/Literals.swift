package import CallControl

extension SubscriptionID: ExpressibleByStringLiteral {
    /// Makes an identifier of a literal, which is not checked.
    package init(stringLiteral value: String) { self.init(value) }
}

extension SessionID: ExpressibleByStringLiteral {
    /// Makes an identifier of a literal, which is not checked.
    package init(stringLiteral value: String) { self.init(value) }
}

extension PushDeviceID: ExpressibleByStringLiteral {
    /// Makes an identifier of a literal, which is not checked.
    package init(stringLiteral value: String) { self.init(value) }
}
