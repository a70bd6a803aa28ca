import ArgumentParser
import Foundation
import Push
import PushBaseline

/// Requests such as the gateway sends to other servers, sent by a loop in C on libcurl's multi interface.
@safe
final class BarePushes {
    private let baseline: OpaquePointer
    /// libcurl reads the content from here.
    private let content: UnsafeMutableRawBufferPointer

    /// The length of a provider token in its compact form, with a key on P-256.
    private static let tokenLength = 200

    /// The requests of the push client.
    convenience init(_ provider: LocalProvider, _ sample: PushSample, inFlight: Int) throws {
        let request = try sample.request()
        let fields = request.fields.map { field -> (String, String) in
            let isNumbered = PushSample.names.contains(field.name)
            return (field.name, isNumbered ? String(field.value.dropLast(10)) + "0000000000" : field.value)
        }
        let token = "Bearer " + String(repeating: "x", count: Self.tokenLength)
        try self.init(
            to: provider, path: request.path ?? "", fields + [("authorization", token)], request.content,
            inFlight: inFlight)
    }

    /// Requests of other fields and another content.
    ///
    /// - Parameter fields: one whose value ends in ten zeros has the number of the request in their place.
    init(
        to provider: LocalProvider, path: String, _ fields: [(String, String)], _ bytes: [UInt8], inFlight: Int
    ) throws {
        unsafe content = .allocate(byteCount: bytes.count, alignment: 1)
        unsafe content.copyBytes(from: bytes)
        let lines = fields.map { "\($0): \($1)\n" }.joined()
        guard
            let baseline = unsafe push_baseline_open(
                provider.url + path, provider.authority, lines, content.baseAddress, content.count, Int32(inFlight))
        else {
            unsafe content.deallocate()
            throw ValidationError("libcurl refuses what the requests are set to")
        }
        unsafe self.baseline = baseline
    }

    deinit {
        unsafe push_baseline_close(baseline)
        unsafe content.deallocate()
    }

    /// The size of a request's content, in bytes.
    var contentSize: Int { unsafe content.count }

    /// CPU time in nanoseconds for this many requests.
    func nanoseconds(of count: Int) throws -> UInt64 {
        let result = unsafe push_baseline_run(baseline, Int32(count))
        guard result.delivered == count else {
            throw ValidationError(
                "of \(count) requests of the bare loop \(result.delivered) were answered with 200; of another one "
                    + "the status is \(result.status), and libcurl's code \(result.error)")
        }
        return result.cpu_ns
    }
}
