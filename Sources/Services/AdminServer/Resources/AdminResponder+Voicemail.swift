import CallControl
import CallRuntime
import GatewayAPI
import Registration

/// The number of voice messages of a user, which the system with the mailboxes tells the gateway (spidr-wire §9).
extension AdminResponder {
    /// The most messages of a kind that a user can have.
    private static let most: Int64 = 1_000_000

    func showVoicemail(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let address = try user(call)
        let account = try await storing { () async throws(StorageError) in try await accounts.account(address) }
        guard account != nil else { throw AdminError(.noSuchUser(address)) }
        return .json(VoicemailField(await administration.voicemail(of: address)))
    }

    func setVoicemail(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let address = try user(call)
        let fields = try BodyFields(parsing: call.body, known: ["unheard", "heard"])
        let count = VoicemailCount(unheard: try number("unheard", fields), heard: try number("heard", fields))
        try await storing { () async throws(StorageError) in
            try await administration.setVoicemail(of: address, to: count)
        }
        try await durable()
        return .json(VoicemailField(count))
    }

    private func number(_ name: String, _ fields: BodyFields) throws(AdminError) -> Int {
        guard let number = try fields.number(name, in: 0...Self.most) else {
            throw AdminError(.requestMissingField, "The field \"\(name)\" is missing.")
        }
        return Int(number)
    }
}

/// The number of voice messages as it is shown.
struct VoicemailField: Encodable, Equatable, Sendable {
    var unheard: Int
    var heard: Int

    init(_ count: VoicemailCount) {
        unheard = count.unheard
        heard = count.total - count.unheard
    }
}
