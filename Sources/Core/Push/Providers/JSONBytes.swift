/// JSON (RFC 8259) as it is written for providers: members in the order in which they are added.
struct JSONBytes {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init(reserving count: Int = 512) { bytes.reserveCapacity(count) }

    /// Writes an object with the members that `members` adds.
    mutating func object(_ name: StaticString? = nil, _ members: (inout JSONBytes) -> Void) {
        key(name)
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        members(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Adds a member with a text.
    mutating func text(_ name: StaticString, _ value: String) {
        key(name)
        string(value.utf8)
    }

    /// Adds a member with a number.
    mutating func number(_ name: StaticString, _ value: UInt64) { literal(name, String(value)) }

    /// Adds a member with a truth value.
    mutating func truth(_ name: StaticString, _ value: Bool) { literal(name, value ? "true" : "false") }

    /// Adds a member whose value is JSON already.
    mutating func json(_ name: StaticString, _ value: some Sequence<UInt8>) {
        key(name)
        bytes.append(contentsOf: value)
    }

    /// Adds a member with a text that is JSON itself.
    mutating func quoted(_ name: StaticString, _ value: some Sequence<UInt8>) {
        key(name)
        string(value)
    }

    private mutating func literal(_ name: StaticString, _ value: String) {
        key(name)
        bytes.append(contentsOf: value.utf8)
    }

    private mutating func key(_ name: StaticString?) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        guard let name else { return }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: name.description.utf8)
        bytes.append(contentsOf: "\":".utf8)
    }

    private mutating func string(_ text: some Sequence<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0..<0x20:
                let digit = byte & 0xF
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(byte >> 4 | 0x30)
                bytes.append(digit < 10 ? digit | 0x30 : digit + 0x57)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
