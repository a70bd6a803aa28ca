/** What one sees of a phone: words for states and outcomes, and the elements that show them. */
import { CallState, ClientState, EndCode } from '../spidr-client.js';

const LOGGED = 40;

/** What the stage says in each state of a call. */
const SCENES = {
  [CallState.INITIAL]: (call) => [heading(call), 'Opening microphone and camera'],
  [CallState.DIALING]: (call) => [heading(call), 'Waiting for the other phone'],
  [CallState.SESSION_PROGRESS]: (call) => [heading(call), 'On its way'],
  [CallState.RINGING]: (call) =>
    (call.direction === 'incoming' ? [nameOf(call), 'is calling you'] : [heading(call), 'It rings']),
  [CallState.ANSWERING]: (call) => [nameOf(call), 'Answering'],
  [CallState.IN_CALL]: (call) => [nameOf(call), 'Sound only'],
  [CallState.ON_HOLD]: (call) => [nameOf(call), 'On hold'],
  [CallState.REMOTELY_HELD]: (call) => [nameOf(call), 'keeps you on hold'],
  [CallState.ON_DOUBLE_HOLD]: (call) => [nameOf(call), 'Both of you hold'],
};

/** How a call that did not come about is headed, by SIP's codes. */
const FAILURES = { 404: 'Nobody there', 480: 'Not reachable', 486: 'Busy', 487: 'No answer', 603: 'Declined' };

const REGISTRATIONS = {
  [ClientState.UNREGISTERED]: 'Not registered',
  [ClientState.REGISTERING]: 'Registering …',
  [ClientState.REGISTERED]: 'Registered',
  [ClientState.RECONNECTING]: 'Connection lost, trying again …',
};

export const isConference = (call) => call.remote.startsWith('conference');

export function nameOf(call) {
  if (isConference(call)) return 'Conference';
  return call.remoteName ?? call.remote;
}

function heading(call) { return isConference(call) ? 'Bringing them together' : `Calling ${call.remote}`; }

export class PhoneView {
  #root;
  #parts;

  /** @param {HTMLElement} root  an element made from the phone template */
  constructor(root) {
    this.#root = root;
    const parts = [...root.querySelectorAll('[data-part]')];
    this.#parts = Object.fromEntries(parts.map((element) => [element.dataset.part, element]));
  }

  /** Elements by their `data-part`. */
  get parts() { return this.#parts; }

  button(action) { return this.#root.querySelector(`button[data-action="${action}"]`); }

  /** @param {Phone} phone */
  show({ call, waiting, client, sleeper, outcome, report, view, reachesFor }) {
    const parts = this.#parts;
    const registered = isRegistered(client);
    const { dataset } = this.#root;
    dataset.view = view;
    dataset.media = hasPicture(call, report) ? 'picture' : 'sound';
    dataset.hold = { ON_HOLD: 'local', REMOTELY_HELD: 'remote', ON_DOUBLE_HOLD: 'both' }[call?.state] ?? 'none';
    dataset.reach = String(reachesFor);
    dataset.lines = String((call ? 1 : 0) + waiting.length);
    dataset.registration = client.state.toLowerCase();

    setText(parts.status, sleeper.isAsleep ? 'Asleep' : REGISTRATIONS[client.state]);
    const register = this.button('register');
    setText(register, sleeper.isAsleep ? 'Wake' : registered ? 'Unregister' : 'Register');
    this.button('sleep').hidden = view !== 'ready' && view !== 'ended';
    register.classList.toggle('urgent', !registered);
    register.disabled = client.state === ClientState.REGISTERING;

    const [title, detail] = scene(call, outcome, registered, sleeper.isAsleep);
    setText(parts.title, title);
    setText(parts.detail, detail);
    setText(parts.clock, call?.connectedAt ? duration(Date.now() - call.connectedAt) : '');
    setText(parts.waiting, waiting.length > 0 ? `${waiting.map(nameOf).join(', ')} on hold` : '');

    for (const element of parts.dial.elements) element.disabled = !registered;
    for (const element of [...parts.reach.elements, this.button('hold'), this.button('video')]) {
      element.disabled = Boolean(call?.isChanging);
    }
    this.#toggle('mute', call?.muted, 'Mute', 'Unmute');
    this.#toggle('video', call?.media.sendsVideo, 'Video', 'Video');
    this.#toggle('hold', call?.holding, 'Hold', 'Resume');
    this.#toggle('keys', !parts.keypad.hidden, 'Keys', 'Keys');
    this.#toggle('more', reachesFor, 'More', 'More');
    this.button('mute').hidden = !call?.localStream?.getAudioTracks().length;
    parts.keypad.hidden ||= view !== 'connected';
  }

  tell(text) {
    this.#parts.notice.hidden = !text;
    this.#parts.notice.textContent = text ?? '';
  }

  log(message) {
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

  #toggle(action, pressed, off, on) {
    const button = this.button(action);
    button.setAttribute('aria-pressed', String(Boolean(pressed)));
    setText(button.querySelector('span'), pressed ? on : off);
  }
}

export function isRegistered({ state }) {
  return state === ClientState.REGISTERED || state === ClientState.RECONNECTING;
}

/** How an ended call is summed up on the stage. */
export function outcomeOf({ direction, connectedAt, endReason: { code, text, by, error } }) {
  if (error && code !== EndCode.ANSWERED_ELSEWHERE) return { title: 'The call failed', detail: text, failed: true };
  if (direction === 'incoming' && !connectedAt && by === 'remote') {
    const title = code === EndCode.ANSWERED_ELSEWHERE ? 'Answered elsewhere' : 'Missed call';
    return { title, detail: text, failed: false };
  }
  const failed = by === 'remote' && code >= 400 && code < 700; // a code of SIP's
  return { title: failed ? (FAILURES[code] ?? 'The call failed') : 'Call ended', detail: text, failed };
}

function scene(call, outcome, registered, isAsleep) {
  if (call && call.state in SCENES) return SCENES[call.state](call);
  if (isAsleep) return ['Asleep', 'Call it: a push to a stand-in for its push service wakes it.'];
  if (outcome) return [outcome.title, sentence(outcome.detail)];
  if (registered) return ['Ready', 'Call somebody, or wait for a ring.'];
  return ['Off the web', 'Register this phone to call and be called.'];
}

/** Whether there is a remote picture to show. */
function hasPicture(call, report) {
  if (call?.state !== CallState.IN_CALL || !call.media.receivesVideo) return false;
  return report?.video?.framesDecoded > 0 || call.remoteStream.getVideoTracks().some((track) => !track.muted);
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
