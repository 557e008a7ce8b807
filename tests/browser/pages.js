// The HTML reports in a browser: node pages.js FOLDER, with the pages that tests/check_browser.sh has made. Prints a line for
// each test as tests/support/check.sh does. PICTURES=DIR keeps pictures of the pages.
"use strict";
const assert = require("assert");
const path = require("path");
const {Browser, KEY} = require("./driver.js");
const folder = process.argv[2];
let browser, failures = 0;

async function check(name, test) {
  try {
    await test();
    const errors = await browser.errors();
    assert.deepStrictEqual(errors, [], "the console has errors");
    console.log(`[       OK ] browser_${name}`);
  } catch (error) {
    console.log(`${error.stack}\n[  FAILED  ] browser_${name}`);
    failures++;
  }
}

const text = selector => browser.run(s => document.querySelector(s).innerText, selector);
const count = selector => browser.run(s => document.querySelectorAll(s).length, selector);
const titles = () => browser.run(() => [...document.querySelectorAll("#list li")].map(item => item.innerText));
const set = (id, value) => browser.run((name, to) => {
  const element = document.getElementById(name);
  element.value = to;
  element.dispatchEvent(new Event("input", {bubbles: true}));
}, id, value);
async function picture(name) {
  if (process.env.PICTURES) await browser.picture(path.join(process.env.PICTURES, `${name}.png`));
}

// The texts whose contrast with what is behind them is below that of WCAG 2 AA, 4.5.
const weakTexts = () => browser.run(() => {
  const channel = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const parse = color => (color.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  const weak = [];
  const judge = (name, front, back) => {
    const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5) weak.push(`${name}: ${front} on ${back}`);
  };
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!own || !element.getClientRects().length || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    if (element.namespaceURI.endsWith("svg")) {
      const lane = element.classList.contains("racetext") ? document.querySelector("svg .racing") : document.querySelector("svg .lane");
      judge(element.textContent, parse(style.fill), lane ? parse(getComputedStyle(lane).fill) : behind(element));
    } else judge(element.textContent.slice(0, 30), parse(style.color), behind(element));
  }
  return weak;
});

// Controls and pictures without a name for those who do not see them.
const nameless = () => browser.run(() => [...document.querySelectorAll("button, input, select, [role=img], [role=listbox], pre[tabindex]")].filter(element =>
  !(element.getAttribute("aria-label") || (element.labels && element.labels.length))).map(element => element.outerHTML.slice(0, 80)));

async function bank() {
  await browser.open(path.join(folder, "bank.html"));
  assert.strictEqual(await text("main h2"), "race on bank.balance between teller and auditor");
  assert.strictEqual((await titles()).length, 1);
  assert.strictEqual(await count(".pane"), 2);
  assert.ok((await text("#said")).includes("Both accesses are next"));
  assert.strictEqual(await count("svg .racing"), 4);
  assert.ok((await text("#source")).includes("return balance;"));
  assert.strictEqual(await browser.run(() => performance.getEntriesByType("resource").length), 0);
  await picture("bank");
}

async function steps() {
  await browser.open(path.join(folder, "bank.html"));
  await browser.keys(KEY.home);
  assert.ok((await text("#said")).startsWith("Step 1 of 8"));
  await browser.keys(KEY.right + KEY.right + KEY.right + KEY.right);
  assert.ok((await text("#said")).includes("printer.online"));
  assert.ok((await text("#threads")).includes("printer"), "the auditor holds the printer");
  await browser.keys(KEY.left);
  assert.ok((await text("#said")).startsWith("Step 4 of 8"));
  await browser.keys("n");
  assert.ok((await text("#said")).startsWith("Step 7 of 8"));
  await browser.run(() => document.getElementById("to-start").click());
  assert.ok((await text("#said")).startsWith("Step 1 of 8"));
  // A click on the recorded side shows the event there, which the witness does not have.
  await browser.run(() => {
    const row = [...document.querySelectorAll(".pane svg text[data-row]")].find(element => element.textContent.startsWith("acq(printer)"));
    const box = row.getBoundingClientRect();
    row.dispatchEvent(new MouseEvent("click", {bubbles: true, clientX: box.x + 2, clientY: box.y + 4}));
  });
  assert.ok((await text("#said")).startsWith("Not in the witness: teller (T1): acq(printer)"), await text("#said"));
}

async function zoom() {
  await browser.open(path.join(folder, "bank.html"));
  const size = () => browser.run(() => Number(document.querySelector("svg text[data-row]").getAttribute("font-size")));
  const before = await size();
  await browser.keys("++");
  assert.ok(await size() > before);
  await browser.keys("---");
  assert.ok(await size() < before);
}

async function filters() {
  await browser.open(path.join(folder, "many.html"));
  const all = await titles();
  assert.strictEqual(all.length, 12);
  await set("search", "v7 b.c");
  assert.deepStrictEqual((await titles()).length, 1);
  assert.ok((await text("#shown")).startsWith("1 finding in 1 group"));
  await set("search", "nothing");
  assert.strictEqual((await titles()).length, 0);
  await set("search", "");
  await set("state", "known");
  assert.strictEqual((await titles()).length, 3);
  await set("state", "");
  await set("sort", "subject");
  const sorted = await titles();
  assert.ok(sorted[0].includes("on v0 ") && sorted[11].includes("on v11 "), sorted.join("|"));
  const before = await text("main h2");
  await browser.keys("j");
  assert.notStrictEqual(await text("main h2"), before);
  await browser.keys("k");
  await browser.keys("/v3" + KEY.escape);
  assert.strictEqual((await titles()).length, 1);
  await set("search", "");
  await picture("many");
}

// Only what is in sight is drawn, and a step to either end shows it.
async function long() {
  await browser.open(path.join(folder, "long.html"));
  assert.ok((await text("#said")).includes("of 100000"), await text("#said"));
  assert.ok(await count("svg text[data-row]") < 200);
  await browser.keys(KEY.home);
  assert.ok((await text("#said")).startsWith("Step 1 of 100000"));
  assert.ok(await count("svg text[data-row]") < 200);
  await browser.keys(KEY.end + KEY.left);
  assert.ok((await text("#said")).startsWith("Step 99999 of 100000"));
  const times = await browser.run(() => {
    const begin = performance.now();
    for (let i = 0; i < 50; i++) document.getElementById("back").click();
    return (performance.now() - begin) / 50;
  });
  if (process.env.PICTURES) console.log(`a step of 100000: ${times.toFixed(1)} ms`);
}

// What is wider than the room it has: the page, and what scrolls in it.
const tooWide = () => browser.run(() => [...document.querySelectorAll("html, body, #page, #list, main, .scroll, .card, #now > div, .plots")].filter(element =>
  element.scrollWidth > element.clientWidth).map(element => `${element.outerHTML.slice(0, 60)}: ${element.scrollWidth} of ${element.clientWidth}`));
// Texts of the pictures that are shortened, reach out of their picture, or stand on each other.
const cutTexts = () => browser.run(() => [...document.querySelectorAll(".scroll")].flatMap(pane => {
  const room = pane.getBoundingClientRect();
  const texts = [...pane.querySelectorAll("svg text")].map(element => ({text: element.textContent, box: element.getBoundingClientRect()}));
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom - 2 <= b.top || b.bottom - 2 <= a.top;
  return texts.filter(({text, box}, i) => text.includes("…") || box.left < room.left || box.right > room.right ||
    texts.some((other, k) => k > i && !apart(box, other.box))).map(({text}) => text);
}));

// At 800 pixels nothing has to be moved sideways to be read: pictures stand below each other, with room for every lane.
async function narrow() {
  await browser.size(800, 900);
  for (const page of ["bank", "many", "compare", "plots"]) {
    await browser.open(path.join(folder, `${page}.html`));
    assert.deepStrictEqual(await tooWide(), [], page);
    assert.deepStrictEqual(await cutTexts(), [], page);
    await picture(`${page}-800`);
  }
  await browser.open(path.join(folder, "bank.html"));
  assert.strictEqual(await count("svg .lane"), 4);
  await browser.run(() => document.getElementById("panes").scrollIntoView());
  await picture("bank-lanes-800");
  await browser.size(1400, 1000);
}

async function access() {
  for (const page of ["bank", "many", "compare", "plots"]) {
    await browser.open(path.join(folder, `${page}.html`));
    for (let theme = 0; theme < 2; theme++) {
      assert.deepStrictEqual(await weakTexts(), [], page);
      await browser.keys("t");
      await picture(`${page}-theme-${theme}`);
    }
    assert.deepStrictEqual(await nameless(), [], page);
  }
  await browser.open(path.join(folder, "bank.html"));
  await browser.keys("?");
  assert.ok((await text("#keys")).includes("next, previous finding"));
}

async function compare() {
  await browser.open(path.join(folder, "compare.html"));
  assert.strictEqual(await count("main > section"), 2);
  const widths = await browser.run(() => [...document.querySelectorAll("main > section:first-child .card:first-child .bar")].map(bar => bar.style.width));
  assert.ok(widths.includes("100%") && widths.includes("0%"), widths.join());
  assert.ok((await text("main")).includes("bank.c:21"));
}

async function plots() {
  await browser.open(path.join(folder, "plots.html"));
  assert.strictEqual(await count("main section"), 3);
  assert.ok((await text("main")).includes("The first failure was run"), await text("main"));
  const paths = await browser.run(() => [...document.querySelectorAll("path.curve")].map(curve => curve.getAttribute("d")));
  assert.ok(paths.length === 3 && paths.every(d => /^M[-0-9. ]+([HV][-0-9.]+)+$/.test(d)), paths.join("; "));
  const inside = await browser.run(() => [...document.querySelectorAll("svg")].every(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text, path")].every(part => { const b = part.getBoundingClientRect(); return b.left >= box.left - 1 && b.right <= box.right + 1 && b.top >= box.top - 1 && b.bottom <= box.bottom + 1; });
  }));
  assert.ok(inside);
}

// Names that look like HTML stay names.
async function strange() {
  await browser.open(path.join(folder, "strange.html"));
  assert.strictEqual(await text("main h2"), "race on <!--<script>\"&x between </script><b>A and <img src=x onerror=\"bad()\">");
  assert.strictEqual(await count("main b, main img"), 0);
}

async function empty() {
  await browser.open(path.join(folder, "none.html"));
  assert.strictEqual(await text("main h2"), "No race");
}

async function main() {
  browser = await Browser.start(1400, 1000);
  try {
    await check("bank", bank);
    await check("steps", steps);
    await check("zoom", zoom);
    await check("filters", filters);
    await check("long", long);
    await check("narrow", narrow);
    await check("access", access);
    await check("compare", compare);
    await check("plots", plots);
    await check("strange", strange);
    await check("empty", empty);
  } finally {
    await browser.end();
  }
  process.exit(failures ? 1 : 0);
}

main().catch(error => {
  console.log(`${error.stack}\n[  FAILED  ] browser`);
  process.exit(1);
});
