"""DTMF digits, recognised by their two tones (ITU-T Q.23)."""
import numpy

from .tones import RATE, amplitudes, hann

ROWS, COLUMNS = (697, 770, 852, 941), (1_209, 1_336, 1_477, 1_633)
DIGITS = ("123A", "456B", "789C", "*0#D")
_WINDOW = RATE // 20
_FAINT = 250


class DigitEar:
    """Lists the digits that are heard; the same one twice in a row counts once, because loss can tear a digit in
    two."""

    def __init__(self):
        self.digits: list[str] = []
        self._rest = numpy.zeros(0, numpy.int16)

    def take(self, samples: numpy.ndarray):
        self._rest = numpy.concatenate([self._rest, samples])
        while len(self._rest) >= _WINDOW:
            piece, self._rest = self._rest[:_WINDOW], self._rest[_WINDOW:]
            digit = self._digit_in(piece)
            if digit and self.digits[-1:] != [digit]:
                self.digits.append(digit)

    @staticmethod
    def _digit_in(samples: numpy.ndarray) -> str | None:
        """Two tones, about as loud as each other, and hardly anything else: digits and voices pass into each other."""
        rows, columns = numpy.split(amplitudes(samples, ROWS + COLUMNS), 2)
        row, column = rows.max(), columns.max()
        window = hann(len(samples))
        power = float(numpy.square(samples * window).sum() / numpy.square(window).sum())
        clear = min(row, column) > max(_FAINT, max(row, column) / 3) and (row**2 + column**2) / 2 > 0.8 * power
        return DIGITS[int(rows.argmax())][int(columns.argmax())] if clear else None
