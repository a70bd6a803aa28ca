/// The candidate that was probably meant by `name`: at most a third of the letters, and at most three, are wrong. `nil`
/// if there is none.
func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    let limit = min(3, max(1, name.count / 3))
    let distances = candidates.map { (name: $0, distance: editDistance(name.lowercased(), $0.lowercased())) }
    guard let best = distances.min(by: { $0.distance < $1.distance }), best.distance <= limit else { return nil }
    return best.name
}

/// The number of letters to insert, delete, replace or swap with a neighbour (optimal string alignment).
private func editDistance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
            row.append(cost)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}
