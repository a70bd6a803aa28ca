/// The parameters of an `a=fmtp` in the usual form `name=value;name=value` (RFC 4855 §3), in the order they stand in.
///
/// What has another form stays as it is, blanks before it excepted.
package struct FormatParameters: Hashable, Sendable {
    private var entries: [Substring]

    package init(_ text: String) {
        entries = text.split(separator: ";").map { $0.drop { $0 == " " } }
    }

    package var text: String { entries.joined(separator: ";") }

    /// Names compare without case (RFC 4855 §3). Setting replaces in place, or adds at the end; `nil` takes away.
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
