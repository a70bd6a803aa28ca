/// One value for each of the two ends that a call begins with.
package struct PerLeg<Value> {
    package var caller: Value
    package var callee: Value

    package init(caller: Value, callee: Value) {
        self.caller = caller
        self.callee = callee
    }
}

extension PerLeg: Equatable where Value: Equatable {}
extension PerLeg: Sendable where Value: Sendable {}
