import CallRuntime

extension ConfigurationKey {
    /// The administration interface.
    static let admin = [
        ConfigurationKey(
            "admin", "socket", \.admin.socket, .adminSocket,
            "Unix socket of the administration interface; auto: storage.path with .admin behind it, with --dev none."),
        ConfigurationKey(
            "admin", "host", \.admin.host, ValueFormat.host.orNone("off", "only the socket"),
            "Address of the administration interface over TCP: without TLS if it is loopback, otherwise with that of tls.certificate."
        ),
        ConfigurationKey(
            "admin", "port", \.admin.port, .port, "TCP port of the administration interface, if admin.host is given."),
        ConfigurationKey(
            "admin", "audit_age", \.admin.audit.age, .duration(.seconds(86_400)...(.seconds(3_650 * 86_400))),
            "How long an entry of the audit log is kept."),
        ConfigurationKey(
            "admin", "audit_entries", \.admin.audit.count, .count(100...10_000_000),
            "Entries of the audit log that are kept; the oldest make room."),
        ConfigurationKey(
            "admin", "idempotency_keys", \.admin.audit.keys, .count(100...1_000_000),
            "Idempotency keys whose answers are kept, for a day at most; the oldest make room."),
    ]
}

extension ValueFormat<GatewayConfiguration.AdminSocket> {
    /// A path, or one of two words.
    fileprivate static let adminSocket = ValueFormat(
        "a path, auto (beside the database), or off",
        parseText: { text in
            switch text {
            case "auto": .auto
            case "off": .off
            default: ValueFormat<String>.path.parse(.text(text)).map { .path($0) }
            }
        },
        writeText: { socket in
            switch socket {
            case .auto: "auto"
            case .off: "off"
            case .path(let path): path
            }
        })
}
