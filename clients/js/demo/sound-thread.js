/**
 * A level meter drawn as a thread of the web: taut in silence, swinging with the sound.
 * The canvas has the role `meter`; its value is the level in per cent.
 */
let context; // one for the page: browsers limit their number

const FRAME = 1000 / 24;
const SPOKEN_INTERVAL = 500;

export class SoundThread {
  #canvas;
  #source = null;
  #analyser = null;
  #samples = null;
  #timer;
  #spokenAt = 0;

  constructor(canvas) {
    this.#canvas = canvas;
    new ResizeObserver(() => this.#draw()).observe(canvas);
  }

  /** Shows the sound of a stream, or silence for `null`. */
  attach(stream) {
    this.#source?.disconnect();
    this.#source = null;
    clearInterval(this.#timer);
    if (stream?.getAudioTracks().length > 0) {
      context ??= new AudioContext();
      this.#analyser ??= new AnalyserNode(context, { fftSize: 1024 });
      this.#samples ??= new Float32Array(this.#analyser.fftSize);
      this.#source = context.createMediaStreamSource(stream);
      this.#source.connect(this.#analyser);
      this.#timer = setInterval(() => this.#draw(), FRAME);
    }
    this.#draw();
  }

  /** Browsers keep sound back until the user has touched the page. */
  static wake() { if (context?.state === 'suspended') context.resume(); }

  /** Root mean square of the latest samples, 0 … 1. */
  get level() {
    if (!this.#source) return 0;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    return Math.sqrt(this.#samples.reduce((sum, sample) => sum + sample * sample, 0) / this.#samples.length);
  }

  #draw() {
    const canvas = this.#canvas;
    const scale = devicePixelRatio;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    const level = this.level;
    this.#speak(level);

    const pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.globalAlpha = this.#source ? 0.6 + Math.min(0.4, level * 4) : 0.35;
    pen.lineWidth = 1.5;
    pen.beginPath();
    const steps = Math.max(2, Math.floor(width / 2));
    for (let step = 0; step <= steps; step += 1) {
      const position = step / steps;
      const sample = this.#source ? this.#samples[Math.floor(position * (this.#samples.length - 1))] : 0;
      // Held at both ends; quiet speech still shows.
      const swing = Math.tanh(sample * 3) * Math.sin(Math.PI * position) * (height / 2 - 2);
      pen.lineTo(position * width, height / 2 - swing);
    }
    pen.stroke();
  }

  #speak(level) {
    const now = performance.now();
    if (now - this.#spokenAt < SPOKEN_INTERVAL && this.#source) return;
    this.#spokenAt = now;
    this.#canvas.setAttribute('aria-valuenow', String(Math.min(100, Math.round(level * 200))));
  }
}
