// The sign of one link. It shows what the controller last said, and says so when that is not now.
//
// One timer drives everything. Nothing grows: a meter keeps its last reading and nothing older.
"use strict";

const TICK_MS = 250;
const POLL_MS = 1000;
const TIMEOUT_MS = 3000;
const STALE_MS = 5000;
const PAGE_MS = 60000;
const RISE_MS = 900;

const NOTICES = {
  closed: "Closed – no bets are being taken",
  won: "Jackpot won – pending verification",
  suspended: "No progressive bets are being taken",
};

const body = document.body;
const part = (name, root = document) => root.querySelector(`[data-part="${name}"]`);
const banner = part("banner");
const sequence = part("seq");
const lastContact = part("contact");
const stillness = window.matchMedia("(prefers-reduced-motion: reduce)");
const url = `/v1/meters?link=${encodeURIComponent(body.dataset.link)}`;

const meters = [...document.querySelectorAll("[data-meter]")].map((root) => ({
  id: root.dataset.meter,
  root,
  whole: part("whole", root),
  cents: part("cents", root),
  notice: part("notice", root),
  reading: null, // the last view that was accepted
  shown: null, // cents on the screen, as BigInt
  from: 0n, // cents from which a rise began
  risingSince: null,
}));

let etag = "";
let inFlight = null; // { abort, since } of the one request that may be under way
let polledAt = -Infinity;
let pageAskedAt = performance.now();
let contactAt = performance.now();
let contactTime = new Date();
let framed = false;

// Money: integers only, from the answer to the screen.

function split(cents) {
  const digits = cents.toString().padStart(3, "0");
  return [digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ","), `.${digits.slice(-2)}`];
}

function show(meter, cents) {
  if (meter.shown === cents) return;
  meter.shown = cents;
  const [whole, rest] = split(cents);
  meter.whole.textContent = whole;
  meter.cents.textContent = rest;
  sizeDigits();
}

// The style sheet sets all values as large as the longest allows; symbol and cents are set smaller.
function sizeDigits() {
  const lengths = meters.map((meter) => meter.whole.textContent.length + 0.6 * (3 + body.dataset.symbol.length));
  setProperty("--chars", Math.max(...lengths).toFixed(1));
}

// A floor with many meters and games must not run off a screen that nobody can scroll.
function fit() {
  for (let share = 100; share >= 50; share -= 5) {
    setProperty("--fit", String(share / 100));
    if (document.documentElement.scrollHeight <= window.innerHeight) return;
  }
  setProperty("--fit", "1");
}

function setProperty(name, value) {
  document.documentElement.style.setProperty(name, value);
}

// A rise counts up to the value and never past it. A fall, a first reading or a hidden page just shows it.

function rise(meter, now) {
  const target = BigInt(meter.reading.displayed_cents);
  const still = stillness.matches || document.hidden;
  if (meter.shown === null || target <= meter.shown || still) {
    meter.risingSince = null;
    show(meter, target);
    return;
  }
  meter.from = meter.shown;
  meter.risingSince = now;
  if (!framed) {
    framed = true;
    requestAnimationFrame(frame);
  }
}

function frame() {
  const now = performance.now();
  framed = false;
  for (const meter of meters) {
    if (meter.risingSince === null) continue;
    const target = BigInt(meter.reading.displayed_cents);
    const left = BigInt(Math.max(0, Math.ceil(RISE_MS - (now - meter.risingSince))));
    const missing = ((target - meter.from) * left ** 3n) / BigInt(RISE_MS) ** 3n;
    const cents = target - missing;
    if (cents > meter.shown) show(meter, cents);
    if (left === 0n) meter.risingSince = null;
    else framed = true;
  }
  if (framed) requestAnimationFrame(frame);
}

function settle() {
  for (const meter of meters) {
    meter.risingSince = null;
    if (meter.reading !== null) show(meter, BigInt(meter.reading.displayed_cents));
  }
}

// Readings.

function checked(view) {
  if (!Number.isSafeInteger(view.displayed_cents) || view.displayed_cents < 0) throw new TypeError("cents");
  if (!Number.isSafeInteger(view.seq) || !Number.isSafeInteger(view.cycle)) throw new TypeError("order");
  return view;
}

function isOlder(view, known) {
  if (known === null) return false;
  if (view.epoch !== known.epoch) return view.epoch < known.epoch;
  return view.seq < known.seq && view.cycle <= known.cycle;
}

function noticeOf(view) {
  const said = view.status === "running" ? [] : [NOTICES[view.status] || `Status: ${view.status}`];
  for (const win of view.pending || []) said.push(`${win.table}: ${win.hand.replaceAll("_", " ")}`);
  if (Number.isSafeInteger(view.next_cents)) {
    said.push(`Next jackpot ${body.dataset.symbol}${split(BigInt(view.next_cents)).join("")}`);
  }
  return said.concat(view.notices || []).join(" – ");
}

function accept(views, tag) {
  const byId = new Map(views.map((view) => [view.id, checked(view)]));
  const readings = meters.map((meter) => byId.get(meter.id));
  if (readings.includes(undefined)) throw new TypeError("a meter of this sign is missing");
  // An answer that was overtaken on its way is no news. A sign that has been out of contact believes
  // the controller whatever it says: nothing else could tell it of a controller that was restored.
  const overtaken = meters.some((meter, i) => isOlder(readings[i], meter.reading));
  if (overtaken && body.dataset.state !== "stale") return;
  const now = performance.now();
  meters.forEach((meter, i) => {
    meter.reading = readings[i];
    meter.root.dataset.status = readings[i].status;
    meter.notice.textContent = noticeOf(readings[i]);
    meter.notice.hidden = meter.notice.textContent === "";
    rise(meter, now);
  });
  sequence.textContent = `Sequence ${readings[0].seq}`;
  etag = tag || "";
  inContact();
}

// Contact.

function inContact() {
  contactAt = performance.now();
  contactTime = new Date();
  lastContact.textContent = clock(contactTime);
  if (body.dataset.state === "live") return;
  body.dataset.state = "live";
  banner.hidden = true;
  fit();
}

function outOfContact() {
  if (body.dataset.state === "stale") return;
  body.dataset.state = "stale";
  settle();
  banner.textContent = `No contact with the controller since ${clock(contactTime)}`;
  banner.hidden = false;
  fit();
}

function clock(time) {
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((number) => String(number).padStart(2, "0"))
    .join(":");
}

async function ask(now, path, options, use) {
  const abort = new AbortController();
  inFlight = { abort, since: now };
  try {
    await use(await fetch(path, { ...options, cache: "no-store", signal: abort.signal }));
  } catch {
    // Not reached, too slow or not understood: no contact, and the tick says so when it has lasted.
  } finally {
    inFlight = null;
  }
}

function poll(now) {
  polledAt = now;
  const headers = etag ? { "If-None-Match": etag } : {};
  return ask(now, url, { headers }, async (reply) => {
    if (reply.status === 304) inContact();
    else if (reply.ok) accept((await reply.json()).meters, reply.headers.get("ETag"));
    else await reply.text();
  });
}

// Titles and pay tables are in the page: when the floor has a newer version, load it.
function askForPage(now) {
  pageAskedAt = now;
  return ask(now, location.pathname, { method: "HEAD" }, (reply) => {
    const version = Number(reply.headers.get("Floor-Version"));
    if (reply.ok && version > Number(body.dataset.floor)) location.reload();
  });
}

function tick() {
  const now = performance.now();
  if (now - contactAt > STALE_MS) outOfContact();
  if (inFlight !== null) {
    if (now - inFlight.since > TIMEOUT_MS) inFlight.abort.abort();
  } else if (now - polledAt > POLL_MS - TICK_MS / 2) {
    poll(now);
  } else if (now - pageAskedAt > PAGE_MS && body.dataset.state === "live") {
    askForPage(now);
  }
}

window.addEventListener("resize", fit);
fit();
setInterval(tick, TICK_MS);
tick();
