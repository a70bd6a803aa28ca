import Foundation
import SPiDR

/// Reads a body as a client sends it.
func read<Content: WireObject>(_: Content.Type, from text: String) throws -> Content {
    try JSONDecoder().decode(Envelope<Content>.self, from: Data(text.utf8)).content
}

extension ClientRequest {
    /// What the request means where `here.test` completes names without a domain.
    func meaning() throws(RequestFault) -> Meaning { try meaning(defaultDomain: "here.test") }
}
