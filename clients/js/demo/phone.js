/** One phone of the demo page: a client, one call that is on the stage, and calls that wait on hold behind it. */
import { CallState, ClientState, SpidrClient } from '../spidr-client.js';
import { reportLeg } from './leg-report.js';
import { isRegistered, outcomeOf, PhoneView } from './phone-view.js';
import { SleepingPhone } from './sleeping-phone.js';
import { SoundThread } from './sound-thread.js';

const REPORT_INTERVAL = 1_000;

export class Phone extends EventTarget {
  #view;
  #threads;
  #clock;
  #lines = []; // calls that have not ended, in the order in which they came

  /**
   * @param {HTMLElement} root  an element made from the phone template
   * @param {object} options  those of `SpidrClient`, and
   * @param {string} options.peer  whom it calls, unless told otherwise
   * @param {string} options.third  whom it transfers to, unless told otherwise
   * @param {string} options.robot  whom its button for the robot calls
   */
  constructor(root, { peer, third, robot, ...options }) {
    super();
    this.root = root;
    this.user = options.user;
    this.robot = robot;
    this.name = this.user.split('@')[0];
    // Two pages are two devices.
    const device = `${this.name}-${Math.random().toString(36).slice(2, 10)}`;
    this.client = new SpidrClient({ clientCorrelator: device, ...options });
    this.sleeper = new SleepingPhone(this.client, device);
    /** The call on the stage. */
    this.call = null;
    /** How the last call or registration ended: `{title, detail, failed}`. */
    this.outcome = null;
    /** The latest figures of the call's leg; see leg-report.js. */
    this.report = null;
    /** Every notification, newest first. */
    this.notifications = [];
    /** Whether the row for transfers and further calls is open. */
    this.reachesFor = false;

    this.#view = new PhoneView(root);
    const { parts } = this.#view;
    this.#threads = { local: new SoundThread(parts['local-level']), remote: new SoundThread(parts['remote-level']) };
    parts.name.textContent = this.user;
    parts.initial.textContent = this.name[0].toUpperCase();
    parts.address.value = peer;
    parts.target.value = third;
    this.#listen();
    this.#render();
  }

  /** `offline`, `asleep`, `ready`, `outgoing`, `incoming`, `connected`, `ended` or `failed`. */
  get view() {
    if (this.call) {
      if (this.call.isConnected) return 'connected';
      return this.call.direction === 'incoming' && this.call.state === CallState.RINGING ? 'incoming' : 'outgoing';
    }
    if (this.sleeper.isAsleep) return 'asleep';
    if (this.outcome) return this.outcome.failed ? 'failed' : 'ended';
    return isRegistered(this.client) ? 'ready' : 'offline';
  }

  /** Calls behind the one on the stage. */
  get waiting() { return this.#lines.filter((call) => call !== this.call); }

  set sound(on) { this.#view.parts.remote.muted = !on; }

  // MARK: Actions

  async register() {
    this.outcome = null;
    try {
      await this.client.register();
    } catch (error) {
      this.outcome = { title: 'Not registered', detail: error.message, failed: true };
      this.#render();
    }
  }

  async unregister() {
    this.outcome = null;
    await this.client.unregister();
  }

  /** Closes the app; a call wakes it by a push. */
  async sleep() {
    this.outcome = null;
    await this.sleeper.fallAsleep();
  }

  async wake() { await this.sleeper.wake(); }

  /** Goes on with what the page was doing before it was loaded again. */
  async resume(snapshot) {
    for (const call of await this.client.resume(snapshot)) this.#adopt(call);
    this.#render();
  }

  dial(address = this.#view.parts.address.value.trim()) {
    this.#adopt(this.client.call(address, { audio: true, video: this.#view.parts.video.checked }));
  }

  async answer() { await this.call.answer({ audio: true, video: this.#view.parts.video.checked }); }
  async reject() { await this.call.reject(); }
  async hangUp(reason) { await this.call.end(reason ?? `${this.name} hung up`); }

  async hold() { await this.call.hold(); }
  async resumeCall() { await this.call.resume(); }

  /** Calls another user while the call on the stage waits. */
  async consult(address = this.#target) {
    await this.call.hold();
    this.dial(address);
  }

  /** Brings a waiting call to the stage. */
  async swap() {
    const [other] = this.waiting;
    if (!this.call.holding) await this.call.hold();
    this.#stage(other);
    await other.resume();
  }

  async transfer(address = this.#target) { await this.call.transfer(address); }

  /** Connects the waiting party with the one on the stage, and leaves. */
  async connect() {
    const [other] = this.waiting;
    await this.call.hold();
    await other.transfer(this.call);
  }

  /** Makes both calls one. */
  async join() {
    const [other] = this.waiting;
    await this.call.hold();
    this.#adopt(this.client.join(other, this.call));
  }

  get #target() { return this.#view.parts.target.value.trim(); }

  // MARK: Wiring

  #listen() {
    const { parts } = this.#view;
    const actions = {
      register: () => {
        if (this.sleeper.isAsleep) return this.wake();
        return this.client.state === ClientState.UNREGISTERED ? this.register() : this.unregister();
      },
      sleep: () => this.sleep(),
      robot: () => this.dial(this.robot),
      answer: () => this.answer(),
      reject: () => this.reject(),
      hangup: () => this.hangUp(),
      mute: () => this.call.mute(!this.call.muted),
      video: () => this.call.video(!this.call.media.sendsVideo),
      hold: () => (this.call.holding ? this.call.resume() : this.call.hold()),
      keys: () => { parts.keypad.hidden = !parts.keypad.hidden; },
      more: () => { this.reachesFor = !this.reachesFor; },
      transfer: () => this.transfer(),
      consult: () => this.consult(),
      swap: () => this.swap(),
      connect: () => this.connect(),
      join: () => this.join(),
    };
    this.root.addEventListener('click', ({ target }) => {
      const { action, key } = target.closest('button')?.dataset ?? {};
      if (action in actions) this.#attempt(actions[action]);
      if (key) this.#attempt(() => this.call.press(key));
    });
    for (const form of [parts.dial, parts.reach]) form.addEventListener('submit', (event) => event.preventDefault());
    parts.dial.addEventListener('submit', () => this.#attempt(() => this.dial()));

    this.client.addEventListener('state', ({ detail: { state, reason } }) => {
      if (state === ClientState.UNREGISTERED && reason !== 'unregistered') {
        this.outcome = { title: 'Not registered', detail: reason, failed: true };
      }
      this.#render();
    });
    this.client.addEventListener('incoming', ({ detail: { call } }) => {
      if (this.call) call.reject().catch((error) => this.#view.tell(error.message)); // busy
      else this.#adopt(call);
    });
    this.client.addEventListener('notification', ({ detail }) => {
      this.notifications.unshift(detail);
      this.#view.log(detail);
    });
    this.sleeper.addEventListener('push', ({ detail: { type, timestamp } }) => {
      this.#view.log({ eventType: type, time: Date.parse(timestamp) });
      if (type === 'push.call_over') this.#view.tell('A call has been missed.');
    });
    for (const source of [this.client, this.sleeper]) {
      source.addEventListener('error', ({ detail: { error } }) => this.#view.tell(error.message));
    }
  }

  /** Runs what a button asks for; a failure is shown, not lost. */
  async #attempt(action) {
    SoundThread.wake();
    this.#view.tell(null);
    try {
      const done = action();
      this.#render();
      await done;
    } catch (error) {
      this.#view.tell(error.message);
    }
    this.#render();
  }

  #adopt(call) {
    this.#lines.push(call);
    this.outcome = null;
    this.#view.tell(null);
    call.addEventListener('notice', ({ detail: { text } }) => this.#view.tell(text));
    call.addEventListener('media', () => call === this.call && this.#showMedia());
    call.addEventListener('remote', () => this.#render());
    call.addEventListener('busy', () => this.#render());
    call.addEventListener('state', () => (call.state === CallState.ENDED ? this.#ended(call) : this.#render()));
    this.#stage(call);
    if (call.state === CallState.ENDED) this.#ended(call);
  }

  #stage(call) {
    this.call = call;
    this.report = null;
    this.reachesFor = false;
    clearInterval(this.#clock);
    if (call) this.#clock = setInterval(() => this.#tick(), REPORT_INTERVAL);
    this.#showMedia();
    this.#emit('report');
  }

  #ended(call) {
    this.#lines = this.#lines.filter((other) => other !== call);
    if (call === this.call) {
      this.outcome = outcomeOf(call);
      if (!this.outcome.failed) this.#view.tell(null);
      else if (this.#lines.length > 0) this.#view.tell(`${this.outcome.title}: ${this.outcome.detail}`);
      this.#stage(this.#lines.at(-1) ?? null);
    }
    this.#render();
  }

  #showMedia() {
    const remote = this.call?.remoteStream ?? null;
    const local = this.call?.localStream ?? null;
    const { parts } = this.#view;
    parts.remote.srcObject = remote;
    parts.local.srcObject = local;
    parts.local.classList.toggle('live', Boolean(local?.getVideoTracks().length));
    this.#threads.remote.attach(remote);
    this.#threads.local.attach(local);
    this.#render();
  }

  async #tick() {
    const { call } = this;
    if (!call.isConnected || !call.pc) return;
    const report = await reportLeg(call.pc, this.report);
    if (this.call !== call) return; // ended meanwhile
    this.report = report;
    this.#emit('report');
    this.#render();
  }

  #render() {
    this.#view.show(this);
    this.#emit('view', { view: this.view });
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
