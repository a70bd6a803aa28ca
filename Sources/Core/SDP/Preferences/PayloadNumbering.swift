package import Primitives

/// The payload types of one leg: which number its peer sees for each number that the call uses between its legs.
///
/// One to one over all 128 numbers, so it can be read in both directions and two formats never meet under one number.
package struct PayloadNumbering: Hashable, Sendable {
    /// The leg's number by the call's, and the reverse; both empty while nothing is renumbered.
    private var legNumbers: [UInt8] = []
    private var callNumbers: [UInt8] = []

    /// The leg has the call's numbers.
    package static let identity = PayloadNumbering()

    package init() {}

    package var isIdentity: Bool { legNumbers.isEmpty }

    /// What the leg's peer sees for a number of the call.
    package func onLeg(_ payloadType: PayloadType) -> PayloadType {
        legNumbers.isEmpty ? payloadType : PayloadType(maskingHeaderByte: legNumbers[Int(payloadType.rawValue)])
    }

    /// What the call knows a number of the leg's peer as.
    package func inCall(_ payloadType: PayloadType) -> PayloadType {
        callNumbers.isEmpty ? payloadType : PayloadType(maskingHeaderByte: callNumbers[Int(payloadType.rawValue)])
    }

    /// Lets two numbers of the leg change places.
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
