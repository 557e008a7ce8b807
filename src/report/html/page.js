"use strict";
// The page shows the JSON object in the element `data`: see html_report.h and html_pictures.h.
const data = JSON.parse(document.getElementById("data").textContent);
const by = id => document.getElementById(id);
const READ = 1, WRITE = 2, UPDATE = 3, ACQUIRE = 4, RELEASE = 5, SHARED = 6, UNSHARED = 7;
const SEES_INITIAL = -1, SEES_HIDDEN = -2;
const MOST_LISTED = 500;
// What the end of a witness means, by the kind of the finding.
const STOPS = {
  "race": "Both accesses are next, in either order: this is the race.",
  "memory-order": "The second access is next, and the first does not happen before it.",
  "use-after-free": "The memory is freed, and this access of it is next.",
  "deadlock": "Each of these threads waits for a lock that another one of them holds.",
  "null": "This read is next, and sees 0.",
  "dangling": "This read is next, and sees an address in freed memory.",
  "double-free": "This read is next, and sees an address in freed memory, which is freed again.",
};
const FIRST = {"use-after-free": "the use", "deadlock": "waits", "null": "the read", "dangling": "the read", "double-free": "the read"};
const SECOND = {"use-after-free": "the free", "deadlock": "waits", "null": "the write", "dangling": "the write", "double-free": "the write"};
const ORDERS = {"hb": "happens-before", "wcp": "weak-causally-precedes", "beyond-wcp": "beyond both", "c17": "memory order"};

// An element with attributes, and children that are elements or texts.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  for (const child of children.flat())
    if (child !== undefined && child !== null && child !== false) element.append(child);
  return element;
}
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const xml = text => text.replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}[c]));

// ---- theme ----

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("maxrace-theme", name); } catch (error) { /* a file may have no storage */ }
}
function toggleTheme() { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); }
function startTheme() {
  let name = null;
  try { name = localStorage.getItem("maxrace-theme"); } catch (error) { /* as above */ }
  setTheme(name || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
}

// ---- the list ----

let items = [], listed = [], chosen = null;

function collect() {
  data.reports.forEach((report, run) => report.groups.forEach(group => {
    const words = [group.title, group.place, group.kind, group.second ? group.second.location_text || group.second.location : ""];
    for (const access of [group.first, group.second])
      for (const frame of (access && access.stack) || []) words.push(frame.function, frame.place);
    items.push({group, report, run, text: words.join(" ").toLowerCase()});
  }));
}

function fillSelect(id, values, texts) {
  by(id).replaceChildren(make("option", {value: ""}, "all"), ...values.map(value => make("option", {value}, texts(value))));
}

const SORTS = {
  badness: (a, b) => a.group.badness - b.group.badness,
  place: (a, b) => a.group.place.localeCompare(b.group.place, undefined, {numeric: true}),
  subject: (a, b) => a.group.subject.localeCompare(b.group.subject, undefined, {numeric: true}),
  count: (a, b) => b.group.count - a.group.count,
};

function label(item) {
  const group = item.group;
  return [
    make("span", {class: "place"}, group.place || "an unnamed place"), make("span", {}, group.title), " ",
    make("span", {class: group.kind === "memory-order" ? "tag" : "tag bad"}, `${group.kind} ${group.number}`),
    group.count > 1 ? make("span", {class: "tag"}, `+${group.count - 1} alike`) : null,
    group.order ? make("span", {class: "tag"}, group.order) : null,
    group.confirmed ? make("span", {class: group.confirmed === "yes" ? "tag bad" : "tag"}, `confirmed: ${group.confirmed}${group.effect ? `, ${group.effect}` : ""}`) : null,
    group.known === undefined ? null : make("span", {class: group.known ? "tag" : "tag good"}, group.known ? "known" : "new"),
    data.reports.length > 1 ? make("span", {class: "tag"}, `run ${item.run + 1}`) : null,
  ];
}

function showList() {
  const words = by("search").value.toLowerCase().split(/\s+/).filter(word => word);
  const kind = by("kind").value, order = by("order").value, state = by("state").value;
  listed = items.filter(item => words.every(word => item.text.includes(word)) && (!kind || item.group.kind === kind) &&
    (!order || item.group.order === order) && (!state || (item.group.known === true) === (state === "known")));
  const sort = SORTS[by("sort").value];
  listed = listed.map((item, index) => ({item, index})).sort((a, b) => sort(a.item, b.item) || a.index - b.index).map(pair => pair.item);
  by("list").replaceChildren(...listed.slice(0, MOST_LISTED).map((item, index) => {
    const element = make("li", {role: "option", id: `item-${index}`, "aria-selected": item === chosen ? "true" : "false"}, label(item));
    element.addEventListener("click", () => choose(item));
    return element;
  }));
  const findings = listed.reduce((sum, item) => sum + item.group.count, 0), behind = listed.reduce((sum, item) => sum + (item.group.behind || 0), 0);
  by("shown").textContent = `${plural(findings, "finding")} in ${plural(listed.length, "group")}` +
    (behind ? `; ${behind} more like them are left out (--report-shown 0 has them)` : "") +
    (listed.length > MOST_LISTED ? `; the first ${MOST_LISTED} are listed` : "");
  markChosen();
}

function markChosen() {
  const index = listed.indexOf(chosen);
  [...by("list").children].forEach((element, i) => element.setAttribute("aria-selected", i === index ? "true" : "false"));
  const element = by(`item-${index}`);
  if (element) {
    by("list").setAttribute("aria-activedescendant", element.id);
    element.scrollIntoView({block: "nearest"});
  } else by("list").removeAttribute("aria-activedescendant");
}

function choose(item) {
  chosen = item;
  markChosen();
  showFinding(item);
}

function move(by_) {
  if (!listed.length) return;
  const last = Math.min(listed.length, MOST_LISTED) - 1;
  choose(listed[Math.max(0, Math.min(last, listed.indexOf(chosen) + by_))]);
}

// ---- one finding ----

const frameItem = frame =>
  make("li", {}, frame.function || "?", make("span", {class: "muted"}, frame.place ? ` at ${frame.place}` : "", frame.inlined ? " (inlined)" : ""));

// Code of the program itself has a line, in a file that is not below /usr.
const isOwn = frame => /:\d/.test(frame.place || "") && !frame.place.startsWith("/usr/");

// The innermost frame and those of the program itself; two or more frames of libraries can be opened.
function stackList(stack) {
  const frames = stack || [], list = make("ul", {class: "stack"}), fold = frames.some(isOwn);
  for (let at = 0, end; at < frames.length; at = end) {
    for (end = at + 1; fold && at > 0 && !isOwn(frames[at]) && end < frames.length && !isOwn(frames[end]); end++);
    const items = frames.slice(at, end).map(frameItem);
    list.append(...(items.length < 2 ? items : [make("li", {class: "folded"}, make("details", {},
      make("summary", {}, `${items.length} frames of libraries`), make("ul", {class: "stack"}, items)))]));
  }
  return list;
}

const nameOf = (object, key) => object[`${key}_text`] || object[key];

function accessCard(title, access, racing) {
  const locks = (access.locks || []).map(lock => make("p", {}, `holds ${nameOf(lock, "lock")}${lock.shared ? ", shared" : ""}`,
    make("span", {class: "muted"}, ` taken at ${nameOf(lock, "location")}`)));
  const start = access.start && make("p", {class: "muted"}, `thread started by ${nameOf(access.start, "thread")} at ${nameOf(access.start, "location")}`);
  return make("section", {class: racing ? "card racing" : "card", "aria-label": title},
    make("h3", {}, title), make("p", {}, make("code", {}, access.text || access.op), ` by ${nameOf(access, "thread")}`),
    make("p", {class: "muted"}, `at ${nameOf(access, "location") || "an unnamed place"}, event ${access.event}`), stackList(access.stack), locks, start);
}

function blockCard(block) {
  const line = (word, event) => event && [make("p", {}, `${word} at ${nameOf(event, "location")} by ${nameOf(event, "thread")}`), stackList(event.stack)];
  return make("section", {class: "card", "aria-label": "memory"}, make("h3", {}, "memory"),
    make("p", {}, nameOf(block, "object"), block.bytes ? `, ${plural(block.bytes, "byte")} at ${block.address}` : ""),
    line("allocated", block.alloc), line("freed", block.free));
}

function showFinding(item) {
  const group = item.group, happened = group.kind === "observed" || group.kind === "misuse";
  const cards = [accessCard(happened ? "what happened" : FIRST[group.kind] || "first access", group.first, true),
    group.second && accessCard(happened ? "before" : SECOND[group.kind] || "second access", group.second, !happened), group.block && blockCard(group.block)];
  const alike = group.alike.length ? make("details", {}, make("summary", {}, `${group.count - 1} more alike`),
    make("ul", {class: "stack"}, group.alike.map(other => make("li", {}, `${other.number}: ${other.first}${other.second ? ` and ${other.second}` : ""}`)))) : null;
  by("main").replaceChildren(
    make("h2", {}, group.title),
    make("p", {class: "why"}, group.why + (group.confirmed_by ? `; witness of ${plural(group.length, "event")} before it, found by ${group.confirmed_by}, accepted by the checker` : "")),
    group.unseen ? make("p", {class: "why"}, `may be false: ${group.unseen.join(", ")} may order the two accesses`) : "",
    make("div", {class: "cards"}, cards), alike || "",
    group.behind ? make("p", {class: "muted"}, `and ${group.behind} more such findings${group.subject ? ` on ${group.subject}` : ""} (--report-shown 0 has them)`) : "");
  picture = null;
  if (group.picture) showPicture(item);
  else by("main").append(make("p", {class: "muted"}, "No picture: --report-pictures bounds their number."));
}

// ---- pictures ----

const ROW = 22, HEAD = 24, GUTTER = 52, LANE_MIN = 96;
let picture = null, zoom = 1, allArrows = false;

// What is drawn of one order of the events.
class Pane {
  constructor(picture, side, title) {
    this.picture = picture;
    this.order = picture.data[side];
    this.seen = picture.data[side === "witness" ? "seenWitness" : "seenObserved"];
    this.count = this.order.length;
    // The threads stop before the last events of a witness.
    this.happened = side === "witness" ? this.count - picture.group.stops : this.count;
    this.row = new Int32Array(picture.events.n.length).fill(-1);
    this.order.forEach((event, row) => { this.row[event] = row; });
    this.findSections();
    this.findReaders();
    this.scroll = make("div", {class: "scroll", tabindex: "0", role: "img", "aria-label": `${title}: ${plural(this.count, "event")}, a lane for each thread`});
    this.inner = make("div", {});
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("aria-hidden", "true");
    this.scroll.append(this.inner, this.svg);
    this.element = make("section", {class: "pane", "aria-label": title}, make("h3", {}, title), this.scroll);
    this.scroll.addEventListener("scroll", () => this.later());
    this.svg.addEventListener("click", event => this.click(event));
  }

  // From each acquire to its release; the depth says how many sections of the thread are around it.
  findSections() {
    const {t, k, x} = this.picture.events, open = new Map();
    this.sections = [];
    this.order.forEach((event, row) => {
      if (row >= this.happened) return;
      const mine = open.get(t[event]) || [];
      open.set(t[event], mine);
      if (k[event] === ACQUIRE || k[event] === SHARED) {
        const section = {thread: t[event], lock: x[event], from: row, to: this.happened, depth: mine.length};
        mine.push(section);
        this.sections.push(section);
      }
      if (k[event] !== RELEASE && k[event] !== UNSHARED) return;
      for (let i = mine.length - 1; i >= 0; i--)
        if (mine[i].lock === x[event]) {
          mine.splice(i, 1)[0].to = row;
          return;
        }
      this.sections.push({thread: t[event], lock: x[event], from: -1, to: row, depth: 0});
    });
  }

  // The reads of each write, as lists: firstReader[row of the write], nextReader[row of a read].
  findReaders() {
    this.firstReader = new Int32Array(this.count).fill(-1);
    this.nextReader = new Int32Array(this.count).fill(-1);
    for (let row = this.count - 1; row >= 0; row--) {
      const from = this.seen[row] >= 0 ? this.row[this.seen[row]] : -1;
      if (from < 0) continue;
      this.nextReader[row] = this.firstReader[from];
      this.firstReader[from] = row;
    }
  }

  lane(thread) { return this.picture.lanes.indexOf(thread); }
  get height() { return ROW * zoom; }
  y(row) { return HEAD + row * this.height - this.scroll.scrollTop; }
  x(lane) { return GUTTER + lane * this.laneWidth; }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  // Only the rows that are in sight are drawn.
  draw() {
    const width = this.scroll.clientWidth, height = this.scroll.clientHeight, lanes = this.picture.lanes.length;
    this.laneWidth = Math.max(LANE_MIN * zoom, (width - GUTTER) / lanes);
    const whole = this.whole = Math.max(width, GUTTER + lanes * this.laneWidth);
    this.inner.style.cssText = `height:${HEAD + this.count * this.height + 8}px;width:${whole}px`;
    this.svg.style.top = `${this.scroll.scrollTop}px`;
    this.svg.setAttribute("width", whole);
    this.svg.setAttribute("height", height);
    const from = Math.max(0, Math.floor((this.scroll.scrollTop - HEAD) / this.height));
    const to = Math.min(this.count, Math.ceil((this.scroll.scrollTop + height) / this.height) + 1);
    this.svg.innerHTML = this.background(height) + this.drawSections(from, to) + this.drawRows(from, to) + this.drawArrows(from, to) + this.heading(whole);
  }

  background(height) {
    let out = "";
    for (let lane = 0; lane < this.picture.lanes.length; lane += 2)
      out += `<rect class="lane" x="${this.x(lane)}" y="0" width="${this.laneWidth}" height="${height}"/>`;
    return out;
  }

  heading(whole) {
    let out = `<rect class="head" x="0" y="0" width="${whole}" height="${HEAD}"/><text class="number" x="6" y="16" font-size="11">event</text>`;
    this.picture.lanes.forEach((thread, lane) => {
      out += `<text class="thread" x="${this.x(lane) + 12}" y="16" font-size="12">${xml(this.fit(this.picture.threads[thread], 12))}</text>`;
    });
    return out;
  }

  fit(text, size, width = this.laneWidth) {
    const room = Math.max(3, Math.floor((width - 20) / (size * 0.605)));
    return text.length > room ? text.slice(0, room - 1) + "…" : text;
  }

  drawSections(from, to) {
    let out = "";
    for (const section of this.sections) {
      if (section.from >= to || section.to < from) continue;
      const hue = (section.lock * 67) % 360, inset = 3 + 5 * section.depth;
      const top = Math.max(-20, this.y(Math.max(section.from, from - 2))), end = this.y(Math.min(section.to + 1, to + 2));
      out += `<rect x="${this.x(this.lane(section.thread)) + inset}" y="${top + 1}" width="${this.laneWidth - 2 * inset}" height="${Math.max(4, end - top - 2)}" rx="5"` +
        ` fill="hsl(${hue} 70% 50% / .16)" stroke="hsl(${hue} 60% 50% / .8)"><title>${xml(this.picture.texts[section.lock])} is held</title></rect>`;
    }
    return out;
  }

  drawRows(from, to) {
    const {n, t, o, p} = this.picture.events, size = 12 * zoom, current = this.picture.current;
    let out = "";
    for (let row = from; row < to; row++) {
      const event = this.order[row], lane = this.lane(t[event]), x = this.x(lane), y = this.y(row), base = y + this.height * 0.7;
      const racing = this.picture.racing.includes(n[event]);
      if (event === current) out += `<rect class="current" x="0" y="${y}" width="100%" height="${this.height}"/>`;
      // A row has one event, so its text may go on into the lanes to the right.
      const text = this.picture.texts[o[event]], shown = this.fit(text, size, this.whole - x);
      const wide = Math.max(this.laneWidth - 14, shown.length * size * 0.605 + 10);
      if (racing) out += `<rect class="racing" x="${x + 10}" y="${y + 1.5}" width="${wide}" height="${this.height - 3}" rx="4"/>`;
      out += `<line class="run" x1="${x + 6}" y1="${y}" x2="${x + 6}" y2="${y + this.height}"/>`;
      const next = row + 1 < this.count ? this.lane(t[this.order[row + 1]]) : lane;
      if (next !== lane) out += `<path class="switch" d="M${x + 6} ${y + this.height}H${this.x(next) + 6}"/>`;
      out += `<text class="number" x="6" y="${base}" font-size="${size * 0.9}">${n[event]}</text>` +
        `<text${racing ? ' class="racetext"' : ""} x="${x + 14}" y="${base}" font-size="${size}" data-row="${row}">${xml(shown)}` +
        `<title>${xml(text)} at ${xml(this.picture.texts[p[event]])}</title></text>`;
    }
    return out;
  }

  arrow(write, read, of) {
    const {t} = this.picture.events, wl = this.lane(t[this.order[write]]), rl = this.lane(t[this.order[read]]);
    const y1 = this.y(write) + this.height * 0.55, y2 = this.y(read) + this.height * 0.5;
    const right = rl > wl, x1 = wl === rl ? this.x(wl) + 10 : right ? this.x(wl) + this.laneWidth - 8 : this.x(wl) + 10;
    const x2 = rl === wl ? this.x(rl) + 10 : right ? this.x(rl) + 9 : this.x(rl) + this.laneWidth - 6, bend = wl === rl ? -14 : 0;
    const middle = (x1 + x2) / 2 + bend, tip = wl === rl || right ? -6 : 6;
    return `<path class="arrow${of ? " of" : ""}" d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2 + tip} ${y2}"/>` +
      `<path class="tip" d="M${x2} ${y2}l${tip} -4v8z"/>`;
  }

  drawArrows(from, to) {
    const {n, t} = this.picture.events, done = new Set();
    let out = "";
    const add = read => {
      const write = this.seen[read] >= 0 ? this.row[this.seen[read]] : -1;
      if (write < 0 || done.has(read)) return;
      const one = this.order[read], two = this.order[write];
      const of = one === this.picture.current || two === this.picture.current || this.picture.racing.includes(n[one]);
      if (!of && !allArrows && t[one] === t[two]) return;
      done.add(read);
      out += this.arrow(write, read, of);
    };
    for (let row = from; row < to; row++) {
      add(row);
      let left = 40;
      for (let read = this.firstReader[row]; read >= 0 && left > 0; read = this.nextReader[read], left--) add(read);
    }
    return out;
  }

  click(event) {
    const row = Math.floor((event.clientY - this.svg.getBoundingClientRect().top - HEAD + this.scroll.scrollTop) / this.height);
    if (row >= 0 && row < this.count) setStep(this, row);
  }

  // Scrolls so that the row is in sight, a third from the top when it was not.
  reveal(row) {
    if (row < 0) return;
    const top = HEAD + row * this.height, sight = this.scroll.scrollTop, height = this.scroll.clientHeight;
    if (top < sight + HEAD + this.height || top + 2 * this.height > sight + height) this.scroll.scrollTop = Math.max(0, top - height / 3);
  }
}

function lanesOf(group, events) {
  const lanes = [];
  const add = thread => { if (thread !== undefined && !lanes.includes(thread)) lanes.push(thread); };
  add(group.first.thread_number);
  if (group.second) add(group.second.thread_number);
  events.t.forEach(add);
  return lanes.filter(thread => events.t.includes(thread));
}

function showPicture(item) {
  const group = item.group, stored = group.picture;
  picture = {data: stored, events: stored.events, texts: item.report.texts, threads: item.report.threads, sources: item.report.sources || {},
    lanes: lanesOf(group, stored.events), racing: group.marked, current: -1, step: 0, group};
  const observed = new Pane(picture, "observed", "as it was recorded");
  const witness = stored.witness.length ? new Pane(picture, "witness", "an order that leads to it") : null;
  picture.panes = witness ? [observed, witness] : [observed];
  picture.main = witness || observed;
  const button = (id, text, name, act) => { const b = make("button", {type: "button", id, "aria-label": name, title: name}, text); b.addEventListener("click", act); return b; };
  const slider = make("input", {type: "range", id: "slider", min: 0, max: picture.main.count - 1, value: 0, "aria-label": "step of the schedule"});
  slider.addEventListener("input", () => setStep(picture.main, Number(slider.value)));
  const all = make("input", {type: "checkbox", id: "all-arrows"});
  all.checked = allArrows;
  all.addEventListener("change", () => { allArrows = all.checked; redraw(); });
  by("main").append(
    make("div", {id: "steps", role: "group", "aria-label": "steps"},
      button("to-start", "|◀", "to the start", () => step(-Infinity)), button("switch-back", "⇤", "to the previous switch of threads", () => toSwitch(-1)),
      button("back", "◀", "one step back", () => step(-1)), button("on", "▶", "one step on", () => step(1)),
      button("switch-on", "⇥", "to the next switch of threads", () => toSwitch(1)), button("to-end", "▶|", "to the race", () => step(Infinity)),
      slider, button("smaller", "−", "smaller", () => setZoom(zoom / 1.2)), button("larger", "+", "larger", () => setZoom(zoom * 1.2)),
      make("label", {}, all, "all reads")),
    stored.leftOut ? make("p", {class: "muted"}, `${plural(stored.leftOut, "event")} of the witness before these are left out`) : "",
    make("div", {id: "panes", class: witness ? "" : "one"}, picture.panes.map(pane => pane.element)),
    make("div", {id: "now"}, make("div", {}, make("h3", {}, "this step"), make("div", {id: "said", role: "status", "aria-live": "polite"}), make("div", {id: "source"})),
      make("div", {}, make("h3", {}, "before this step"), make("div", {id: "threads"}))));
  setStep(picture.main, picture.main.count - 1);
}

function redraw() { if (picture) picture.panes.forEach(pane => pane.draw()); }
function setZoom(value) { zoom = Math.max(0.5, Math.min(2.5, value)); redraw(); if (picture) picture.panes.forEach(pane => pane.reveal(pane.row[picture.current])); redraw(); }
function step(count) { if (picture) setStep(picture.main, Math.max(0, Math.min(picture.main.count - 1, picture.step + count))); }

function toSwitch(direction) {
  if (!picture) return;
  const {t} = picture.events, order = picture.main.order;
  let row = picture.step + direction;
  while (row > 0 && row < order.length - 1 && t[order[row]] === t[order[row - 1]]) row += direction;
  step(row - picture.step);
}

// Shows the event in the row of the pane; the other pane shows the same event.
function setStep(pane, row) {
  picture.current = pane.order[row];
  const main = picture.main.row[picture.current];
  if (main >= 0) picture.step = main;
  by("slider").value = picture.step;
  redraw();
  picture.panes.forEach(other => other.reveal(other.row[picture.current]));
  redraw();
  describe();
}

function seenText(pane, row) {
  const seen = pane.seen[row];
  if (seen === SEES_INITIAL) return ", which sees the initial value";
  if (seen === SEES_HIDDEN) return ", which sees an earlier write";
  return seen >= 0 ? `, which sees the write of event ${picture.events.n[seen]}` : "";
}

function describe() {
  const {n, t, o, p} = picture.events, group = picture.group, event = picture.current, row = picture.main.row[event], place = picture.texts[p[event]];
  const pane = row >= 0 ? picture.main : picture.panes[0];
  const at = pane.row[event], racing = picture.racing.includes(n[event]) && picture.panes.length > 1 && row >= picture.main.happened;
  by("said").replaceChildren(
    make("p", {}, row >= 0 ? `Step ${row + 1} of ${picture.main.count}: ` : "Not in the witness: ",
      make("code", {}, `${picture.threads[t[event]]}: ${picture.texts[o[event]]}`), ` at ${place || "an unnamed place"}, event ${n[event]}${seenText(pane, at)}.`),
    racing ? make("p", {}, make("strong", {}, STOPS[group.kind] || "This is next.")) : "");
  showSource(place);
  showThreads(row >= 0 ? row : 0);
}

function showSource(place) {
  const parts = /^(.*?):(\d+)(?::\d+)?$/.exec(place), lines = parts && picture.sources[parts[1]];
  by("source").replaceChildren();
  if (!lines) return;
  const here = Number(parts[2]), from = Math.max(1, here - 4), out = make("pre", {tabindex: "0", "aria-label": `source of ${place}`});
  for (let line = from; line <= Math.min(lines.length, here + 4); line++)
    out.append(make("span", {class: line === here ? "here" : ""}, `${String(line).padStart(5)}  ${lines[line - 1]}`), "\n");
  by("source").append(out);
}

// What each thread holds and what it will do next, in the order of the witness.
function showThreads(row) {
  const {t, o, k, x, n} = picture.events, group = picture.group, order = picture.main.order, held = new Map(picture.lanes.map(thread => [thread, []])), next = new Map();
  for (let i = 0; i < Math.min(row, picture.main.happened); i++) {
    const event = order[i], locks = held.get(t[event]);
    if (k[event] === ACQUIRE || k[event] === SHARED) locks.push(x[event]);
    if (k[event] === RELEASE || k[event] === UNSHARED) { const at = locks.lastIndexOf(x[event]); if (at >= 0) locks.splice(at, 1); }
  }
  for (let i = row; i < order.length && next.size < picture.lanes.length; i++) if (!next.has(t[order[i]])) next.set(t[order[i]], order[i]);
  if (picture.panes.length > 1 && row >= picture.main.happened)
    for (let i = picture.main.happened; i < order.length; i++) next.set(t[order[i]], order[i]);
  by("threads").replaceChildren(make("table", {},
    make("thead", {}, make("tr", {}, ["thread", "holds", "next"].map(text => make("th", {scope: "col"}, text)))),
    make("tbody", {}, picture.lanes.map(thread => make("tr", {}, make("td", {}, picture.threads[thread]),
      make("td", {}, held.get(thread).map(lock => picture.texts[lock]).join(", ")),
      make("td", {}, next.has(thread) ? make("code", {}, picture.texts[o[next.get(thread)]]) : make("span", {class: "muted"}, "no more in this schedule"),
        next.has(thread) && picture.racing.includes(n[next.get(thread)]) ? make("span", {class: "tag bad"}, group.kind) : ""))))));
}

// ---- compare ----

const QUANTITIES = ["static races", "found by no other one", "unknown static races", "racy events", "racy locations", "racy variables", "seconds"];

function barTable(trace, quantity) {
  const values = trace.finders.map(finder => Number.parseFloat(finder[quantity])), most = Math.max(...values.filter(value => value >= 0), 0);
  return make("table", {}, make("caption", {class: "muted"}, quantity),
    make("tbody", {}, trace.finders.map((finder, i) => make("tr", {}, make("th", {scope: "row"}, finder.name), make("td", {class: "number"}, finder[quantity]),
      make("td", {class: "barcell"}, make("div", {class: "bar", style: `width:${most > 0 && values[i] >= 0 ? 100 * values[i] / most : 0}%`}))))));
}

function raceTable(trace) {
  const mark = (race, finder) => race.found & (1 << finder.bit) ? "yes" : race.unknown & (1 << finder.bit) ? "?" : "";
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", {scope: "col"}, "pair of places"), trace.finders.map(finder => make("th", {scope: "col"}, finder.name)))),
    make("tbody", {}, trace.races.slice(0, 1000).map(race => make("tr", {}, make("td", {class: "mono"}, `${race.low} – ${race.high}`),
      trace.finders.map(finder => make("td", {}, mark(race, finder)))))));
}

function showCompare() {
  by("about").textContent = `who finds what: ${plural(data.compare.length, "trace")}`;
  by("side").remove();
  by("help").remove();
  by("main").replaceChildren(...data.compare.map(trace => {
    const names = Object.keys(trace.finders[0] || {}).filter(name => name !== "name" && name !== "bit");
    const known = QUANTITIES.filter(name => names.includes(name)), rest = names.filter(name => !known.includes(name));
    return make("section", {}, make("h2", {}, trace.file), make("p", {class: "muted"}, plural(trace.events, "event")),
      make("div", {class: "cards"}, [...known, ...rest].map(quantity => make("div", {class: "card"}, barTable(trace, quantity)))),
      make("details", {open: trace.races.length <= 40}, make("summary", {}, plural(trace.races.length, "static race")), raceTable(trace)));
  }));
}

// ---- plots ----

const WIDE = 620, HIGH = 320, LEFT = 64, RIGHT = 26, TOP = 12, BOTTOM = 46;

// Round numbers in [low, high], at most about `count` of them.
function roundNumbers(low, high, count) {
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * 0.999), numbers = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9); at++) numbers.push(at * step);
  return numbers;
}

const numberText = value => value >= 1e6 || (value > 0 && value < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(4)));

function plotSvg(plot) {
  const xs = plot.curves.flatMap(curve => curve.x), ys = plot.curves.flatMap(curve => curve.y);
  const scale = value => plot.logarithmic ? Math.log10(value) : value;
  const low = Math.min(...xs.map(scale)), high = Math.max(...xs.map(scale)), most = Math.max(...ys, 0) || 1;
  const across = value => LEFT + (WIDE - LEFT - RIGHT) * (high > low ? (scale(value) - low) / (high - low) : 0.5);
  const up = value => HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * value / most;
  const xTicks = plot.logarithmic ? [...new Set(xs)].sort((a, b) => a - b) : roundNumbers(low, high, 6);
  const shown = xTicks.filter((_, i) => i % Math.ceil(xTicks.length / 8) === 0);
  const parts = [`<line class="axis" x1="${LEFT}" y1="${HIGH - BOTTOM}" x2="${WIDE - RIGHT}" y2="${HIGH - BOTTOM}"/>`];
  for (const tick of roundNumbers(0, most, 5))
    parts.push(`<line class="grid" x1="${LEFT}" y1="${up(tick)}" x2="${WIDE - RIGHT}" y2="${up(tick)}"/>`,
      `<text x="${LEFT - 6}" y="${up(tick) + 4}" text-anchor="end">${numberText(tick)}</text>`);
  for (const tick of shown) parts.push(`<text x="${across(tick)}" y="${HIGH - BOTTOM + 16}" text-anchor="middle">${numberText(tick)}</text>`);
  parts.push(`<text x="${(LEFT + WIDE - RIGHT) / 2}" y="${HIGH - 8}" text-anchor="middle">${xml(plot.x)}</text>`,
    `<text transform="translate(14 ${(TOP + HIGH - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${xml(plot.y)}</text>`);
  plot.curves.forEach((curve, number) => {
    let path = "";
    curve.x.forEach((x, i) => { path += i === 0 ? `M${across(x)} ${up(curve.y[i])}` : plot.steps ? `H${across(x)}V${up(curve.y[i])}` : `L${across(x)} ${up(curve.y[i])}`; });
    parts.push(`<path class="curve curve${number % 6}" d="${path}"/>`);
    if (curve.x.length <= 60)
      curve.x.forEach((x, i) => parts.push(`<circle class="dot curve${number % 6}" cx="${across(x)}" cy="${up(curve.y[i])}" r="3"><title>${xml(curve.name)}: ${numberText(x)}, ${numberText(curve.y[i])}</title></circle>`));
  });
  return `<svg viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="${xml(plot.title)}">${parts.join("")}</svg>`;
}

function plotTable(plot) {
  const xs = [...new Set(plot.curves.flatMap(curve => curve.x))].sort((a, b) => a - b);
  const at = (curve, x) => { const i = curve.x.lastIndexOf(x); return i < 0 ? "" : numberText(curve.y[i]); };
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", {scope: "col"}, plot.x), plot.curves.map(curve => make("th", {scope: "col"}, curve.name)))),
    make("tbody", {}, xs.slice(0, 1000).map(x => make("tr", {}, make("td", {}, numberText(x)), plot.curves.map(curve => make("td", {}, at(curve, x)))))));
}

function showPlots() {
  by("about").textContent = data.title;
  by("side").remove();
  by("help").remove();
  by("main").replaceChildren(make("h2", {}, data.title), ...data.lines.map(line => make("p", {class: "line"}, line)),
    make("div", {class: "plots"}, data.plots.map(plot => {
      const drawing = make("div", {class: "plot"});
      drawing.innerHTML = plotSvg(plot);
      return make("section", {class: "card"}, make("h3", {}, plot.title), drawing,
        make("ul", {class: "legend"}, plot.curves.map((curve, number) => make("li", {}, make("span", {class: `swatch curve${number % 6}`}), curve.name))),
        make("details", {}, make("summary", {}, "numbers"), plotTable(plot)));
    })));
}

// ---- start ----

function about() {
  const parts = data.reports.map(report => {
    const {trace, summary} = report;
    return `${trace.file}: ${plural(trace.events, "event")}, ${plural(trace.threads, "thread")}, model ${summary.model}; ${plural(summary.findings, "finding")}` +
      (summary.suppressed ? `, ${summary.suppressed} suppressed` : "") + (summary.unknown ? `, ${summary.unknown} unknown` : "") + (summary.incomplete ? ", not complete" : "");
  });
  by("about").textContent = parts.length > 1 ? `${parts.length} runs; ${parts[0]} …` : parts[0];
  by("about").title = parts.join("\n");
}

const KEYS = {
  "/": () => by("search").focus(), j: () => move(1), k: () => move(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1),
  n: () => toSwitch(1), p: () => toSwitch(-1), Home: () => step(-Infinity), End: () => step(Infinity), "+": () => setZoom(zoom * 1.2),
  "-": () => setZoom(zoom / 1.2), t: toggleTheme, "?": toggleKeys,
};

function toggleKeys() {
  by("keys").hidden = !by("keys").hidden;
  by("help").setAttribute("aria-expanded", by("keys").hidden ? "false" : "true");
}

function key(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") { event.target.blur(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.target.type !== "checkbox")) return;
  if (event.target === by("list") && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    move(event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    return;
  }
  const act = KEYS[event.key];
  if (!act || ((data.compare || data.plots) && event.key !== "t")) return;
  act();
  event.preventDefault();
}

function showEmpty() {
  const summaries = data.reports.map(report => report.summary), unknown = summaries.reduce((sum, summary) => sum + summary.unknown, 0);
  const limits = [...new Set(summaries.map(summary => summary.not_looked))].filter(text => text).map(text => `Not looked for: ${text}.`);
  if (unknown) limits.push(`${plural(unknown, "candidate")} unknown: these may or may not be races.`);
  if (summaries.some(summary => summary.incomplete)) limits.push("The search was ended before it was complete.");
  if (summaries.some(summary => summary.suppressed)) limits.push("Findings are suppressed.");
  by("main").replaceChildren(make("h2", {}, "No race"), ...(limits.length ? limits :
    ["No order of the recorded events that the recording proves possible leads to a race."]).map(text => make("p", {}, text)));
}

function start() {
  startTheme();
  by("theme").addEventListener("click", toggleTheme);
  document.addEventListener("keydown", key);
  if (data.compare) return showCompare();
  if (data.plots) return showPlots();
  by("help").addEventListener("click", toggleKeys);
  about();
  collect();
  fillSelect("kind", [...new Set(items.map(item => item.group.kind))], value => value);
  fillSelect("order", [...new Set(items.map(item => item.group.order).filter(order => order))], value => ORDERS[value] || value);
  if (!items.some(item => item.group.known !== undefined)) by("state-label").hidden = true;
  for (const id of ["search", "kind", "order", "state", "sort"]) by(id).addEventListener("input", showList);
  addEventListener("resize", redraw);
  showList();
  if (listed.length) choose(listed[0]);
  else showEmpty();
}

start();
