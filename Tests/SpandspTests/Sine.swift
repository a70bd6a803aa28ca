import Foundation

enum Sine {
    static func of(_ angle: Double) -> Double { sin(angle) }
}
