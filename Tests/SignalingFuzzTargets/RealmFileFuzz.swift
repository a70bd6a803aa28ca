import Primitives
import SignalingServer

/// Any text as the file of realms: what is read has a name, and no realm is there twice.
package func fuzzRealmFile(_ bytes: Span<UInt8>) {
    let text = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    do {
        let realms = try CallMeRealm.realms(parsing: text)
        precondition(realms.allSatisfy { !$0.name.isEmpty }, "a realm has a name")
        precondition(Set(realms.map(\.name)).count == realms.count, "a realm is there once")
        let token = text.prefix(200).filter(\.isHexDigit)
        for realm in realms { _ = realm.read(token, defaultDomain: "example.com") }
    } catch {
        precondition(error.line >= 1 && !error.reason.isEmpty, "a refusal names the line and says why")
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        precondition(error.line <= lines.count, "a line of the file")
    }
}
