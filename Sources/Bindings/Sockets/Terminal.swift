internal import Glibc

/// The terminal from which the process was started.
package enum Terminal {
    /// Reads a line that is not shown while it is typed. Returns `nil` without a terminal, at the end of input, and
    /// after Ctrl-C.
    ///
    /// The function uses `/dev/tty`, so that standard input and output may be redirected. While it waits, Ctrl-C does
    /// not end the process, which would leave the terminal without echo.
    package static func readSecret(prompt: String) -> String? {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var original = termios()
        guard unsafe tcgetattr(terminal, &original) == 0 else { return nil }
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        defer { unsafe tcsetattr(terminal, TCSAFLUSH, &original) }
        show(prompt, on: terminal)
        defer { show("\n", on: terminal) }
        return line(from: terminal)
    }

    private static func line(from terminal: Int32) -> String? {
        let interrupt: UInt8 = 0x03
        var bytes: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            guard unsafe read(terminal, &byte, 1) == 1, byte != interrupt else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
    }

    private static func show(_ text: String, on terminal: Int32) {
        // If the prompt cannot be shown, the line is read nevertheless.
        _ = unsafe write(terminal, text, text.utf8.count)
    }
}
