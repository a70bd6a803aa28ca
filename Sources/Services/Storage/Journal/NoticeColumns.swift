import CallControl
import GatewayAPI
import Registration

/// What a notification tells, in the columns of the table `notification`.
struct NoticeColumns {
    /// The kinds of notices. The raw value is what stands in the table, and is never changed.
    enum Kind: String {
        case event
        case service
        case gone
        case overridden
        case ping
        case lost
    }

    var kind: Kind
    /// How many notifications were lost; `nil` unless that is told.
    var lost: Int?
    /// The event of a call that is told; `nil`: none.
    var call: Int64?
    var startedAt: Int64?
    var sequence: Int?
    /// What a service besides calls tells, as JSON; `nil`: it is something else.
    var content: String?

    /// - Parameter texts: the text that was made last, since many subscriptions are told the same.
    init(_ notice: Notice, _ texts: inout ServiceNoticeText) {
        switch notice {
        case .call(let entry):
            kind = .event
            (call, startedAt, sequence) = (entry.call.column, entry.startedAt, entry.sequence)
        case .service(let notice):
            kind = .service
            content = texts.text(of: notice)
        case .gone: kind = .gone
        case .overridden: kind = .overridden
        case .ping: kind = .ping
        case .lost(let count):
            kind = .lost
            lost = count
        }
    }
}

/// Writes notices of services as JSON. A notice that is the same as the one before is not written again.
struct ServiceNoticeText {
    private var last: (notice: ServiceNotice, text: String)?

    /// The JSON of a notice.
    mutating func text(of notice: ServiceNotice) -> String {
        if let last, last.notice == notice { return last.text }
        let text = String(decoding: WireJSON.encode(notice), as: UTF8.self)
        last = (notice, text)
        return text
    }
}

extension CallID {
    /// The identifier as an SQLite integer, which has a sign.
    var column: Int64 { Int64(bitPattern: rawValue) }

    /// Reads what ``column`` has written.
    init(column: Int64) { self.init(UInt64(bitPattern: column)) }
}
