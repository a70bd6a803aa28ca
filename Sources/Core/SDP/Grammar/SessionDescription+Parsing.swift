extension SessionDescription {
    /// Reads a description in the order that RFC 8866 §9 prescribes. A line out of order or of an unknown type is an
    /// error (RFC 8866 §5); an unknown attribute is not.
    ///
    /// - Throws: `.malformedLine` if a line breaks the grammar, `.limitExceeded` if a limit of `DescriptionLimits` is
    ///   exceeded.
    package init(parsing text: String) throws(SDPError) {
        var parser = DescriptionParser(lines: try DescriptionLines(text))
        self = try parser.session()
    }
}

/// A recursive descent parser for the lines of a description.
private struct DescriptionParser {
    var lines: DescriptionLines
    var attributeCount = 0

    mutating func session() throws(SDPError) -> SessionDescription {
        let version = try require("v", .missingVersion)
        guard lines.text(of: version) == "0" else { throw .malformedLine(version.number, .unsupportedVersion) }
        var session = SessionDescription(origin: try origin())
        session.name = lines.text(of: try require("s", .missingName))
        session.information = try optional("i")
        session.uri = try optional("u")
        session.emailAddresses = try all("e")
        session.phoneNumbers = try all("p")
        session.connection = try connection()
        session.bandwidths = try bandwidths()
        session.times = try times()
        session.key = try optional("k")
        session.attributes = try attributes()
        while let line = try lines.take("m") {
            guard session.media.count < DescriptionLimits.mediaCount else {
                throw .limitExceeded(.mediaCount(DescriptionLimits.mediaCount))
            }
            session.media.append(try media(line))
        }
        if let line = lines.current { throw misplaced(line) }
        return session
    }

    private mutating func media(_ line: DescriptionLines.Line) throws(SDPError) -> MediaDescription {
        let fields = fields(of: line)
        guard fields.count >= 4 else {
            throw .malformedLine(line.number, .mediaFields)
        }
        let ports = fields[1].split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let port = UInt16(decimal: ports[0]) else {
            throw .malformedLine(line.number, .mediaPort)
        }
        var media = MediaDescription(
            type: text(fields[0]), port: port, transportProtocol: text(fields[2]), formats: fields[3...].map(text))
        if ports.count == 2 {
            guard let count = UInt16(decimal: ports[1]), count > 0 else {
                throw .malformedLine(line.number, .mediaPortCount)
            }
            media.portCount = count
        }
        media.information = try optional("i")
        while let connection = try connection() { media.connections.append(connection) }
        media.bandwidths = try bandwidths()
        media.key = try optional("k")
        media.attributes = try attributes()
        return media
    }

    private mutating func origin() throws(SDPError) -> Origin {
        let line = try require("o", .missingOrigin)
        let fields = fields(of: line)
        guard fields.count == 6 else { throw .malformedLine(line.number, .originFields) }
        guard let sessionID = Int64(decimal: fields[1]), let version = Int64(decimal: fields[2]) else {
            throw .malformedLine(line.number, .originNumbers)
        }
        let address = Connection(networkType: text(fields[3]), addressType: text(fields[4]), address: text(fields[5]))
        return Origin(
            username: text(fields[0]), sessionID: UInt64(sessionID), version: UInt64(version), address: address)
    }

    private mutating func connection() throws(SDPError) -> Connection? {
        guard let line = try lines.take("c") else { return nil }
        let fields = fields(of: line)
        guard fields.count == 3 else {
            throw .malformedLine(line.number, .connectionFields)
        }
        return Connection(networkType: text(fields[0]), addressType: text(fields[1]), address: text(fields[2]))
    }

    private mutating func bandwidths() throws(SDPError) -> [Bandwidth] {
        var bandwidths: [Bandwidth] = []
        while let line = try lines.take("b") {
            let (type, value) = lines.split(line, at: UInt8(ascii: ":"))
            guard !type.isEmpty, let value, let number = UInt64(decimal: value.utf8) else {
                throw .malformedLine(line.number, .bandwidthFields)
            }
            try count(line)
            bandwidths.append(Bandwidth(type: type, value: number))
        }
        return bandwidths
    }

    private mutating func times() throws(SDPError) -> [ActiveTime] {
        var times: [ActiveTime] = []
        while let line = try lines.take("t") {
            let fields = fields(of: line)
            guard fields.count == 2, let start = UInt64(decimal: fields[0]), let stop = UInt64(decimal: fields[1])
            else {
                throw .malformedLine(line.number, .timeFields)
            }
            times.append(ActiveTime(start: start, stop: stop, repeats: try all("r"), zones: try optional("z")))
        }
        guard !times.isEmpty else { throw missing(.missingTimes) }
        return times
    }

    private mutating func attributes() throws(SDPError) -> [Attribute] {
        var attributes: [Attribute] = []
        while let line = try lines.take("a") {
            let (name, value) = lines.split(line, at: UInt8(ascii: ":"))
            guard !name.isEmpty else { throw .malformedLine(line.number, .attributeName) }
            try count(line)
            attributes.append(Attribute(name, value))
        }
        return attributes
    }

    // MARK: Lines and fields

    private mutating func require(
        _ type: Unicode.Scalar, _ fault: SDPError.LineFault
    ) throws(SDPError) -> DescriptionLines.Line {
        guard let line = try lines.take(type) else { throw missing(fault) }
        return line
    }

    private mutating func optional(_ type: Unicode.Scalar) throws(SDPError) -> String? {
        guard let line = try lines.take(type) else { return nil }
        return lines.text(of: line)
    }

    private mutating func all(_ type: Unicode.Scalar) throws(SDPError) -> [String] {
        var values: [String] = []
        while let value = try optional(type) { values.append(value) }
        return values
    }

    private mutating func count(_ line: DescriptionLines.Line) throws(SDPError) {
        attributeCount += 1
        guard attributeCount <= DescriptionLimits.attributeCount else {
            throw .limitExceeded(.attributeCount(DescriptionLimits.attributeCount, line: line.number))
        }
    }

    private func missing(_ fault: SDPError.LineFault) -> SDPError { .malformedLine(lines.lineNumber, fault) }

    private func misplaced(_ line: DescriptionLines.Line) -> SDPError {
        let known = "vosiuepcbtrzkam".utf8.contains(line.type)
        guard known else { return .malformedLine(line.number, .unknownType) }
        return .malformedLine(line.number, .misplaced(Unicode.Scalar(line.type)))
    }

    /// The fields of a line. They are separated by one space; more spaces are tolerated.
    private func fields(of line: DescriptionLines.Line) -> [ArraySlice<UInt8>] {
        lines.bytes(of: line).split(separator: UInt8(ascii: " "))
    }

    private func text(_ field: ArraySlice<UInt8>) -> String { String(decoding: field, as: UTF8.self) }
}
