import Foundation

/// An HTTP response as a test wants to see it.
struct HTTPText: Sendable {
    var status: Int
    var headers: [String: String]
    var body: String

    subscript(_ header: String) -> String? { headers[header.lowercased()] }

    /// The member at a path like `callControlResponse.statusCode`.
    func member(_ path: String) throws -> String? {
        var value: Any? = try JSONSerialization.jsonObject(with: Data(body.utf8))
        for key in path.split(separator: ".") { value = (value as? [String: Any])?[String(key)] }
        return value.map { "\($0)" }
    }

    /// How many bytes the first complete response takes, for ``RawClient/read(until:)``.
    static func length(of bytes: [UInt8]) -> Int? {
        guard let headEnd = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
        let head = parseHead(bytes[..<headEnd])
        let length = headEnd + (head.headers["content-length"].flatMap { Int($0) } ?? 0)
        return bytes.count >= length ? length : nil
    }

    /// For responses to `HEAD` and 101: only the head.
    static func headLength(of bytes: [UInt8]) -> Int? { bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound }

    init(_ bytes: [UInt8]) {
        let headEnd = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.count
        (status, headers) = Self.parseHead(bytes[..<headEnd])
        body = String(decoding: bytes[headEnd...], as: UTF8.self)
    }

    private static func parseHead(_ bytes: some Collection<UInt8>) -> (status: Int, headers: [String: String]) {
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        return (status, headers)
    }
}
