import Yams

/// A value on its way into the configuration, with the name it was given.
struct ConfigurationEntry: Equatable, Sendable {
    var section: String
    var name: String
    var value: ConfigurationValue
    var source: ConfigurationSource
}

/// Reads the YAML file, which has sections of keys and nothing deeper.
enum ConfigurationFile {
    /// Reads what can be read. What cannot is reported in `problems`, and reading goes on.
    static func entries(in text: String, path: String, problems: inout [ConfigurationProblem]) -> [ConfigurationEntry] {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            problems.append(problem(for: error, path: path))
            return []
        }
        // An empty file, or one of comments only, changes nothing.
        guard let root, !root.isNull else { return [] }
        guard case .mapping(let sections) = root else {
            problems.append(
                ConfigurationProblem(
                    .file(path, line: root.line), "expected sections such as \"listen:\" with keys below them"))
            return []
        }
        var entries: [ConfigurationEntry] = []
        for (sectionNode, content) in sections {
            let section = sectionNode.string ?? ""
            guard ConfigurationKey.sections.contains(section) else {
                let source = ConfigurationSource.file(path, line: sectionNode.line)
                problems.append(ConfigurationProblem(source, ConfigurationKey.complaint(aboutUnknownSection: section)))
                continue
            }
            if content.isNull { continue }
            guard case .mapping(let keys) = content else {
                problems.append(
                    ConfigurationProblem(
                        .file(path, line: sectionNode.line),
                        "\"\(section)\" is a section: its keys go below it, indented"))
                continue
            }
            for (key, node) in keys {
                let source = ConfigurationSource.file(path, line: key.line)
                let name = key.string ?? ""
                guard let value = node.configurationValue else {
                    problems.append(
                        ConfigurationProblem(source, "\(section).\(name) has no value, or one of too many levels"))
                    continue
                }
                entries.append(ConfigurationEntry(section: section, name: name, value: value, source: source))
            }
        }
        return entries
    }

    private static func problem(for error: any Error, path: String) -> ConfigurationProblem {
        switch error as? YamlError {
        case .scanner(_, let text, let mark, _), .parser(_, let text, let mark, _), .composer(_, let text, let mark, _):
            ConfigurationProblem(.file(path, line: mark.line), "this is no YAML: \(text)")
        case .duplicatedKeysInMapping(let names, let context):
            ConfigurationProblem(
                .file(path, line: context.mark.line),
                "given more than once below here: \(names.sorted().joined(separator: ", "))")
        default:
            ConfigurationProblem(nil, "\(path): \(error)")
        }
    }
}

extension Node {
    fileprivate var line: Int { mark?.line ?? 1 }

    /// Whether the node is `null`, `~`, or nothing at all.
    fileprivate var isNull: Bool { null != nil }

    /// The value of the node. Scalars are taken as written, whatever type YAML sees in them: `off` stays `off`.
    fileprivate var configurationValue: ConfigurationValue? {
        switch self {
        case .scalar(let scalar):
            isNull ? nil : .text(scalar.string)
        case .sequence(let nodes):
            nodes.allSatisfy { $0.scalar != nil } ? .list(nodes.compactMap(\.scalar?.string)) : nil
        case .mapping, .alias:
            nil
        }
    }
}
