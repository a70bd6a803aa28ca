/// A header field of a request or a response (RFC 9110 §5).
package struct HTTPField: Hashable, Sendable {
    /// The name. It is compared without regard to case.
    package var name: String
    /// The value.
    package var value: String

    /// Makes a field of its parts; each parameter is the property of that name.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field can be sent: the name is a token, and the value has no control characters, with which it
    /// would end the field (RFC 9110 §5.1, §5.5).
    var isValid: Bool {
        !name.isEmpty && name.utf8.allSatisfy(Self.isTokenCharacter)
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// A request to another server.
package struct HTTPRequest: Sendable {
    /// What is asked for, with the content that goes with it.
    package enum Method: Sendable {
        /// GET.
        case get
        /// POST with a content, which may be empty.
        case post([UInt8])
    }

    /// The method, with the content.
    package var method: Method
    /// The absolute URL, `https://host[:port]/path?query`.
    package var url: String
    /// The header fields. `content-length` and `host` are added.
    package var fields: [HTTPField]
    /// The time until the whole response must be there, from when the client gets the request.
    package var timeout: Duration

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(_ method: Method, _ url: String, fields: [HTTPField] = [], timeout: Duration) {
        self.method = method
        self.url = url
        self.fields = fields
        self.timeout = timeout
    }

    /// Scheme, host and port: requests with the same ones share connections. `nil` if the URL has none.
    var origin: Substring? {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let host = bytes.index(colon, offsetBy: 3)
        let end =
            bytes[host...].firstIndex { byte in
                byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
            } ?? bytes.endIndex
        return end > host ? url[..<end] : nil
    }
}

/// What a server has answered.
package struct HTTPResponse: Hashable, Sendable {
    /// The status, 100 to 999.
    package var status: Int
    /// Whether it came over HTTP/2.
    package var isHTTP2: Bool
    /// The content.
    package var content: [UInt8]
    /// Whether the content was longer than is accepted, and is not here.
    package internal(set) var isCut = false
    /// The header section as it came, a line per field.
    private let head: [UInt8]

    /// Makes a response of its parts.
    init(status: Int, isHTTP2: Bool, head: [UInt8], content: [UInt8]) {
        self.status = status
        self.isHTTP2 = isHTTP2
        self.head = head
        self.content = content
    }

    /// Makes a response of its parts; each parameter is the property of that name.
    package init(status: Int, fields: [HTTPField] = [], content: [UInt8] = []) {
        self.init(
            status: status, isHTTP2: true, head: fields.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) },
            content: content)
    }

    /// The value of the first field of that name, without the blanks around it; `nil`: there is none.
    package func value(of name: String) -> String? {
        var start = head.startIndex
        while start < head.endIndex {
            let end = head[start...].firstIndex(of: UInt8(ascii: "\n")) ?? head.endIndex
            if let value = Self.value(of: name, in: head[start..<end]) { return value }
            start = end + 1
        }
        return nil
    }

    /// The value of a field in a line; `nil`: the line has another field.
    private static func value(of name: String, in line: ArraySlice<UInt8>) -> String? {
        let colon = line.startIndex + name.utf8.count
        guard colon > line.startIndex, colon < line.endIndex, line[colon] == UInt8(ascii: ":"),
            zip(line, name.utf8).allSatisfy({ lowercased($0) == lowercased($1) })
        else { return nil }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let value = line[(colon + 1)...].drop(while: isBlank)
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        return String(decoding: value[..<end], as: UTF8.self)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
