import Foundation

func sine(_ angle: Double) -> Double { sin(angle) }
func cosine(_ angle: Double) -> Double { cos(angle) }

/// A sine of full or lesser scale.
func tone(_ frequency: Double, from start: Int = 0, count: Int, amplitude: Double = 8_000) -> [Int16] {
    (start..<(start + count)).map { Int16(amplitude * sin(2 * .pi * frequency * Double($0) / 48_000)) }
}
