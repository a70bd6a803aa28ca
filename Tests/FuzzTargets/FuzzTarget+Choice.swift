import Foundation

extension FuzzTarget {
    /// The target that `scripts/fuzz` names in the environment. Traps if it is none of these.
    package static func chosen(from targets: [FuzzTarget]) -> FuzzTarget {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        guard let target = targets.first(where: { $0.name == name }) else {
            fatalError("FUZZ_TARGET must be one of \(targets.map(\.name).joined(separator: ", "))")
        }
        return target
    }
}
