/**
 * A small client for the SPiDR signalling protocol: REST requests, one WebSocket for notifications.
 *
 *     const alice = new SpidrClient({ user: 'alice@dev.local', password: 'dev' });
 *     alice.addEventListener('incoming', ({ detail: { call } }) => call.answer({ audio: true, video: true }));
 *     await alice.register();
 *     const call = alice.call('bob@dev.local', { audio: true, video: true });
 *     call.addEventListener('state', () => console.log(call.state, call.endReason));
 *
 * Events of a client, all `CustomEvent`s:
 *
 * | event          | `detail`                                                                     |
 * |----------------|------------------------------------------------------------------------------|
 * | `state`        | `{state, previous, reason}`; see `ClientState`                               |
 * | `incoming`     | `{call}`: somebody calls; the call is in state `RINGING`                     |
 * | `notification` | the `notificationMessage` as it came, duplicates left out                    |
 * | `error`        | `{error}`: something failed that no caller was waiting for                   |
 */
import { Call, CallState, EndCode } from './spidr-call.js';

export { Call, CallState, EndCode };

export const ClientState = Object.freeze({
  UNREGISTERED: 'UNREGISTERED',
  REGISTERING: 'REGISTERING',
  REGISTERED: 'REGISTERED',
  /** The subscription stands, but its WebSocket is lost and being opened again. */
  RECONNECTING: 'RECONNECTING',
});

/** A request the gateway refused, or that did not reach it (`httpStatus` 0). */
export class SpidrError extends Error {
  constructor({ httpStatus, statusCode, code, reason }) {
    super(reason);
    this.name = 'SpidrError';
    this.httpStatus = httpStatus;
    /** The application status code of the protocol, e.g. 42 for "no such call". */
    this.statusCode = statusCode;
    /** The gateway's dotted code, e.g. `call.not_found`. */
    this.code = code;
    this.reason = reason;
  }
}

const PING_INTERVAL = 30_000;
const RECONNECT_INTERVAL = 5_000;
const RECONNECT_ATTEMPTS = 5;
const SHORTEST_RETRY = 30_000;
const REMEMBERED_EVENTS = 100;
const CLOSED_FOR_GOOD = 1000;

export class SpidrClient extends EventTarget {
  #authorization;
  #options;
  #state = ClientState.UNREGISTERED;
  #subscription = null; // path of the subscription resource
  #channel = null; // path of the WebSocket
  #socket = null;
  #extendTimer;
  #pingTimer;
  #handled = []; // eventIds, oldest first
  #calls = new Map(); // by sessionData
  #startsInFlight = 0;
  #unclaimed = []; // notifications of sessions whose `callStart` is still unanswered

  /**
   * @param {object} options
   * @param {string} options.user  `name@domain`
   * @param {string} options.password
   * @param {string} [options.baseURL]  where the gateway is; default: where the page came from
   * @param {string[]} [options.services]
   * @param {boolean} [options.ringingFeedback]  tell the caller only once this device really rings
   * @param {number} [options.expires]  wished life time of the registration in seconds
   * @param {string} [options.clientCorrelator]  names this device: registering again replaces its old registration
   */
  constructor({ user, password, baseURL = location.origin, services = ['call'], ringingFeedback = true, expires = 3600, clientCorrelator }) {
    super();
    this.user = user;
    this.baseURL = new URL(baseURL);
    this.#authorization = `Basic ${base64(`${user}:${password}`)}`;
    this.#options = { services, ringingFeedback, expires, clientCorrelator };
  }

  get state() { return this.#state; }
  get ringingFeedback() { return this.#options.ringingFeedback; }
  /** The calls that have not ended. */
  get calls() { return [...this.#calls.values()]; }

  /** Subscribes and opens the notification channel; done when notifications can arrive. */
  async register() {
    if (this.#state !== ClientState.UNREGISTERED) return;
    this.#moveTo(ClientState.REGISTERING);
    try {
      const { clientCorrelator } = this.#options;
      const answer = await this.request('POST', '/subscription', {
        subscribeRequest: { ...this.#wishes(), forceLogOut: 'false', ...(clientCorrelator && { clientCorrelator }) },
      });
      const { subscription, subscriptionParams } = answer.subscribeResponse;
      this.#subscription = subscription;
      this.#channel = subscriptionParams.notificationChannel;
      this.#scheduleExtension(subscriptionParams.expires * 500);
      await this.#openSocket();
      this.#moveTo(ClientState.REGISTERED);
    } catch (error) {
      const subscription = this.#subscription;
      this.#leave(error.message);
      // Without a channel the subscription is of no use; should this fail as well, it expires by itself.
      if (subscription) this.request('DELETE', subscription).catch((failure) => this.reportError(failure));
      throw error;
    }
  }

  /** Ends the calls and the registration. */
  async unregister() {
    const subscription = this.#subscription;
    for (const call of this.calls) call.finish({ code: EndCode.UNREGISTERED, text: 'unregistered', by: 'local' });
    this.#leave('unregistered');
    if (subscription) await this.request('DELETE', subscription);
  }

  /**
   * Calls an address. The call is there at once and tells by `state` events how it goes on; one that fails becomes
   * ENDED, with the cause in `endReason`.
   * @returns {Call}
   */
  call(address, media = { audio: true, video: false }) {
    const call = new Call({ client: this, direction: 'outgoing', remote: address });
    call.dial(media);
    return call;
  }

  // MARK: For Call

  /**
   * One REST request. `path` is a path handed out by the gateway, or one below the user's own resources.
   * @throws {SpidrError}
   */
  async request(method, path, body, { signal } = {}) {
    const url = new URL(path.startsWith('/rest/') ? path : `/rest/version/1/user/${this.user}${path}`, this.baseURL);
    let response, answer;
    try {
      response = await fetch(url, {
        method,
        headers: { Authorization: this.#authorization, Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) },
        body: body && JSON.stringify(body),
        keepalive: method === 'DELETE', // a page that is being closed still says goodbye
        signal,
      });
      answer = response.status === 204 ? {} : await response.json();
    } catch (error) {
      const reason = response ? 'the answer is not JSON' : `the gateway cannot be reached (${error.message})`;
      throw new SpidrError({ httpStatus: response?.status ?? 0, reason });
    }
    if (response.ok) return answer;
    const { statusCode, code, reason } = Object.values(answer).find((value) => typeof value === 'object') ?? answer;
    throw new SpidrError({ httpStatus: response.status, statusCode, code, reason: reason ?? response.statusText });
  }

  /**
   * Runs the `callStart` request of a call. Its first notifications may overtake the answer on their way through the
   * browser, so those of unknown sessions wait until it is there.
   */
  async start(call, body) {
    this.#startsInFlight += 1;
    try {
      const answer = await this.request('POST', '/callControl', body);
      call.sessionData = answer.callControlResponse.sessionData;
      this.#calls.set(call.sessionData, call);
    } finally {
      this.#startsInFlight -= 1;
      const waiting = this.#unclaimed;
      this.#unclaimed = [];
      for (const message of waiting) this.#dispatchToCall(message);
    }
  }

  forget(call) { this.#calls.delete(call.sessionData); }

  reportError(error) { this.#emit('error', { error }); }

  // MARK: Subscription

  #wishes() {
    const { services, ringingFeedback, expires } = this.#options;
    return {
      expires,
      service: services,
      localization: 'English_US',
      notificationType: 'WebSocket',
      ...(ringingFeedback && { supported: ['RingingFeedback'] }),
    };
  }

  /** Extends after `delay` ms; tries again in half the time after a failure, down to 30 s. */
  #scheduleExtension(delay) {
    clearTimeout(this.#extendTimer);
    this.#extendTimer = setTimeout(async () => {
      try {
        const answer = await this.request('PUT', this.#subscription, { subscribeRequest: this.#wishes() });
        this.#scheduleExtension(answer.subscribeResponse.subscriptionParams.expires * 500);
      } catch (error) {
        if (this.#subscription === null) return; // unregistered meanwhile
        if (error.httpStatus === 404) return this.#lose('the registration is gone');
        this.reportError(error);
        this.#scheduleExtension(Math.max(delay / 2, SHORTEST_RETRY));
      }
    }, delay);
  }

  // MARK: Notification channel

  #openSocket() {
    const url = new URL(this.#channel, this.baseURL);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => socket.close(), RECONNECT_INTERVAL);
      socket.onopen = () => {
        clearTimeout(limit);
        const ping = () => socket.send(JSON.stringify({ message_type: 'ping' }));
        ping();
        this.#pingTimer = setInterval(ping, PING_INTERVAL);
        socket.onclose = ({ code }) => this.#socketClosed(socket, code);
        resolve();
      };
      socket.onclose = () => {
        clearTimeout(limit);
        reject(new SpidrError({ httpStatus: 0, reason: 'the notification channel cannot be opened' }));
      };
      socket.onmessage = ({ data }) => this.#received(JSON.parse(data).notificationMessage);
    });
  }

  #socketClosed(socket, code) {
    if (socket !== this.#socket) return; // closed by this client
    clearInterval(this.#pingTimer);
    if (code === CLOSED_FOR_GOOD) this.#lose('the gateway closed the notification channel');
    else this.#reconnect();
  }

  /** The same URL again: at once, then every five seconds. What was missed is replayed by the gateway. */
  async #reconnect() {
    const channel = this.#channel;
    this.#moveTo(ClientState.RECONNECTING, 'connection lost');
    for (let attempt = 0; attempt < RECONNECT_ATTEMPTS; attempt += 1) {
      if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, RECONNECT_INTERVAL));
      if (this.#channel !== channel) return; // unregistered meanwhile
      try {
        await this.#openSocket();
        this.#moveTo(ClientState.REGISTERED);
        for (const call of this.calls) call.verify();
        return;
      } catch {
        // Counted: the next attempt follows, or the loss is reported below.
      }
    }
    if (this.#channel === channel) this.#lose('connection lost');
  }

  #received(message) {
    if (this.#handled.includes(message.eventId)) return;
    this.#handled.push(message.eventId);
    if (this.#handled.length > REMEMBERED_EVENTS) this.#handled.shift();
    this.#emit('notification', message);
    switch (message.eventType) {
      case 'gone': return this.#lose('the gateway ended the registration');
      case 'websocketOverridden': return this.#lose('another connection took over');
      case 'call': return this.#incoming(message);
      default: return this.#dispatchToCall(message);
    }
  }

  #incoming(message) {
    const { sessionData, sdp } = message.sessionParams;
    if (this.#calls.has(sessionData)) return;
    const { callerName, callerDisplayNumber } = message.callNotificationParams;
    const call = new Call({ client: this, direction: 'incoming', remote: callerDisplayNumber, remoteName: callerName, sessionData, offer: sdp });
    this.#calls.set(sessionData, call);
    call.ring();
    this.#emit('incoming', { call });
  }

  #dispatchToCall(message) {
    const sessionData = message.sessionParams?.sessionData;
    if (sessionData === undefined) return;
    const call = this.#calls.get(sessionData);
    if (call) call.receive(message);
    else if (this.#startsInFlight > 0) this.#unclaimed.push(message);
  }

  // MARK: States

  /** The registration ended without this client asking for it; its calls cannot go on. */
  #lose(reason) {
    for (const call of this.calls) call.finish({ code: EndCode.ERROR, text: reason, by: 'local' });
    this.#leave(reason);
  }

  #leave(reason) {
    clearTimeout(this.#extendTimer);
    clearInterval(this.#pingTimer);
    const socket = this.#socket;
    this.#socket = this.#subscription = this.#channel = null;
    this.#handled = [];
    socket?.close(CLOSED_FOR_GOOD);
    this.#moveTo(ClientState.UNREGISTERED, reason);
  }

  #moveTo(state, reason) {
    const previous = this.#state;
    if (state === previous) return;
    this.#state = state;
    this.#emit('state', { state, previous, reason });
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}

/** Base 64 of the UTF-8 form: `btoa` alone refuses letters beyond Latin-1. */
function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
