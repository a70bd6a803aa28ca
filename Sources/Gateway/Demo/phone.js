/** One phone of the demo page: a client, at most one call, and everything one sees of them. */
import { CallState, ClientState, EndCode, SpidrClient } from './spidr-client.js';
import { reportLeg } from './leg-report.js';
import { SoundThread } from './sound-thread.js';

const REPORT_INTERVAL = 1_000;
const LOGGED = 40;

/** What the stage says in each state of a call. */
const SCENES = {
  [CallState.INITIAL]: (call) => [`Calling ${call.remote}`, 'Opening microphone and camera'],
  [CallState.DIALING]: (call) => [`Calling ${call.remote}`, 'Waiting for the other phone'],
  [CallState.SESSION_PROGRESS]: (call) => [`Calling ${call.remote}`, 'Early media'],
  [CallState.RINGING]: (call) =>
    call.direction === 'incoming' ? [call.remoteName ?? call.remote, 'is calling you'] : [`Calling ${call.remote}`, 'It rings'],
  [CallState.ANSWERING]: (call) => [call.remoteName ?? call.remote, 'Answering'],
  [CallState.IN_CALL]: (call) => [call.remoteName ?? call.remote, 'Sound only'],
};

/** How a call that did not come about is headed, by SIP's codes. */
const FAILURES = { 404: 'Nobody there', 480: 'Not reachable', 486: 'Busy', 487: 'No answer', 603: 'Declined' };

export class Phone extends EventTarget {
  #parts;
  #threads;
  #clock;
  #outcome = null; // how the last call or registration ended: {title, detail, failed}

  /** @param {HTMLElement} root  an element made from the phone template */
  constructor(root, { user, password, peer }) {
    super();
    this.root = root;
    this.user = user;
    this.name = user.split('@')[0];
    this.client = new SpidrClient({ user, password });
    this.call = null;
    /** The latest figures of the call's leg; see leg-report.js. */
    this.report = null;
    /** Every notification, newest first. */
    this.notifications = [];

    this.#parts = Object.fromEntries([...root.querySelectorAll('[data-part]')].map((element) => [element.dataset.part, element]));
    this.#threads = { local: new SoundThread(this.#parts['local-level']), remote: new SoundThread(this.#parts['remote-level']) };
    this.#parts.name.textContent = user;
    this.#parts.initial.textContent = this.name[0].toUpperCase();
    this.#parts.address.value = peer;
    this.#listen();
    this.#render();
  }

  get view() { return this.root.dataset.view; }

  set sound(on) { this.#parts.remote.muted = !on; }

  // MARK: Actions

  async register() {
    this.#outcome = null;
    try {
      await this.client.register();
    } catch (error) {
      this.#outcome = { title: 'Not registered', detail: error.message, failed: true };
      this.#render();
    }
  }

  async unregister() {
    this.#outcome = null;
    await this.client.unregister();
  }

  dial() {
    const wanted = { audio: true, video: this.#parts.video.checked };
    this.#adopt(this.client.call(this.#parts.address.value.trim(), wanted));
  }

  async answer() { await this.call.answer({ audio: true, video: this.#parts.video.checked }); }
  async reject() { await this.call.reject(); }
  async hangUp(reason) { await this.call.end(reason ?? `${this.name} hung up`); }

  // MARK: Wiring

  #listen() {
    const actions = {
      register: () => (this.client.state === ClientState.UNREGISTERED ? this.register() : this.unregister()),
      answer: () => this.answer(),
      reject: () => this.reject(),
      hangup: () => this.hangUp(),
      mute: () => this.call.mute(!this.call.muted),
      camera: () => this.call.hideCamera(!this.call.cameraHidden),
    };
    this.root.addEventListener('click', ({ target }) => {
      const action = actions[target.closest('button')?.dataset.action];
      if (action) this.#attempt(action);
    });
    this.#parts.dial.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#attempt(() => this.dial());
    });

    this.client.addEventListener('state', ({ detail: { state, reason } }) => {
      if (state === ClientState.UNREGISTERED && reason !== 'unregistered') {
        this.#outcome = { title: 'Not registered', detail: reason, failed: true };
      }
      this.#render();
    });
    this.client.addEventListener('incoming', ({ detail: { call } }) => {
      if (this.call) call.reject().catch((error) => this.#tell(error.message)); // one line per phone: busy
      else this.#adopt(call);
    });
    this.client.addEventListener('notification', ({ detail }) => this.#log(detail));
    this.client.addEventListener('error', ({ detail: { error } }) => this.#tell(error.message));
  }

  /** Runs what a button asks for; a failure is shown, not lost. */
  async #attempt(action) {
    SoundThread.wake();
    try {
      await action();
    } catch (error) {
      this.#tell(error.message);
    }
    this.#render();
  }

  #adopt(call) {
    this.call = call;
    this.#outcome = null;
    this.#tell(null);
    call.addEventListener('notice', ({ detail: { text } }) => this.#tell(text));
    call.addEventListener('media', () => this.#showMedia());
    call.addEventListener('state', () => (call.state === CallState.ENDED ? this.#ended(call) : this.#render()));
    this.#clock = setInterval(() => this.#tick(), REPORT_INTERVAL);
    this.#showMedia();
    if (call.state === CallState.ENDED) this.#ended(call);
    else this.#render();
  }

  #ended(call) {
    this.#outcome = outcome(call);
    this.call = null;
    this.report = null;
    clearInterval(this.#clock);
    this.#tell(null);
    this.#showMedia();
    this.#emit('report');
    this.#render();
  }

  #showMedia() {
    const remote = this.call?.remoteStream ?? null;
    const local = this.call?.localStream ?? null;
    this.#parts.remote.srcObject = remote;
    this.#parts.local.srcObject = local;
    this.#parts.local.classList.toggle('live', Boolean(local?.getVideoTracks().length));
    this.#threads.remote.attach(remote);
    this.#threads.local.attach(local);
    this.#render();
  }

  async #tick() {
    const { call } = this;
    if (call?.state !== CallState.IN_CALL) return;
    const report = await reportLeg(call.pc, this.report);
    if (this.call !== call) return; // ended meanwhile
    this.report = report;
    this.#emit('report');
    this.#render();
  }

  // MARK: What one sees

  #render() {
    const { call, client } = this;
    const parts = this.#parts;
    const registered = client.state === ClientState.REGISTERED || client.state === ClientState.RECONNECTING;
    const view = this.#view(registered);
    this.root.dataset.view = view;
    this.root.dataset.media = this.#media();

    setText(parts.status, {
      [ClientState.UNREGISTERED]: 'Not registered',
      [ClientState.REGISTERING]: 'Registering …',
      [ClientState.REGISTERED]: 'Registered',
      [ClientState.RECONNECTING]: 'Connection lost, trying again …',
    }[client.state]);
    this.root.dataset.registration = client.state.toLowerCase();

    const register = this.#button('register');
    setText(register, registered ? 'Unregister' : 'Register');
    register.classList.toggle('urgent', !registered);
    register.disabled = client.state === ClientState.REGISTERING;

    const [title, detail] = this.#scene(registered);
    setText(parts.title, title);
    setText(parts.detail, detail);
    setText(parts.clock, call?.connectedAt ? duration(Date.now() - call.connectedAt) : '');

    for (const element of parts.dial.elements) element.disabled = !registered;
    this.#toggle('mute', call?.muted, 'Mute', 'Unmute');
    this.#toggle('camera', call?.cameraHidden, 'Hide camera', 'Show camera');
    this.#button('mute').hidden = !call?.localStream?.getAudioTracks().length;
    this.#button('camera').hidden = !call?.localStream?.getVideoTracks().length;
    this.#emit('view', { view });
  }

  /** `offline`, `ready`, `outgoing`, `incoming`, `connected`, `ended` or `failed`. */
  #view(registered) {
    if (this.call) {
      if (this.call.state === CallState.IN_CALL) return 'connected';
      return this.call.direction === 'incoming' && this.call.state === CallState.RINGING ? 'incoming' : 'outgoing';
    }
    if (this.#outcome) return this.#outcome.failed ? 'failed' : 'ended';
    return registered ? 'ready' : 'offline';
  }

  #scene(registered) {
    if (this.call && this.call.state in SCENES) return SCENES[this.call.state](this.call);
    if (this.#outcome) return [this.#outcome.title, sentence(this.#outcome.detail)];
    return registered ? ['Ready', 'Call somebody, or wait for a ring.'] : ['Off the web', 'Register this phone to call and be called.'];
  }

  /** Whether there is a remote picture to show. */
  #media() {
    const track = this.call?.state === CallState.IN_CALL && this.call.remoteStream.getVideoTracks()[0];
    return track && (this.report?.video?.framesDecoded > 0 || !track.muted) ? 'picture' : 'sound';
  }

  #button(action) { return this.root.querySelector(`button[data-action="${action}"]`); }

  #toggle(action, pressed, off, on) {
    const button = this.#button(action);
    button.setAttribute('aria-pressed', String(Boolean(pressed)));
    setText(button.lastChild, pressed ? on : off);
  }

  #tell(text) {
    this.#parts.notice.hidden = !text;
    this.#parts.notice.textContent = text ?? '';
  }

  #log(message) {
    this.notifications.unshift(message);
    const entry = document.createElement('li');
    const time = document.createElement('time');
    const at = new Date(Number(message.time));
    time.dateTime = at.toISOString();
    time.textContent = at.toLocaleTimeString('en-GB');
    const type = document.createElement('code');
    type.textContent = message.eventType;
    entry.append(time, type);
    const reason = message.sessionParams?.reasonText;
    if (reason) entry.append(Object.assign(document.createElement('small'), { textContent: reason }));
    this.#parts.log.prepend(entry);
    while (this.#parts.log.children.length > LOGGED) this.#parts.log.lastChild.remove();
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}

/** How an ended call is summed up on the stage. */
function outcome({ direction, connectedAt, endReason: { code, text, by, error } }) {
  if (error && code !== EndCode.ANSWERED_ELSEWHERE) return { title: 'The call failed', detail: text, failed: true };
  if (direction === 'incoming' && !connectedAt && by === 'remote') {
    return { title: code === EndCode.ANSWERED_ELSEWHERE ? 'Answered elsewhere' : 'Missed call', detail: text, failed: false };
  }
  const failed = by === 'remote' && code >= 400 && code < 700; // a code of SIP's
  return { title: failed ? (FAILURES[code] ?? 'The call failed') : 'Call ended', detail: text, failed };
}

/** Leaves equal text alone, so that a screen reader is not made to repeat it. */
function setText(node, text) { if (node.textContent !== text) node.textContent = text; }

function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function sentence(text) {
  if (!text) return '';
  const capital = text[0].toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}
