import MediaServer
import Primitives

extension ConfigurationKey {
    /// Sounds that applications have fetched from other servers.
    static let sounds = [
        ConfigurationKey(
            "sounds", "folder", \.media.sounds.folder, ValueFormat.path.orNone("none", "no sounds are fetched"),
            "Folder that sounds fetched from https URLs are kept in; it must exist."),
        ConfigurationKey(
            "sounds", "bytes", \.media.sounds.bytes, .count(1...1_000_000_000_000_000),
            "Bytes that the folder may take; the sounds asked for longest ago make room."),
        ConfigurationKey(
            "sounds", "largest", \.media.sounds.largest, .count(1_000...134_217_728),
            "Bytes of the largest sound that is fetched."),
        ConfigurationKey(
            "sounds", "answer_time", \.media.sounds.answerTime, .duration(.milliseconds(100)...(.seconds(60))),
            "How long the sounds of a list may take to come, all together."),
        ConfigurationKey(
            "sounds", "allowed_addresses", \.media.sounds.allowedAddresses, .addressRanges,
            "Addresses that the Internet does not route, and that sounds may come from all the same."),
        ConfigurationKey(
            "sounds", "authority_file", \.media.sounds.authorityPath,
            ValueFormat.path.orNone("system", "those of this machine"),
            "PEM file with the certificate authorities that may vouch for the servers of sounds."),
    ]
}
