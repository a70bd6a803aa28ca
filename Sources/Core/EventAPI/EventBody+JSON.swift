package import CallControl

extension EventBody {
    /// The body as a JSON object in UTF-8 (RFC 8259): members in alphabetical order, absent ones left out.
    package var json: [UInt8] {
        var text = JSONText()
        text.startObject()
        if let call { text.write("call", .string(call)) }
        text.write("data", .object(data))
        if let leg { text.write("leg", .integer(Int64(leg))) }
        if let sequence { text.write("sequence", .integer(Int64(sequence))) }
        text.write("time", .integer(time))
        if let traceparent { text.write("traceparent", .string(traceparent.description)) }
        text.write("type", .string(type))
        text.write("version", .integer(Int64(version)))
        text.endObject()
        return text.bytes
    }

    /// The trace context in the JSON object of an event, with or without its `id`; `nil`: there is none.
    ///
    /// It is looked for where `json` writes it, which is right before `type`: members are in alphabetical order, and
    /// behind `type` there is only the version. In `data`, before it, others may have written anything.
    package static func traceContext(in json: [UInt8]) -> TraceContext? {
        let (type, start) = (Array(#"","type":""#.utf8), Array(#","traceparent":""#.utf8))
        let end = stride(from: json.count - type.count, through: 0, by: -1).first { json[$0...].starts(with: type) }
        let length = 55
        guard let end, end >= start.count + length else { return nil }
        let value = end - length
        guard json[(value - start.count)..<value].elementsEqual(start) else { return nil }
        return TraceContext(String(decoding: json[value..<end], as: UTF8.self))
    }
}

/// JSON as it grows, in UTF-8.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(384) }

    /// Starts an object, whose members follow one by one.
    mutating func startObject() { bytes.append(UInt8(ascii: "{")) }

    /// The next member of the object that was started.
    mutating func write(_ name: String, _ value: EventValue) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        write(name)
        bytes.append(UInt8(ascii: ":"))
        write(value)
    }

    mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

    mutating func write(_ value: EventValue) {
        switch value {
        case .string(let text): write(text)
        case .integer(let number): bytes += "\(number)".utf8
        // JSON has no number that is not finite.
        case .number(let number): bytes += (number.isFinite ? "\(number)" : "null").utf8
        case .flag(let flag): bytes += (flag ? "true" : "false").utf8
        case .list(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(value)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, name) in members.keys.sorted().enumerated() {
                guard let value = members[name] else { continue }
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(name)
                bytes.append(UInt8(ascii: ":"))
                write(value)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string; quotation marks, backslashes and control characters are escaped (RFC 8259 §7).
    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes += [Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
