// The tasks for VS Code that a page shows, without the editor: node editor_tasks.js PAGE FOLDER, where FOLDER is the workspace
// with bank.c and the program made from it, and maxrace is in PATH. Takes tasks.json from the page, puts values in place of its variables, runs
// the commands as the editor does, and holds what they print against the expressions that make problems of lines. Prints what
// is wrong; then the exit status is 1. A task that opens gdb is run where there is gdb, with TEST_LENGTH=full.
"use strict";
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const {spawnSync} = require("child_process");
const [page, folder] = process.argv.slice(2);

// What the page writes to .vscode/tasks.json.
function tasksOf(text) {
  const found = /^cat >\.vscode\/tasks\.json <<'END'\n([^]*?)^END$/m.exec(text);
  assert.ok(found, "the page has no tasks.json");
  return JSON.parse(found[1]);
}

// Variables as the editor knows them; an input has its default.
function substitute(text, inputs) {
  return text.replace(/\$\{([^}]*)\}/g, (whole, name) => {
    if (name === "workspaceFolder") return folder;
    const input = inputs.find(({id}) => name === `input:${id}`);
    assert.ok(input, `nobody says what ${whole} is`);
    assert.strictEqual(input.type, "promptString");
    assert.ok(input.default && input.description, `the input ${input.id} has no default or no description`);
    return input.default;
  });
}

function run(command, input) {
  const ran = spawnSync("sh", ["-c", command], {cwd: folder, input, encoding: "utf8", timeout: 120000});
  assert.ok(!ran.error, `${command}: ${ran.error}`);
  return {status: ran.status, output: ran.stdout + ran.stderr};
}

// The problems that the editor makes of the output.
function problemsOf(matcher, output, inputs) {
  const {regexp, file, line, column, message} = matcher.pattern, expression = new RegExp(regexp);
  assert.ok(["error", "warning", "info"].includes(matcher.severity), matcher.severity);
  assert.ok(matcher.owner && matcher.fileLocation[0] === "autoDetect", "files are not looked for in the workspace");
  const from = substitute(matcher.fileLocation[1], inputs);
  return output.split("\n").map(text => expression.exec(text)).filter(Boolean).map(groups => ({
    file: path.resolve(from, groups[file]), line: Number(groups[line]), column: Number(groups[column]), message: groups[message]}));
}

// Each problem leads to a place that is there.
function checkPlaces(problems) {
  for (const {file, line, column, message} of problems) {
    const text = fs.readFileSync(file, "utf8").split("\n")[line - 1];
    assert.ok(text !== undefined && column >= 1 && column <= text.length, `${file}:${line}:${column} is no place`);
    assert.ok(message && !/^\d/.test(message), `'${message}' begins with a number`);
  }
}

function main() {
  const {version, tasks, inputs} = tasksOf(fs.readFileSync(page, "utf8"));
  let matched = 0;
  assert.strictEqual(version, "2.0.0");
  assert.strictEqual(new Set(tasks.map(({label}) => label)).size, tasks.length, "two tasks have one label");
  for (const {label, type, command, problemMatcher} of tasks) {
    assert.strictEqual(type, "shell", label);
    const words = substitute(command, inputs);
    if (words.includes("--gdb")) {
      if (process.env.TEST_LENGTH !== "full" || spawnSync("gdb", ["--version"]).error) continue;
      const {output} = run(words, "continue\n");
      assert.ok(/race-first: thread/.test(output), `${label}:\n${output}`);
      continue;
    }
    const {status, output} = run(words, "");
    assert.strictEqual(status, 1, `${label} ended with ${status}:\n${output}`);
    const problems = problemsOf(problemMatcher, output, inputs);
    checkPlaces(problems);
    assert.deepStrictEqual(problems.map(({file, line, message}) => [path.basename(file), line, message.replace(/; and .*/, "")]),
      [["bank.c", 21, "race on bank.balance between teller and auditor"]], output);
    matched++;
  }
  assert.ok(matched > 0, "no task makes problems");
}

try {
  main();
} catch (error) {
  console.log(error.message);
  process.exit(1);
}
