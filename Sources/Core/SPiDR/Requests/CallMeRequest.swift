/// `callMeRequest`: a `callControlRequest` of a guest, a caller without an account, with one additional field
/// (spidr-wire §7).
package struct CallMeRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "callMeRequest"
    /// Both keys are accepted: some clients write `callControlRequest` for some operations (spidr-wire §7).
    package static let acceptedWrappers = [wrapper, CallControlRequest.wrapper]

    /// The operation.
    package var call: CallControlRequest
    /// In `callStart`: the last segment of the guest's own channel path. Notifications of the call go there.
    package var notifyChannelId: String?

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(_ call: CallControlRequest, notifyChannelId: String? = nil) {
        self.call = call
        self.notifyChannelId = notifyChannelId
    }

    private enum CodingKeys: String, CodingKey { case notifyChannelId }

    /// Reads a request. ``CallControlRequest/envelope`` becomes the top-level key that the guest used.
    ///
    /// - Throws: `DecodingError` if a field is missing or has the wrong type.
    package init(from decoder: any Decoder) throws {
        call = try CallControlRequest(from: decoder)
        call.envelope = decoder.codingPath.last?.stringValue ?? Self.wrapper
        notifyChannelId = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(
            String.self, forKey: .notifyChannelId)
    }

    /// Writes the members of the operation, and `notifyChannelId` behind them.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        try call.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(notifyChannelId, forKey: .notifyChannelId)
    }
}
