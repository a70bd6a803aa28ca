/// One value for each of the two legs that a call starts with.
package struct PerLeg<Value> {
    /// The caller's value.
    package var caller: Value
    /// The callee's value.
    package var callee: Value

    /// Makes a pair of the two values.
    package init(caller: Value, callee: Value) {
        self.caller = caller
        self.callee = callee
    }
}

extension PerLeg: Equatable where Value: Equatable {}
extension PerLeg: Sendable where Value: Sendable {}
