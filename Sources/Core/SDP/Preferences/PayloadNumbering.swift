package import Primitives

/// The payload types of one leg: a mapping between those of the call and those that the leg's peer sees.
///
/// The mapping is one to one over all 128 payload types. It can thus be applied in both directions, and two formats
/// never get one payload type.
package struct PayloadNumbering: Hashable, Sendable {
    /// The leg's payload type by that of the call. Both arrays are empty while nothing is renumbered.
    private var legNumbers: [UInt8] = []
    private var callNumbers: [UInt8] = []

    /// The numbering that changes nothing.
    package static let identity = PayloadNumbering()

    /// Makes a numbering that changes nothing.
    package init() {}

    /// Whether the numbering changes nothing.
    package var isIdentity: Bool { legNumbers.isEmpty }

    /// The leg's payload type for one of the call.
    package func onLeg(_ payloadType: PayloadType) -> PayloadType {
        legNumbers.isEmpty ? payloadType : PayloadType(maskingHeaderByte: legNumbers[Int(payloadType.rawValue)])
    }

    /// The call's payload type for one of the leg.
    package func inCall(_ payloadType: PayloadType) -> PayloadType {
        callNumbers.isEmpty ? payloadType : PayloadType(maskingHeaderByte: callNumbers[Int(payloadType.rawValue)])
    }

    /// Swaps two payload types of the leg.
    package mutating func swapOnLeg(_ first: PayloadType, _ second: PayloadType) {
        guard first != second else { return }
        if isIdentity {
            legNumbers = Array(0...127)
            callNumbers = legNumbers
        }
        callNumbers.swapAt(Int(first.rawValue), Int(second.rawValue))
        legNumbers[Int(callNumbers[Int(first.rawValue)])] = first.rawValue
        legNumbers[Int(callNumbers[Int(second.rawValue)])] = second.rawValue
    }
}
