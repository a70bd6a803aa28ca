/// Comma-separated values (RFC 4180).
enum CommaSeparated {
    /// Reads records. A line end may be CRLF or LF; empty lines are left out.
    ///
    /// - Returns: each record with the line on which it starts, from 1.
    /// - Throws: `import.line_invalid` for quotes that do not fit.
    static func read(_ text: String) throws(AdminError) -> [(line: Int, values: [String])] {
        var records: [(line: Int, values: [String])] = []
        var (line, start) = (1, 1)
        var values: [String] = []
        var value = ""
        var (isQuoted, wasQuoted) = (false, false)
        var scalars = Array(text.unicodeScalars)[...]
        func end() {
            if values.isEmpty, value.isEmpty, !wasQuoted { return }
            records.append((start, values + [value]))
        }
        while let scalar = scalars.popFirst() {
            if scalar == "\n" { line += 1 }
            if isQuoted {
                if scalar != "\"" {
                    value.unicodeScalars.append(scalar)
                } else if scalars.first == "\"" {
                    value.unicodeScalars.append(scalars.removeFirst())
                } else {
                    isQuoted = false
                }
                continue
            }
            switch scalar {
            case "\"" where value.isEmpty && !wasQuoted: (isQuoted, wasQuoted) = (true, true)
            case ",":
                values.append(value)
                (value, wasQuoted) = ("", false)
            case "\r" where scalars.first == "\n" || scalars.isEmpty: break
            case "\n":
                end()
                (values, value, wasQuoted, start) = ([], "", false, line)
            default:
                guard !wasQuoted, scalar != "\"" else {
                    throw AdminError(.requestInvalidValue, "A quote stands within a value.").inLine(line)
                }
                value.unicodeScalars.append(scalar)
            }
        }
        guard !isQuoted else { throw AdminError(.requestInvalidValue, "A quote is not closed.").inLine(start) }
        end()
        return records
    }

    /// Writes records, with a CRLF behind each.
    static func write(_ records: [[String]]) -> String {
        records.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = !value.unicodeScalars.contains { [",", "\"", "\r", "\n"].contains($0) }
        return isPlain ? value : "\"" + value.replacing("\"", with: "\"\"") + "\""
    }
}
