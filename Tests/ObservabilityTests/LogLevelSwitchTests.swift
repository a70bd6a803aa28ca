import Logging
import Observability
import Testing

@Suite struct LogLevelSwitchTests {
    @Test(arguments: LogOutput.Format.allCases)
    func `the level of a logger and of its copies follows the switch`(_ format: LogOutput.Format) {
        let levelSwitch = LogLevelSwitch(.info)
        let logger = LogOutput(level: .info, format: format).makeLogger(label: "test", levelSwitch: levelSwitch)
        var copy = logger
        copy[metadataKey: "part"] = "media"
        #expect(logger.logLevel == .info && copy.logLevel == .info)
        levelSwitch.set(.debug)
        #expect(levelSwitch.level == .debug)
        #expect(logger.logLevel == .debug && copy.logLevel == .debug)
        #expect(copy[metadataKey: "part"] == "media")
    }

    @Test func `a logger without a switch stays at its level`() {
        let logger = LogOutput(level: .warning, format: .text).makeLogger(label: "test")
        #expect(logger.logLevel == .warning)
    }
}
