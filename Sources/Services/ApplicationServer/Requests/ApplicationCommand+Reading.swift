package import CallControl
package import GatewayAPI

/// The fields of a body sent to `/v1`.
typealias Fields = RequestFields<V1Error>

extension ApplicationCommand {
    /// Reads the body of a command. Commands without fields that must be there need no body.
    ///
    /// - Throws: the codes `request.…`.
    package init(_ name: Name, reading body: [UInt8]) throws(V1Error) {
        switch name {
        case .ring: self = try Self.plain(.ring, body)
        case .progress:
            let fields = try Self.fields(body, PlayListField.fields)
            let named = PlayListField.fields.contains { fields.value($0) != nil }
            self = .progress(named ? try PlayListField.read(fields) : nil)
        case .answer: self = .answer(try Self.fields(body, CustomContent.fields).content())
        case .reject:
            self = .reject(try Self.fields(body, ["cause"]).word("cause", RejectCause.self) ?? .declined)
        case .end:
            let fields = try Self.fields(body, ["reasonText"])
            let text = try fields.text("reasonText")
            guard (text?.utf8.count ?? 0) <= Self.reasonLength else {
                throw fields.refusal("reasonText", "must be at most \(Self.reasonLength) bytes")
            }
            self = .end(reasonText: text)
        case .hold: self = try Self.plain(.hold, body)
        case .resume: self = try Self.plain(.resume, body)
        case .transfer:
            let fields = try Self.fields(body, ["to", "call"])
            guard let call = try fields.call() else {
                self = .transfer(to: try fields.address("to"))
                break
            }
            guard !fields.has("to") else { throw fields.refusal("call", "cannot be there besides \"to\"") }
            self = .transferToCall(call)
        case .bridge:
            let fields = try Self.fields(body, ["call", "bot"])
            guard let call = try fields.call() else { throw fields.missing("call") }
            self = .bridge(call, try fields.word("bot", BridgeRole.self) ?? .stay)
        case .join:
            let fields = try Self.fields(body, ["calls"])
            guard let calls = try fields.texts("calls", atMost: Self.maximumJoined) else {
                throw fields.missing("calls")
            }
            guard !calls.isEmpty else { throw fields.refusal("calls", "must name a call") }
            self = .join(calls.map { SessionID($0) })
        case .leave: self = try Self.plain(.leave, body)
        case .mute: self = try Self.plain(.mute, body)
        case .unmute: self = try Self.plain(.unmute, body)
        case .send:
            let fields = try Self.fields(body, CustomContent.fields)
            let content = try fields.content()
            guard !content.isEmpty else {
                throw V1Error(.requestMissingField, "There is neither a parameter nor a body to send.")
            }
            self = .send(content)
        case .keys: self = .keys(try Self.digits(Self.fields(body, ["keys", "duration", "gap"])))
        case .play: self = .play(try PlayRequest(reading: body))
        case .stop: self = try Self.plain(.stop, body)
        case .gather: self = .gather(try GatherRequest(reading: body))
        case .record: self = .record(try RecordCommand(reading: body))
        }
    }

    /// The longest reason of an end, in bytes of UTF-8.
    private static let reasonLength = 256

    fileprivate static func fields(_ body: [UInt8], _ known: Set<String>) throws(V1Error) -> Fields {
        try Fields(parsing: body, known: known, isOptional: true)
    }

    /// A command without fields.
    private static func plain(_ command: ApplicationCommand, _ body: [UInt8]) throws(V1Error) -> ApplicationCommand {
        if !body.isEmpty { _ = try fields(body, []) }
        return command
    }

    private static func digits(_ fields: Fields) throws(V1Error) -> DigitSequence {
        let text = try fields.requiredText("keys")
        let duration = try fields.milliseconds("duration", in: DigitSequence.durations) ?? .milliseconds(100)
        let gap = try fields.milliseconds("gap", in: DigitSequence.gaps) ?? .milliseconds(70)
        guard let digits = DigitSequence(text, duration: duration, gap: gap) else {
            throw fields.refusal(
                "keys",
                "must be 1 to \(DigitSequence.maximumCount) of the keys 0-9, A-D, * and #, and commas for pauses")
        }
        return digits
    }
}

extension Fields {
    /// The other call; `nil`: the field is not there.
    fileprivate func call() throws(V1Error) -> SessionID? { try text("call").map { SessionID($0) } }
}

extension PlayRequest {
    /// Reads the body of `play`.
    ///
    /// - Throws: the codes `request.…`.
    fileprivate init(reading body: [UInt8]) throws(V1Error) {
        let fields = try Fields(parsing: body, known: PlayListField.fields.union(["mode", "tag"]))
        let list = try PlayListField.read(fields)
        let (mode, tag) = (try fields.word("mode", Mode.self) ?? .replace, try fields.text("tag"))
        do throws(ApplicationFault) {
            try self.init(list: list, mode: mode, tag: tag)
        } catch {
            throw fields.refusal(error)
        }
    }
}

extension GatherRequest {
    private static let fields: Set<String> = [
        "maximum", "terminators", "firstTimeout", "betweenTimeout", "prompt", "valid", "tag",
    ]

    /// Reads the body of `gather`.
    ///
    /// - Throws: the codes `request.…`.
    fileprivate init(reading body: [UInt8]) throws(V1Error) {
        let fields = try Fields(parsing: body, known: Self.fields, isOptional: true)
        let maximum = try fields.number("maximum", in: 1...Int64(Self.sizes.upperBound)) ?? 1
        let terminators = try fields.text("terminators") ?? ""
        let first = try fields.milliseconds("firstTimeout", in: Self.timeouts) ?? .seconds(5)
        let between = try fields.milliseconds("betweenTimeout", in: Self.timeouts) ?? .seconds(3)
        var prompt: PlayList?
        if let list = try fields.object("prompt", known: PlayListField.fields) {
            prompt = try PlayListField.read(list)
        }
        let valid = try fields.texts("valid", atMost: Self.maximumAnswers)
        let tag = try fields.text("tag")
        do throws(ApplicationFault) {
            try self.init(
                maximum: Int(maximum), terminators: terminators, firstTimeout: first, betweenTimeout: between,
                prompt: prompt, valid: valid, tag: tag)
        } catch {
            throw fields.refusal(error)
        }
    }
}
