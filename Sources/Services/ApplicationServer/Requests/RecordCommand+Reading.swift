import CallControl
import GatewayAPI

extension RecordCommand {
    /// Reads the body of `record`. Without an action a recording is started.
    ///
    /// - Throws: the codes `request.…`.
    init(reading body: [UInt8]) throws(V1Error) {
        let fields = try Fields(parsing: body, known: RecordRequest.fields.union(["action"]), isOptional: true)
        let action = try fields.word("action", Action.self) ?? .start
        guard action != .start else {
            self = .start(try RecordRequest(reading: fields))
            return
        }
        if let field = RecordRequest.fields.sorted().first(where: { fields.value($0) != nil }) {
            throw fields.refusal(field, "is for the action start alone")
        }
        self =
            switch action {
            case .start, .stop: .stop
            case .pause: .pause
            case .resume: .resume
            }
    }
}

extension RecordRequest {
    /// The fields of a body that says how a call is recorded.
    static let fields: Set<String> = ["format", "sides", "channels", "maximum", "silence", "beep", "tag"]

    /// Reads those fields.
    ///
    /// - Throws: `request.invalid_value`.
    init(reading fields: Fields) throws(V1Error) {
        let format = try fields.word("format", Format.self) ?? .ogg
        let sides = try fields.word("sides", Sides.self) ?? .both
        let channels = try fields.number("channels", in: 1...2) ?? 1
        let maximum = try fields.milliseconds("maximum", in: Self.lengths) ?? .seconds(3_600)
        let silence = try fields.milliseconds("silence", in: Self.silences)
        let beep = try fields.flag("beep") ?? false
        let tag = try fields.text("tag")
        do throws(ApplicationFault) {
            try self.init(
                format: format, sides: sides, channels: Int(channels), maximum: maximum, silence: silence, beep: beep,
                tag: tag)
        } catch {
            throw fields.refusal(error)
        }
    }
}
