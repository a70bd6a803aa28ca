/// One value for each end of a call.
package struct PerLeg<Value> {
    package var caller: Value
    package var callee: Value

    package init(caller: Value, callee: Value) {
        self.caller = caller
        self.callee = callee
    }

    package subscript(leg: Leg) -> Value {
        get {
            switch leg {
            case .caller: caller
            case .callee: callee
            }
        }
        set {
            switch leg {
            case .caller: caller = newValue
            case .callee: callee = newValue
            }
        }
    }

    package func allSatisfy(_ predicate: (Value) -> Bool) -> Bool { predicate(caller) && predicate(callee) }
}

extension PerLeg: Equatable where Value: Equatable {}
extension PerLeg: Sendable where Value: Sendable {}
