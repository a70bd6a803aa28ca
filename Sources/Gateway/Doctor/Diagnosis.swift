package import Primitives
package import Storage
import PushClient

/// What facts about the machine and the files mean for the gateway. Nothing here looks at the machine.
package enum Diagnosis {
    /// The addresses that are put into candidates.
    package static func candidates(_ advertised: [IPAddress], hasTCP: Bool, hasTURN: Bool) -> [Finding] {
        let list = advertised.map(\.description).joined(separator: ", ")
        guard !advertised.isEmpty else {
            return [
                Finding("candidates", .bad, "There is no address for media; name one in media.bind or media.advertise.")
            ]
        }
        let routable = advertised.filter { !$0.isPrivate }
        var findings = [
            routable.isEmpty
                ? Finding(
                    "candidates", .look,
                    "Clients are told \(list). None is reached from the Internet: fine in one network; otherwise set media.advertise to the public address."
                )
                : Finding(
                    "candidates", .good, "Clients are told \(list); \(routable.count) can be reached from the Internet."
                )
        ]
        if !hasTCP && !hasTURN {
            findings.append(
                Finding(
                    "candidates", .look,
                    "Clients whose network lets no UDP through have no media: set media.tcp_port, or turn.secret_file for a TURN server."
                ))
        }
        return findings
    }

    /// The certificate of the main port.
    ///
    /// - Parameters:
    ///   - remaining: the time until it expires.
    ///   - chain: how many certificates the file has.
    package static func certificate(
        names: [String], isValidYet: Bool, remaining: Duration, chain: Int, isSelfSigned: Bool
    ) -> [Finding] {
        let days = remaining.components.seconds / 86_400
        let list = names.isEmpty ? "no names" : names.joined(separator: ", ")
        var findings: [Finding] = []
        if remaining <= .zero {
            findings.append(Finding("certificate", .bad, "It expired \(-days) days ago; clients refuse it."))
        } else if !isValidYet {
            findings.append(Finding("certificate", .bad, "It is not valid yet; clients refuse it. Is the clock right?"))
        } else {
            findings.append(
                Finding("certificate", days < 14 ? .look : .good, "It is for \(list), and good for \(days) more days."))
        }
        if names.isEmpty {
            findings.append(Finding("certificate", .bad, "It names no host (subjectAltName); browsers refuse it."))
        }
        if isSelfSigned {
            findings.append(
                Finding("certificate", .look, "It is signed by itself; only clients that were told so accept it."))
        } else if chain < 2 {
            findings.append(
                Finding(
                    "certificate", .look,
                    "tls.certificate holds no intermediate certificate; some clients cannot complete the chain."))
        }
        return findings
    }

    /// The database.
    package static func database(_ path: String, _ examination: DatabaseExamination?) -> [Finding] {
        guard let examination else {
            return [Finding("database", .look, "\(path) does not exist; the gateway makes it when it starts.")]
        }
        guard examination.isKnown else {
            return [Finding("database", .bad, "\(path) was written by a newer version; this one refuses it.")]
        }
        var findings = [
            Finding(
                "database", .good,
                "\(path) is sound: \(examination.users) users, \(megabytes(examination.bytes)), schema \"\(examination.schema)\"."
            )
        ]
        if examination.isBehind {
            findings.append(
                Finding(
                    "database", .look,
                    "Its schema is brought up to date when this version starts; make a backup before."))
        }
        if examination.users == 0 {
            findings.append(Finding("database", .look, "There are no users; add some with `orbweaver user add`."))
        }
        if let free = examination.freeBytes {
            let verdict: Finding.Verdict = free < 50_000_000 ? .bad : free < 1_000_000_000 ? .look : .good
            findings.append(Finding("disk", verdict, "\(megabytes(free)) are free where the database is."))
        }
        return findings
    }

    /// The files and sockets that a process may have open.
    package static func openFiles(limit: Int, wanted: Int) -> Finding {
        limit >= wanted
            ? Finding("limits", .good, "A process may have \(limit) files and sockets open.")
            : Finding(
                "limits", .look,
                "A process may have \(limit) files and sockets open; with listen.max_connections it could need \(wanted). The gateway takes fewer connections; raise LimitNOFILE."
            )
    }

    /// The memory that is available, in bytes; `nil`: unknown.
    package static func memory(_ available: Int?) -> Finding {
        guard let available else { return Finding("limits", .look, "How much memory is available is not known.") }
        return Finding(
            "limits", available < 200_000_000 ? .bad : available < 500_000_000 ? .look : .good,
            "\(megabytes(available)) of memory are available.")
    }

    /// The clock; `nil`: unknown.
    package static func clock(isKept: Bool?) -> Finding {
        switch isKept {
        case true?: Finding("clock", .good, "A time server keeps the clock.")
        case false?:
            Finding(
                "clock", .look,
                "No time server is known to keep the clock; tokens and TURN credentials of others may be refused (in a container the host may do it)."
            )
        case nil: Finding("clock", .look, "Whether a time server keeps the clock cannot be determined here.")
        }
    }

    /// Which providers pushes can be sent to.
    ///
    /// - Parameters:
    ///   - appProblems: what is wrong with the files of apps that have accounts of their own.
    ///   - isReadable: whether this process may read the file or folder of a path.
    package static func push(
        _ push: GatewayConfiguration.Push, appProblems: [String] = [], isReadable: (String) -> Bool
    ) -> [Finding] {
        let configuration = push.configuration
        let apple = configuration.apple.map { ("Apple", "push.apple_key_file", $0.keyPath) }
        let google = configuration.google.map { ("Firebase", "push.google_account_file", $0.accountPath) }
        let apps = configuration.applications.map { ("accounts of apps", Self.appFolderSetting, $0.folder) }
        let webhook = configuration.webhookKeyFolder.map { ("webhooks", "push.webhook_key_folder", $0) }
        let providers = [apple, google, apps, webhook].compactMap(\.self)
        guard !providers.isEmpty else {
            return [Finding("push", .look, "No provider is configured: a device whose app is closed is not woken.")]
        }
        var findings = providers.map { name, setting, path in
            guard !isReadable(path) else {
                return Finding("push", .good, "Pushes by \(name) are configured, and \(path) can be read.")
            }
            let pushes = setting == Self.appFolderSetting ? "all pushes by Apple and Firebase" : "pushes by \(name)"
            return Finding("push", .bad, "\(setting): \(path) cannot be read, so that \(pushes) are given up.")
        }
        if let folder = configuration.applications?.folder, isReadable(folder) {
            findings += appProblems.map {
                Finding(
                    "push", .bad, "\($0). A gateway that starts now gives up the app's pushes by Apple and Firebase.")
            }
        }
        return findings
    }

    private static let appFolderSetting = "push.applications_folder"

    private static func megabytes(_ bytes: Int) -> String {
        bytes < 10_000_000 ? "\(bytes / 1_000) kB" : "\(bytes / 1_000_000) MB"
    }
}
