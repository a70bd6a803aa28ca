/**
 * What happens in the calls of one user, as the gateway tells any program: `/v1/events` as server-sent events. A
 * browser's `EventSource` sends no credentials, so the stream is read by `fetch`. Events, all `CustomEvent`s:
 *
 * | event   | `detail`                                             |
 * |---------|------------------------------------------------------|
 * | `event` | the event, see docs/call-events.md, The `/v1` form   |
 * | `state` | none: `isLive` or `problem` changed                  |
 */
const RETRY = 1_000;

export class EventLog extends EventTarget {
  #stream = null; // the one that is open: {isClosed, reader}; null: none is
  #cursor = null; // the id of the last event, behind which the stream goes on

  /** Whether what happens now is told. */
  isLive = false;
  /** Why it is not, in words for people; null: it is, or nobody asked. */
  problem = null;

  /** Tells of the calls of this user from now on, and of nobody else's. */
  open(user, password) {
    this.close();
    this.#stream = { isClosed: false, reader: null };
    this.#follow(`Basic ${btoa(`${user}:${password}`)}`, this.#stream);
  }

  close() {
    if (this.#stream) {
      this.#stream.isClosed = true;
      this.#stream.reader?.cancel().catch(() => {}); // it may have failed already
    }
    this.#stream = null;
    this.#cursor = null;
    this.#become(false, null);
  }

  async #follow(authorization, stream) {
    while (!stream.isClosed) {
      try {
        await this.#read(authorization, stream);
      } catch (error) {
        if (!stream.isClosed) this.#become(false, error.message);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }

  async #read(authorization, stream) {
    const headers = { Accept: 'text/event-stream', Authorization: authorization };
    if (this.#cursor) headers['Last-Event-ID'] = this.#cursor;
    const response = await fetch('/v1/events', { headers, cache: 'no-store' });
    if (!response.ok) throw new Error((await response.json()).detail);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    stream.reader = reader;
    if (stream.isClosed) return void reader.cancel();
    this.#become(true, null);
    let [rest, data] = ['', ''];
    while (true) {
      const { value, done } = await reader.read();
      if (done || stream.isClosed) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith('id:')) this.#cursor = line.slice(3).trim();
        if (line.startsWith('data:')) data += line.slice(5);
        if (line || !data) continue;
        this.dispatchEvent(new CustomEvent('event', { detail: JSON.parse(data) }));
        data = '';
      }
    }
    if (!stream.isClosed) this.#become(false, 'The stream has ended, and is opened again.');
  }

  #become(isLive, problem) {
    Object.assign(this, { isLive, problem });
    this.dispatchEvent(new CustomEvent('state'));
  }
}

/** The part of an event that a line has room for. */
export function summaryOf({ leg, data = {} }) {
  const said = Object.entries(data).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return [leg === undefined ? 'call' : `leg ${leg}`, ...said.map(([name, value]) => `${name} ${value}`)].join(' · ');
}
