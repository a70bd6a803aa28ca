/**
 * The demo page: phones side by side, and what happens between them.
 *
 * `?phones=carol,dave` shows other users of `@dev.local` first, `?phones=alice` a single phone, e.g. for two browsers.
 * `?hold=sendonly` makes the phones hold as the mobile clients do.
 * `window.orbweaver` gives scripts and tests the phones by name.
 */
import { EventLog, summaryOf } from './event-log.js';
import { Phone } from './phone.js';
import { KeptPhones } from './kept-phones.js';

const DOMAIN = 'dev.local';
const PASSWORD = 'dev'; // the one password of every `--dev` user
const EVERYBODY = ['alice', 'bob', 'carol', 'dave'];
const ROBOT = 'echo'; // inside the gateway: answers each call, plays back what it hears, and reads keys
const EVENTS_SHOWN = 200;

const query = new URLSearchParams(location.search);
const first = (query.get('phones') ?? 'alice,bob').split(',').slice(0, EVERYBODY.length);
const others = query.has('phones') ? [] : EVERYBODY.filter((name) => !first.includes(name));
const OPPOSITE = { alice: 'bob', bob: 'alice', carol: 'dave', dave: 'carol' };
const peerOf = (name) => (first.includes(name) && first.find((other) => other !== name)) || (OPPOSITE[name] ?? 'alice');
const thirdFor = (name) => EVERYBODY.find((other) => other !== name && other !== peerOf(name));

const fromTemplate = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);
const part = (root, name) => root.querySelector(`[data-part="${name}"]`);

const kept = new KeptPhones(sessionStorage);
const phones = {};
const tabs = {};

document.getElementById('addresses').append(...[...EVERYBODY, ROBOT].map((name) => new Option(`${name}@${DOMAIN}`)));

function add(name) {
  const root = fromTemplate('phone-template');
  root.id = `phone-${name}`;
  part(root, 'keypad').append(...[...'123456789*0#'].map((key) => {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: key });
    button.dataset.key = key;
    return button;
  }));
  document.getElementById('phones').append(root);
  const [peer, third] = [peerOf(name), thirdFor(name)].map((other) => `${other}@${DOMAIN}`);
  const user = `${name}@${DOMAIN}`;
  const robot = `${ROBOT}@${DOMAIN}`;
  const phone = new Phone(root, { user, password: PASSWORD, holdWith: dialect.value, peer, third, robot });
  phones[name] = phone;
  phone.sound = soundIsOn();
  addTab(name);
  addLeg(name);
  eventsOf.append(new Option(user));
  document.body.dataset.phones = String(Object.keys(phones).length);
}

// MARK: Tabs, where only one phone fits

function show(name) {
  for (const [other, tab] of Object.entries(tabs)) {
    tab.setAttribute('aria-selected', String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    phones[other].root.classList.toggle('current', other === name);
  }
}

const TAB_NOTES = {
  incoming: 'is ringing', outgoing: 'is calling', connected: 'in a call', ready: 'ready', failed: 'failed',
  asleep: 'asleep',
};

function addTab(name) {
  const tab = fromTemplate('tab-template');
  tabs[name] = tab;
  part(tab, 'name').textContent = name;
  tab.setAttribute('aria-controls', phones[name].root.id);
  tab.addEventListener('click', () => show(name));
  tab.addEventListener('keydown', ({ key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!step) return;
    const names = Object.keys(tabs);
    const other = names.at((names.indexOf(name) + step) % names.length);
    show(other);
    tabs[other].focus();
  });
  const describe = () => {
    const { view } = phones[name];
    tab.dataset.view = view;
    part(tab, 'state').textContent = TAB_NOTES[view] ?? '';
  };
  phones[name].addEventListener('view', describe);
  describe();
  document.getElementById('tabs').append(tab);
}

// MARK: The legs

const kilobits = (bits) => `${Math.round(bits / 1000)}`;

const NOTHING = { pair: 'no leg yet', roundTrip: '', keys: '–', audio: '–', video: '–' };

function describe({ pair, keys, audio, video }) {
  const flow = ({ codec, sentBits, receivedBits }) =>
    `${codec ?? '?'} · ${kilobits(sentBits)} up, ${kilobits(receivedBits)} down kbit/s`;
  return {
    pair: pair ? `${pair.local} → ${pair.remote} ${pair.protocol}` : 'looking for a path',
    roundTrip: pair?.roundTrip === undefined ? '' : `${(pair.roundTrip * 1000).toFixed(1)} ms there and back`,
    keys: keys ? `${keys.tls} · ${keys.srtp}` : 'handshake',
    audio: audio ? `${flow(audio)}${audio.lost > 0 ? ` · ${audio.lost} lost` : ''}` : 'none',
    video: video ? `${flow(video)}${video.width ? ` · ${video.width} × ${video.height}` : ''}` : 'none',
  };
}

function addLeg(name) {
  const legs = document.getElementById('legs');
  const leg = fromTemplate('leg-template');
  part(leg, 'title').textContent = `${name} and the gateway`;
  const phone = phones[name];
  const update = () => {
    leg.classList.toggle('alive', Boolean(phone.report?.pair));
    const figures = phone.report ? describe(phone.report) : NOTHING;
    for (const [key, text] of Object.entries(figures)) part(leg, key).textContent = text;
  };
  phone.addEventListener('report', update);
  update();
  if (name === first[0]) legs.prepend(leg);
  else legs.append(leg);
}

// MARK: The event log

const events = new EventLog();
const eventsButton = document.getElementById('events-button');
const eventsOf = document.getElementById('events-of');
const eventList = document.getElementById('event-list');

function showEvents(shown) {
  eventsButton.setAttribute('aria-expanded', String(shown));
  document.getElementById('events').hidden = !shown;
  eventList.replaceChildren();
  if (shown) events.open(eventsOf.value, PASSWORD);
  else events.close();
}

eventsButton.addEventListener('click', () => showEvents(eventsButton.getAttribute('aria-expanded') !== 'true'));
eventsOf.addEventListener('change', () => showEvents(true));
events.addEventListener('state', () => {
  document.getElementById('events-state').textContent = events.problem ?? (events.isLive ? 'Live' : 'Connecting …');
});
events.addEventListener('event', ({ detail: event }) => {
  const entry = document.createElement('li');
  const at = new Date(event.time ?? Date.now());
  entry.append(
    Object.assign(document.createElement('time'), {
      dateTime: at.toISOString(), textContent: at.toLocaleTimeString('en-GB'),
    }),
    Object.assign(document.createElement('code'), { textContent: event.type }),
    Object.assign(document.createElement('small'), { textContent: summaryOf(event) }),
  );
  eventList.prepend(entry);
  while (eventList.children.length > EVENTS_SHOWN) eventList.lastChild.remove();
});

// MARK: Settings

const soundButton = document.getElementById('sound');
const dialect = document.getElementById('dialect');
const moreButton = document.getElementById('more-phones');

const soundIsOn = () => soundButton.getAttribute('aria-pressed') === 'true';

function setSound(on) {
  soundButton.setAttribute('aria-pressed', String(on));
  soundButton.querySelector('span').textContent = on ? 'Sound on' : 'Sound off';
  for (const phone of Object.values(phones)) phone.sound = on;
}

soundButton.addEventListener('click', () => setSound(!soundIsOn()));
dialect.value = query.get('hold') === 'sendonly' ? 'sendonly' : 'inactive';
dialect.addEventListener('change', () => {
  for (const { client } of Object.values(phones)) client.holdWith = dialect.value;
});

function addOthers() {
  others.splice(0).forEach(add);
  moreButton.hidden = true;
}

moreButton.addEventListener('click', addOthers);
moreButton.hidden = others.length === 0;

first.forEach(add);
if (kept.names.some((name) => others.includes(name))) addOthers();
show(kept.names.find((name) => name in phones) ?? first[0]);

// MARK: The page goes, and comes back

/**
 * A page that is loaded again goes on with its calls; one that is closed takes its registrations along, if it has no
 * calls.
 */
addEventListener('pagehide', () => {
  for (const [name, { client, sleeper }] of Object.entries(phones)) {
    sleeper.forget().catch(() => {}); // nobody is left to tell
    if (client.calls.length > 0) kept.keep(name, client.snapshot);
    else client.unregister().catch(() => {}); // nobody is left to tell
  }
});

window.orbweaver = { phones, setSound, addOthers, events };
for (const [name, snapshot] of kept.take()) {
  phones[name]?.resume(snapshot).catch(() => phones[name].register()); // its calls ended with the registration
}
