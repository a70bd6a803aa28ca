import CallControl
import Primitives
import Registration

extension OwedPush {
    /// What a silent push owes to each device that it is for.
    ///
    /// - Parameters:
    ///   - account: the user's; `nil`: unknown.
    ///   - message: the number of the owed message that it follows from, which tells pushes of one moment apart; 0: it
    ///     follows from none.
    ///   - time: milliseconds since 1970.
    static func owed(
        by push: SilentPush, to user: UserAddress, account: AccountIdentity?, through port: any PushPort,
        message: UInt64, at time: Int64
    ) -> [OwedPush] {
        let (name, use, occasion): (String, SilentPushUse, Occasion) =
            switch push.occasion {
            case .gone(let subscription, let channel): ("gone.\(subscription)", .subscription, .gone(channel))
            case .messageWaiting(let count): ("mwi.\(message)", .messageWaiting, .messageWaiting(count))
            case .refresh(let subscription): ("refresh.\(subscription)", .subscription, .refresh)
            }
        let expiry = time + push.useTime.wholeNanoseconds / 1_000_000
        return push.receivers(among: port.devices(of: user, account: account, forSilent: use)).map { device in
            OwedPush(
                name: "\(name).\(time).\(device.id.rawValue)", user: user, device: device.id, occasion: occasion,
                madeAt: time, expiresAt: expiry)
        }
    }
}
