import SPiDR

/// `ctcResponse`: the answer to a request for a call that the gateway places (spidr-wire §10).
package struct ClickToCallResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "ctcResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0

    /// Makes the answer.
    package init() {}
}
