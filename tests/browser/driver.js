// A browser by WebDriver: chromedriver and headless Chromium, with the modules of node alone.
"use strict";
const http = require("http");
const {spawn} = require("child_process");

class Browser {
  // Starts chromedriver on a free port, and a browser with a window of this width.
  static async start(width, height) {
    const self = new Browser();
    self.driver = spawn("chromedriver", ["--port=0"], {stdio: ["ignore", "pipe", "ignore"]});
    self.port = await new Promise((resolve, reject) => {
      let text = "";
      self.driver.stdout.on("data", piece => {
        text += piece;
        const found = /successfully on port (\d+)/.exec(text);
        if (found) resolve(Number(found[1]));
      });
      self.driver.on("exit", () => reject(new Error("chromedriver ended")));
    });
    const options = {args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--window-size=${width},${height}`]};
    const capabilities = {browserName: "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {browser: "ALL"}};
    self.session = (await self.call("POST", "/session", {capabilities: {alwaysMatch: capabilities}})).sessionId;
    self.path = `/session/${self.session}`;
    return self;
  }

  call(method, path, body) {
    const text = body === undefined ? "" : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = http.request({host: "127.0.0.1", port: this.port, method, path,
        headers: {"Content-Type": "application/json", "Content-Length": Buffer.byteLength(text)}}, response => {
        let answer = "";
        response.on("data", piece => { answer += piece; });
        response.on("end", () => {
          const value = JSON.parse(answer).value;
          if (response.statusCode >= 400) reject(new Error(`${path}: ${value.message}`));
          else resolve(value);
        });
      });
      request.on("error", reject);
      request.end(text);
    });
  }

  open(file) { return this.call("POST", `${this.path}/url`, {url: `file://${file}`}); }
  size(width, height) { return this.call("POST", `${this.path}/window/rect`, {width, height}); }
  // Runs a function in the page and gives what it returns.
  run(code, ...args) { return this.call("POST", `${this.path}/execute/sync`, {script: `return (${code}).apply(null, arguments);`, args}); }
  async keys(text) {
    const actions = [...text].flatMap(value => [{type: "keyDown", value}, {type: "keyUp", value}]);
    await this.call("POST", `${this.path}/actions`, {actions: [{type: "key", id: "keys", actions}]});
    // What waits for the next frame is then drawn.
    await this.call("POST", `${this.path}/execute/async`, {script: "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));", args: []});
  }
  async errors() {
    const entries = await this.call("POST", `${this.path}/se/log`, {type: "browser"});
    return entries.filter(entry => entry.level === "SEVERE" || entry.level === "WARNING").map(entry => entry.message);
  }
  async picture(file) { require("fs").writeFileSync(file, Buffer.from(await this.call("GET", `${this.path}/screenshot`), "base64")); }

  async end() {
    await this.call("DELETE", this.path).catch(() => {});
    this.driver.kill();
  }
}

// The keys of WebDriver.
const KEY = {left: "\uE012", right: "\uE014", up: "\uE013", down: "\uE015", home: "\uE011", end: "\uE010", escape: "\uE00C"};

module.exports = {Browser, KEY};
