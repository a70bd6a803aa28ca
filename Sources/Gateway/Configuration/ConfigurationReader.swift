import Yams

/// Reads a configuration: defaults, then a YAML file, then the environment, then flags; the later one wins.
///
/// Everything that is wrong is reported at once, with its place and, for a name that does not exist, the nearest that does.
package struct ConfigurationReader {
    /// Something that keeps the gateway from starting.
    package struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// `orbweaver.yaml:12`, `environment` or `--set`.
        package var place: String
        package var text: String

        package var description: String { "\(place): \(text)" }
    }

    package struct Problems: Error, Equatable, Sendable, CustomStringConvertible {
        package var all: [Problem]

        package var description: String { all.map(\.description).joined(separator: "\n") }
    }

    package private(set) var configuration: GatewayConfiguration
    private var problems: [Problem] = []

    package init(startingFrom configuration: GatewayConfiguration) { self.configuration = configuration }

    /// Reads YAML: sections of keys, such as `media:` with `port: 7000` below it.
    ///
    /// - Parameter name: the file as it is called in messages.
    package mutating func read(yaml text: String, named name: String) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            let place = (error as? YamlError).flatMap(Self.line).map { "\(name):\($0)" } ?? name
            problems.append(Problem(place: place, text: "not valid YAML: \(Self.sentence(error))"))
            return
        }
        guard let root, !Self.isEmpty(root) else { return }
        guard let sections = root.mapping else {
            problems.append(Problem(place: "\(name):1", text: "expected sections such as 'media:' with keys below them"))
            return
        }
        var seen: Set<String> = []
        for (section, body) in sections {
            let sectionName = section.string ?? ""
            guard Setting.all.contains(where: { $0.name.hasPrefix(sectionName + ".") }) else {
                let known = Set(Setting.all.map { String($0.name.prefix { $0 != "." }) })
                problems.append(Problem(place: Self.place(section, name), text: Self.unknown("section", sectionName, among: known.sorted())))
                continue
            }
            if Self.isEmpty(body) { continue }
            guard let keys = body.mapping else {
                problems.append(Problem(place: Self.place(section, name), text: "'\(sectionName)' is a section: keys belong below it"))
                continue
            }
            for (key, node) in keys {
                let path = "\(sectionName).\(key.string ?? "")"
                if !seen.insert(path).inserted {
                    problems.append(Problem(place: Self.place(key, name), text: "'\(path)' is set twice"))
                }
                set(path, to: Self.value(of: node), at: Self.place(key, name))
            }
        }
    }

    /// Reads every variable that begins with `ORBWEAVER_`, but for those the command line itself uses.
    package mutating func read(environment: [String: String]) {
        let others: Set<String> = ["ORBWEAVER_CONFIG", "ORBWEAVER_PASSWORD", "ORBWEAVER_STRICT", "ORBWEAVER_BINARY"]
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("ORBWEAVER_") && !others.contains(name) {
            guard let setting = Setting.all.first(where: { $0.environmentName == name }) else {
                problems.append(
                    Problem(place: "environment", text: Self.unknown("variable", name, among: Setting.all.map(\.environmentName))))
                continue
            }
            set(setting.name, to: SettingValue(text: text), at: "environment, \(name)")
        }
    }

    /// One override, `section.key` and a value.
    package mutating func read(flag: String, name: String, value: String) {
        set(name, to: SettingValue(text: value), at: flag)
    }

    /// The configuration, if nothing was wrong with it.
    package func finish(isDevelopment: Bool) throws(Problems) -> GatewayConfiguration {
        var problems = problems
        if !isDevelopment, configuration.tlsMode == .on, configuration.tlsCertificate == nil || configuration.tlsKey == nil {
            problems.append(
                Problem(
                    place: "tls",
                    text: "a certificate and a key are needed: set tls.certificate and tls.key, or write 'tls.mode: off' if a proxy ends TLS"))
        }
        if configuration.registrationMinimum > configuration.registrationMaximum {
            problems.append(Problem(place: "registration", text: "minimum_expires is larger than maximum_expires"))
        }
        guard problems.isEmpty else { throw Problems(all: problems) }
        return configuration
    }

    private mutating func set(_ name: String, to value: SettingValue, at place: String) {
        guard let setting = Setting.all.first(where: { $0.name == name }) else {
            problems.append(Problem(place: place, text: Self.unknown("key", name, among: Setting.all.map(\.name))))
            return
        }
        do {
            try setting.apply(value, &configuration)
        } catch {
            switch error {
            case .wrongForm(let text): problems.append(Problem(place: place, text: "\(name) takes \(setting.form), not '\(text)'"))
            case .outOfRange(let text): problems.append(Problem(place: place, text: "\(name) takes \(setting.form): '\(text)' is outside"))
            }
        }
    }

    // MARK: Words

    private static func unknown(_ kind: String, _ name: String, among known: [String]) -> String {
        let nearest = known.min { name.editDistance(to: $0) < name.editDistance(to: $1) }
        guard let nearest, name.editDistance(to: nearest) <= max(3, name.count / 2) else { return "unknown \(kind) '\(name)'" }
        return "unknown \(kind) '\(name)'; did you mean '\(nearest)'?"
    }

    // MARK: Yams

    private static func place(_ node: Node, _ name: String) -> String { node.mark.map { "\(name):\($0.line)" } ?? name }

    private static func isEmpty(_ node: Node) -> Bool { node.null != nil && node.string?.isEmpty != false }

    private static func value(of node: Node) -> SettingValue {
        if let sequence = node.sequence { return SettingValue(list: sequence.map { $0.string ?? "" }) }
        return SettingValue(word: node.string ?? "")
    }

    private static func line(of error: YamlError) -> Int? {
        switch error {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: nil
        }
    }

    private static func sentence(_ error: any Error) -> String {
        switch error {
        case YamlError.scanner(_, let problem, _, _), YamlError.parser(_, let problem, _, _), YamlError.composer(_, let problem, _, _): problem
        default: "\(error)"
        }
    }
}

extension String {
    /// Insertions, deletions and replacements that turn this text into `other`.
    func editDistance(to other: String) -> Int {
        let target = Array(other)
        var row = Array(0...target.count)
        for (index, character) in self.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in target.indices {
                let cost = Swift.min(row[column] + 1, row[column + 1] + 1, diagonal + (character == target[column] ? 0 : 1))
                diagonal = row[column + 1]
                row[column + 1] = cost
            }
        }
        return row[target.count]
    }
}
