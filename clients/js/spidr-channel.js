/** The WebSocket on which notifications come, opened again when it is lost (spidr-wire §4). */
import { SpidrError } from './spidr-states.js';

const PING_INTERVAL = 30_000;
const RECONNECT_INTERVAL = 5_000;
const RECONNECT_ATTEMPTS = 5;
/** The gateway's close code for a subscription that is over. */
const CLOSED_FOR_GOOD = 1000;

export class NotificationChannel {
  #url;
  #handlers;
  #socket = null;
  #pingTimer;
  #isClosed = false;

  /**
   * @param {URL} url  with the scheme of the gateway's REST interface
   * @param {object} handlers
   * @param {(message: object) => void} handlers.message  every `notificationMessage`, replayed ones included
   * @param {() => void} handlers.lost  the connection broke, and is being opened again
   * @param {() => void} handlers.back  it is there again; what was missed is replayed
   * @param {(reason: string) => void} handlers.over  it will not come back
   */
  constructor(url, handlers) {
    this.#url = new URL(url);
    this.#url.protocol = url.protocol.replace('http', 'ws');
    this.#handlers = handlers;
  }

  /** Done when notifications can arrive. */
  open() {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => socket.close(), RECONNECT_INTERVAL);
      socket.onopen = () => {
        clearTimeout(limit);
        const ping = () => socket.send(JSON.stringify({ message_type: 'ping' }));
        ping();
        this.#pingTimer = setInterval(ping, PING_INTERVAL);
        socket.onclose = ({ code }) => this.#closed(socket, code);
        resolve();
      };
      socket.onclose = () => {
        clearTimeout(limit);
        reject(new SpidrError({ httpStatus: 0, reason: 'the notification channel cannot be opened' }));
      };
      socket.onmessage = ({ data }) => this.#handlers.message(JSON.parse(data).notificationMessage);
    });
  }

  close() {
    this.#isClosed = true;
    clearInterval(this.#pingTimer);
    this.#socket?.close(CLOSED_FOR_GOOD);
  }

  #closed(socket, code) {
    if (this.#isClosed || socket !== this.#socket) return;
    clearInterval(this.#pingTimer);
    if (code === CLOSED_FOR_GOOD) this.#handlers.over('the gateway closed the notification channel');
    else this.#reconnect();
  }

  /** The same URL again: at once, then every five seconds. */
  async #reconnect() {
    this.#handlers.lost();
    for (let attempt = 0; attempt < RECONNECT_ATTEMPTS; attempt += 1) {
      if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, RECONNECT_INTERVAL));
      if (this.#isClosed) return;
      try {
        await this.open();
      } catch {
        continue; // counted: the next attempt follows, or the loss is told below
      }
      if (this.#isClosed) return this.#socket.close(CLOSED_FOR_GOOD);
      return this.#handlers.back();
    }
    if (!this.#isClosed) this.#handlers.over('connection lost');
  }
}
