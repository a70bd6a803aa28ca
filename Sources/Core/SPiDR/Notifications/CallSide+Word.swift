package import CallControl

extension CallSide {
    /// What notifications, records and timelines call the side (docs/client.md).
    package var word: String {
        switch self {
        case .own: "self"
        case .peer: "peer"
        case .gateway: "gateway"
        }
    }
}
