/// The parameters of an `a=fmtp` in the usual form `name=value;name=value` (RFC 4855 §3), in their order.
///
/// A parameter of another form stays as it is, except for blanks before it.
package struct FormatParameters: Hashable, Sendable {
    private var entries: [Substring]

    /// Reads the text of `a=fmtp` after the payload type.
    package init(_ text: String) {
        entries = text.split(separator: ";").map { $0.drop { $0 == " " } }
    }

    /// The text of `a=fmtp` after the payload type.
    package var text: String { entries.joined(separator: ";") }

    /// The value of a parameter; `nil` if it is missing. Names are compared without case (RFC 4855 §3). Setting a value
    /// replaces it in place or appends it; setting `nil` removes the parameter.
    package subscript(name: String) -> String? {
        get { place(of: name).map { String(entries[$0].drop { $0 != "=" }.dropFirst()) } }
        set {
            switch (place(of: name), newValue) {
            case (let place?, let value?): entries[place] = entries[place].prefix { $0 != "=" } + "=\(value)"
            case (let place?, nil): entries.remove(at: place)
            case (nil, let value?): entries.append("\(name)=\(value)")
            case (nil, nil): break
            }
        }
    }

    private func place(of name: String) -> Int? {
        let name = name.lowercased()
        return entries.firstIndex { entry in entry.contains("=") && entry.prefix { $0 != "=" }.lowercased() == name }
    }
}
