/// The name of one stream: a WebSocket that carries the audio of an application's leg. Each socket gets a new one.
package struct StreamID: Hashable, Sendable, CustomStringConvertible {
    /// A number that no other stream of the process is likely to have.
    package let rawValue: UInt64

    /// Makes a name of a number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The number in hexadecimal digits, as programs are told it.
    package var description: String { String(rawValue, radix: 16) }
}
