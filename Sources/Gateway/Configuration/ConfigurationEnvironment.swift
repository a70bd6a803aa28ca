/// Reads settings from environment variables: `ORBWEAVER_MEDIA_ADVERTISE` is `media.advertise`.
enum ConfigurationEnvironment {
    static let prefix = "ORBWEAVER_"

    /// Variables with the prefix that are not settings: the file to read, the password of `orbweaver user`, the token
    /// of the commands that ask a gateway, and the switch that turns warnings into errors in our own builds.
    private static let others: Set<String> = [
        "ORBWEAVER_CONFIG", "ORBWEAVER_PASSWORD", "ORBWEAVER_ADMIN_TOKEN", "ORBWEAVER_STRICT",
    ]

    static func entries(in environment: [String: String], problems: inout [ConfigurationProblem])
        -> [ConfigurationEntry]
    {
        var entries: [ConfigurationEntry] = []
        for (variable, text) in environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(prefix) && !others.contains(variable) {
            let source = ConfigurationSource.environment(variable)
            if let key = ConfigurationKey.all.first(where: { $0.environmentName == variable }) {
                entries.append(
                    ConfigurationEntry(section: key.section, name: key.name, value: .text(text), source: source))
            } else if let message = complaint(about: variable) {
                problems.append(ConfigurationProblem(source, message))
            }
        }
        return entries
    }

    /// What is wrong with a variable that starts with the prefix and is not a setting; `nil` if it may belong to
    /// another program.
    ///
    /// Kubernetes sets `ORBWEAVER_PORT`, `ORBWEAVER_SERVICE_HOST` and more in every pod beside a service of that name.
    /// A variable that names one of the sections, or nearly one of the settings, is a mistake.
    private static func complaint(about variable: String) -> String? {
        if let nearest = nearestName(to: variable, among: ConfigurationKey.all.map(\.environmentName)) {
            return "there is no such setting; did you mean \(nearest)?"
        }
        let namesSection = ConfigurationKey.sections.contains { variable.hasPrefix(prefix + $0.uppercased() + "_") }
        return namesSection ? "there is no such setting; `orbweaver check-config --help` lists all" : nil
    }
}
