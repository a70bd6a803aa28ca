package import Primitives

/// Whose packets come over which path, on one worker.
///
/// A valid check makes a claim, and no more than that: whoever has a leg of its own knows a password, and can write any source address on
/// a check. A packet that a leg's keys authenticate makes the path that leg's own. The others keep their claims behind it, so that a peer
/// that has really got an address of another one is found by its first packet.
///
///     nobody's ── claim ──▶ claimed ── prove ──▶ proven
///                            │    ▲                │ claim, prove by another leg
///                            ▼    └── withdraw ──  ▼
///                        contested: one owner, others in the order of their last checks
///
/// `Place` says where a leg is; `holding(of:)` is asked for every packet.
package struct PathClaims<Place> {
    package struct Claim {
        package let leg: LegNumber
        package fileprivate(set) var place: Place
        /// A packet that came over the path has been authenticated with keys of this leg.
        package fileprivate(set) var isProven: Bool
    }

    /// What is to be known of a path when a packet comes over it.
    package struct Holding {
        /// The leg that packets are taken for first.
        package fileprivate(set) var owner: Claim
        /// Other legs claim the path, too.
        package fileprivate(set) var isContested = false
    }

    /// Legs that may claim a path at a time. One more takes the place of the one without proof that was silent longest, whose next check
    /// brings it back.
    package static var maximumClaims: Int { 8 }

    @usableFromInline var holdings: [Path: Holding] = [:]
    /// Behind the owner, the one checked last first; only where there are any.
    private var rivals: [Path: [Claim]] = [:]

    package init() {}

    package var isEmpty: Bool { holdings.isEmpty }

    @inlinable
    package func holding(of path: Path) -> Holding? { holdings[path] }

    /// Every leg that claims the path, the owner first.
    package func claims(on path: Path) -> [Claim] {
        guard let holding = holdings[path] else { return [] }
        return [holding.owner] + (rivals[path] ?? [])
    }

    /// A valid check of the leg came over the path, or the leg has moved to another place with it. Nobody loses the path by that.
    ///
    /// - Parameter isProven: the leg brings its proof with it.
    package mutating func claim(_ path: Path, by leg: LegNumber, at place: Place, isProven: Bool = false) {
        guard let owner = holdings[path]?.owner else {
            holdings[path] = Holding(owner: Claim(leg: leg, place: place, isProven: isProven))
            return
        }
        guard owner.leg != leg else {
            holdings[path]?.owner.place = place
            if isProven { holdings[path]?.owner.isProven = true }
            return
        }
        var others = rivals[path] ?? []
        let known = others.firstIndex { $0.leg == leg }.map { others.remove(at: $0) }
        others.insert(Claim(leg: leg, place: place, isProven: isProven || known?.isProven == true), at: 0)
        if others.count >= Self.maximumClaims {
            // Never the one that has just come.
            others.remove(at: others.lastIndex { !$0.isProven }.flatMap { $0 == 0 ? nil : $0 } ?? others.count - 1)
        }
        setRivals(others, of: path)
    }

    /// The leg's keys have authenticated a packet that came over the path: it is the leg's own. Nothing follows if it does not claim it.
    package mutating func prove(_ path: Path, by leg: LegNumber) {
        guard let owner = holdings[path]?.owner else { return }
        guard owner.leg != leg else {
            holdings[path]?.owner.isProven = true
            return
        }
        var others = rivals[path] ?? []
        guard let index = others.firstIndex(where: { $0.leg == leg }) else { return }
        var proven = others.remove(at: index)
        proven.isProven = true
        others.insert(owner, at: 0)
        holdings[path]?.owner = proven
        setRivals(others, of: path)
    }

    /// The leg has no more to do with the path, which goes to the next one: to one with proof, if there is any.
    ///
    /// - Parameter condition: whether the word counts, by where the leg is.
    /// - Returns: whether the path is nobody's from now on, and was somebody's.
    @discardableResult
    package mutating func withdraw(_ path: Path, by leg: LegNumber, if condition: (Place) -> Bool = { _ in true })
        -> Bool
    {
        guard let owner = holdings[path]?.owner else { return false }
        var others = rivals[path] ?? []
        guard owner.leg == leg else {
            others.removeAll { $0.leg == leg && condition($0.place) }
            setRivals(others, of: path)
            return false
        }
        guard condition(owner.place) else { return false }
        guard let heir = others.firstIndex(where: \.isProven) ?? others.indices.first else {
            holdings[path] = nil
            return true
        }
        holdings[path]?.owner = others.remove(at: heir)
        setRivals(others, of: path)
        return false
    }

    private mutating func setRivals(_ others: [Claim], of path: Path) {
        rivals[path] = others.isEmpty ? nil : others
        holdings[path]?.isContested = !others.isEmpty
    }
}
