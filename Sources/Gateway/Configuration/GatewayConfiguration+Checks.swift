import CallControl
import CallRuntime
import Foundation
import MediaServer
import NIOSSL
import Primitives
import RecordingServer
import Registration
import SDP
import SPiDR
import SignalingServer

extension GatewayConfiguration {
    /// The shortest time that tolerates two lost checks in a row. Checks come every 4 to 6 seconds (RFC 7675 §5.1) and
    /// are not repeated. A path counts as lost after 7 seconds, long before.
    private static let shortestConsentTimeout = Duration.seconds(15)

    /// Finds what is wrong although each value by itself is right: values that contradict each other, and files that do
    /// not exist or cannot be used.
    ///
    /// - Throws: ``ConfigurationError`` with everything that is wrong.
    package func check() throws(ConfigurationError) {
        let complaints =
            tlsComplaints + portComplaints + proxyComplaints + mediaComplaints + registrationComplaints
            + presenceComplaints + folderComplaints + anonymousComplaints + tokenComplaints + pushComplaints
            + drainComplaints
            + adminComplaints
            + developmentComplaints
        guard complaints.isEmpty else {
            throw ConfigurationError(problems: complaints.map { ConfigurationProblem(nil, $0) })
        }
    }

    /// The values that are ignored, one sentence each with the reason. The gateway starts all the same.
    package var warnings: [String] {
        var opus = mediaPreferences.opus
        return opus.removeOutOfRange().map { "media.\($0.field.settingName): \($0.sentence)" } + adminWarnings
    }

    private var tlsComplaints: [String] {
        guard tls.mode == .on else {
            return tls.certificate != nil || tls.key != nil
                ? ["tls.mode is off, but tls.certificate or tls.key is given"] : []
        }
        switch (tls.certificate, tls.key) {
        case (nil, nil):
            guard !isDevelopment else { return [] }
            return [
                "tls.certificate is missing: name a certificate and its key, or write tls.mode: off if a proxy does TLS "
                    + "(passwords then travel unencrypted between proxy and gateway), or start with --dev to try things out"
            ]
        case (nil, _): return ["tls.key is given, but not tls.certificate"]
        case (_, nil): return ["tls.certificate is given, but not tls.key"]
        case (let certificate?, let key?):
            do {
                _ = try TLSConfiguration.gateway(certificate: certificate, key: key)
                return []
            } catch {
                return [error.description]
            }
        }
    }

    private var proxyComplaints: [String] {
        listen.proxyProtocol == .required && signaling.trustedProxies.ranges.isEmpty
            ? ["listen.trusted_proxies is missing: listen.proxy_protocol reads the headers of trusted proxies only"]
            : []
    }

    private var folderComplaints: [String] {
        [("recordings.folder", recordings.folder), ("sounds.folder", media.sounds.folder)].flatMap { name, folder in
            folder.map { Self.complaints(name, $0) } ?? []
        }
    }

    /// What is wrong with a folder that the gateway writes to.
    private static func complaints(_ name: String, _ folder: String) -> [String] {
        let values = try? URL(filePath: folder).resourceValues(forKeys: [.isDirectoryKey])
        guard values?.isDirectory == true else { return ["\(name) \(folder) is no folder"] }
        return FileManager.default.isWritableFile(atPath: folder)
            ? [] : ["\(name) \(folder) cannot be written to by this user"]
    }

    private var portComplaints: [String] {
        listen.plainPort == listen.port && listen.port != 0 && listen.plainHost == listen.host
            ? ["listen.port and listen.plain_port are the same"] : []
    }

    private var mediaComplaints: [String] {
        var complaints: [String] = []
        let workers = mediaWorkers ?? ProcessInfo.processInfo.activeProcessorCount
        if media.firstPort != 0, Int(media.firstPort) + workers - 1 > 65_535 {
            complaints.append("media.port \(media.firstPort) leaves no room for \(workers) workers: ports end at 65535")
        }
        if let port = media.tcpPort, port != 0, Int(port) + workers - 1 > 65_535 {
            complaints.append("media.tcp_port \(port) leaves no room for \(workers) workers: ports end at 65535")
        }
        if media.consentTimeout < Self.shortestConsentTimeout {
            complaints.append(
                "media.consent_timeout is too short: peers check every 4 to 6 seconds (RFC 7675 §5.1), and calls would end with a check or two "
                    + "that got lost; 15s or more")
        }
        if let address = media.advertise.first(where: \.isUnspecified) {
            complaints.append("media.advertise: \(address) is no address a peer could send to")
        }
        for list in [media.bind, media.advertise] where Set(list).count != list.count {
            complaints.append("an address is listed twice in media: \(list.map(\.description).joined(separator: ", "))")
        }
        if let (first, second) = mediaPreferences.payloadNumbers.contested {
            complaints.append(
                "media.payload_numbers: \(first.payloadType.rawValue) is wanted for both \(first.definition) and \(second.definition)"
            )
        }
        return complaints
    }

    private var registrationComplaints: [String] {
        let registration = switchboard.registration
        return registration.minimumExpires <= registration.defaultExpires
            && registration.defaultExpires <= registration.maximumExpires
            ? [] : ["registration: minimum_expires, default_expires and maximum_expires must not fall"]
    }

    private var presenceComplaints: [String] {
        let interests = switchboard.registration.interests
        return interests.minimumEventTime <= interests.maximumEventTime
            ? [] : ["presence: minimum_event_expires and maximum_event_expires must not fall"]
    }

    private var anonymousComplaints: [String] {
        switch (signaling.guests.policy.mode, callMeRealmsPath) {
        case (.off, nil), (.open, nil): return []
        case (.off, _?), (.open, _?): return ["anonymous.realms_file is given, but anonymous.mode is not token"]
        case (.token, nil):
            return ["anonymous.realms_file is missing: anonymous.mode token needs the realms and their keys"]
        case (.token, _?):
            do {
                _ = try callMeRealms()
                return []
            } catch {
                return error.problems.map(\.message)
            }
        }
    }

    private var tokenComplaints: [String] {
        guard let path = tokenKeysPath else {
            return tokens == TokenPolicy()
                ? [] : ["auth.token_keys is missing: without keys no token is accepted, whatever auth.token_… says"]
        }
        do throws(TokenKeySetError) {
            _ = try TokenKeyFile.keys(in: path)
            return []
        } catch {
            return ["auth.token_keys: \(path) \(error)"]
        }
    }

    private var drainComplaints: [String] {
        drain.announce <= drain.deadline / 2
            ? []
            : [
                "drain.announce must be half of drain.deadline at most: calls are ended and sockets closed in what is left of it"
            ]
    }

    /// Refuses a database that lasts with `--dev`: users with a public password must not get into it.
    private var developmentComplaints: [String] {
        isDevelopment && storagePath != GatewayConfiguration().storagePath
            ? ["storage.path cannot be set with --dev: the demo users live in a database that is thrown away"] : []
    }
}

extension OpusParameters.Fault.Field {
    fileprivate var settingName: String {
        switch self {
        case .maximumPlaybackRate: "opus_max_playback_rate"
        case .maximumAverageBitrate: "opus_max_average_bitrate"
        case .packetTime: "packet_time"
        }
    }
}
