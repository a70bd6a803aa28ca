/// `callMeRequest`: a `callControlRequest` of somebody without an account, with one more field (spidr-wire §7).
package struct CallMeRequest: WireObject, Equatable {
    package static let wrapper = "callMeRequest"
    /// Some clients keep the other name for some operations.
    package static let acceptedWrappers = [wrapper, CallControlRequest.wrapper]

    package var call: CallControlRequest
    /// Of `callStart`: the guest's own channel, by its last path segment.
    package var notifyChannelId: String?

    package init(_ call: CallControlRequest, notifyChannelId: String? = nil) {
        self.call = call
        self.notifyChannelId = notifyChannelId
    }

    private enum CodingKeys: String, CodingKey { case notifyChannelId }

    package init(from decoder: any Decoder) throws {
        call = try CallControlRequest(from: decoder)
        call.envelope = decoder.codingPath.last?.stringValue ?? Self.wrapper
        notifyChannelId = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(
            String.self, forKey: .notifyChannelId)
    }
}

/// `callMeResponse`: a `callControlResponse` under another name.
package struct CallMeResponse: WireObject, Equatable {
    package static let wrapper = "callMeResponse"

    package var call: CallControlResponse

    package init(_ call: CallControlResponse = CallControlResponse()) { self.call = call }

    package init(from decoder: any Decoder) throws { call = try CallControlResponse(from: decoder) }
}

extension CallMeRequest: JSONWritable {
    /// As clients write it.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            call.writeMembers(to: &object)
            object.member("notifyChannelId", notifyChannelId)
        }
    }
}

extension CallMeResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) { call.write(to: &writer) }
}
