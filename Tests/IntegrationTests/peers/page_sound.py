"""What a page says and hears: a microphone that plays a tone, and the samples that come out of what it receives."""
import base64
import json
import time

import numpy

from .phone_page import PhonePage
from .sound import RATE


def speak_in_tone(phone: PhonePage, frequency: float):
    """From the next call on the page's microphone is a steady tone, which no echo cancellation or noise suppression
    touches."""
    phone.page.run(f"({MICROPHONE})({frequency})")


MICROPHONE = """(frequency) => {
  const devices = navigator.mediaDevices, capture = devices.getUserMedia.bind(devices);
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { frequency });
  const softer = new GainNode(context, { gain: 0.25 });
  tone.connect(softer);
  tone.start();
  devices.getUserMedia = async ({ audio, video }) => {
    const stream = video ? await capture({ video }) : new MediaStream();
    const end = context.createMediaStreamDestination();
    softer.connect(end);
    if (audio) stream.addTrack(end.stream.getAudioTracks()[0]);
    return stream;
  };
}"""


def give_voice(phone: PhonePage, samples: numpy.ndarray):
    """From the next call on the page's microphone is silent until `say_it`, which speaks these samples once (16 bit
    mono at `sound.RATE`)."""
    phone.page.run(f"({VOICE})('{base64.b64encode(samples.astype('<i2').tobytes()).decode()}')")


def say_it(phone: PhonePage):
    phone.page.run("window.sayIt()")


VOICE = """(text) => {
  const words = new Int16Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  const context = new AudioContext({ sampleRate: 48000 });
  const buffer = context.createBuffer(1, words.length, 48000);
  buffer.getChannelData(0).set(Float32Array.from(words, (word) => word / 32768));
  const mouth = context.createMediaStreamDestination();
  navigator.mediaDevices.getUserMedia = async () =>
    new MediaStream(mouth.stream.getAudioTracks().map((track) => track.clone()));
  window.sayIt = () => {
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(mouth);
    source.start();
  };
}"""


def keep_packets(phone: PhonePage):
    """From the next call on the page keeps the header of each audio packet that arrives, in `window.packets`; of a
    telephone event also what it says."""
    phone.page.run(KEEP_PACKETS)


# By encoded streams, which show packets that never get as far as a decoder.
KEEP_PACKETS = """(() => {
  window.packets = [];
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(configuration) {
      super({ ...configuration, encodedInsertableStreams: true });
      this.addEventListener('track', ({ receiver }) =>
        receiver.track.kind === 'audio' && keep(receiver.createEncodedStreams()));
    }
    addTrack(...track) { // without this nothing would be sent
      const sender = super.addTrack(...track);
      const { readable, writable } = sender.createEncodedStreams();
      readable.pipeTo(writable).catch(() => {}); // until the call is over
      return sender;
    }
  };
  function keep({ readable, writable }) {
    const look = (frame, next) => {
      const { mimeType, sequenceNumber, rtpTimestamp, synchronizationSource } = frame.getMetadata();
      packets.push({
        source: synchronizationSource, number: sequenceNumber, timestamp: rtpTimestamp,
        event: /telephone-event/.test(mimeType) ? event(new DataView(frame.data)) : null,
      });
      next.enqueue(frame);
    };
    // Until the call is over.
    readable.pipeThrough(new TransformStream({ transform: look })).pipeTo(writable).catch(() => {});
  }
  /** RFC 4733 §2.3 */
  function event(data) {
    return { digit: '0123456789*#ABCD'[data.getUint8(0)], ends: data.getUint8(1) >= 128, duration: data.getUint16(2) };
  }
})()"""


class PageEar:
    """Takes down what the call on a phone's stage brings, from now on."""

    def __init__(self, phone: PhonePage):
        self._phone = phone
        phone.page.run(f"({LISTEN})({json.dumps(phone.name)})")

    def heard(self) -> numpy.ndarray:
        """Everything so far, 16 bit mono at `sound.RATE`."""
        return numpy.frombuffer(base64.b64decode(self._phone.page.run("window.ear.heard()")), numpy.int16)

    def take(self) -> numpy.ndarray:
        """The same, which is then forgotten."""
        return numpy.frombuffer(base64.b64decode(self._phone.page.run("window.ear.take()")), numpy.int16)

    def next(self, seconds: float, timeout: float = 20) -> numpy.ndarray:
        """What comes within the next `seconds` of sound."""
        start = self._phone.page.run("window.ear.samples.length")
        self._phone.page.wait_for(f"window.ear.samples.length >= {start} + {seconds * RATE}", timeout)
        return self.heard()[start:]

    def hears(self, recognise, expected, timeout: float = 90):
        """Waits until half a second of sound is recognised as `expected`, twice in a row."""
        end = time.monotonic() + timeout
        found = None
        while True:
            before, found = found, recognise(self.next(0.5))
            if before == found == expected:
                return
            assert time.monotonic() < end, f"{self._phone.name} hears {found}, should hear {expected}"


# Chromium: taken from the track itself, so that nothing resamples it or waits for a device.
LISTEN = """(name) => {
  const [track] = orbweaver.phones[name].call.remoteStream.getAudioTracks();
  const samples = [];
  window.ear = {
    samples,
    heard,
    take() {
      const text = heard();
      samples.length = 0;
      return text;
    },
  };
  if (window.MediaStreamTrackProcessor)
    read(new MediaStreamTrackProcessor({ track: track.clone() }).readable.getReader());
  else record();
  async function read(reader) {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const piece = new Float32Array(value.numberOfFrames);
      value.copyTo(piece, { planeIndex: 0, format: 'f32-planar' });
      if (value.sampleRate !== 48000) throw new Error(`the track has ${value.sampleRate} Hz`);
      value.close();
      add(piece);
    }
  }
  function record() {
    const context = new AudioContext({ sampleRate: 48000 });
    const recorder = context.createScriptProcessor(4096, 1, 1);
    recorder.onaudioprocess = ({ inputBuffer }) => add(inputBuffer.getChannelData(0));
    context.createMediaStreamSource(new MediaStream([track])).connect(recorder).connect(context.destination);
    window.ear.recorder = recorder; // or it is collected as garbage
  }
  function add(piece) {
    for (const sample of piece) samples.push(Math.round(Math.max(-1, Math.min(1, sample)) * 32767));
  }
  function heard() {
    const bytes = new Uint8Array(new Int16Array(samples).buffer);
    let text = '';
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(text);
  }
}"""
