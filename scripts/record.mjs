// Records a session of the command on the data of the demo, in a terminal of 100 columns: node scripts/record.mjs [FOLDER]
// In FOLDER (docs/pictures) it writes demo.cast, for players of asciinema, and demo.svg, a still picture.
// The output is what the command writes to a terminal. The times are made up: the recording takes 60 seconds on any machine.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { linesLeft, piecesOf } from "./terminal.mjs";

const [COLUMNS, ROWS, SECONDS] = [100, 30, 60];
const PROMPT = "\u001b[32m$\u001b[39m ";
const RECHUNK =
  "zarrflow rechunk weather.zarr places.zarr --chunks time=-1,latitude=11,longitude=24 --max-mem 64MB --threads 2";
/** Lines of the session; the flag marks those in the still picture. */
const LINES = [
  ["zarrflow tree weather.zarr", true],
  [
    "zarrflow slice weather.zarr/t2m --slice time=2024-06-03T12:00,latitude=45..50,longitude=10.0 --format csv",
    true,
  ],
  [`${RECHUNK} --dry-run`, false],
  [`${RECHUNK} --verify`, true],
  ["zarrflow diff weather.zarr places.zarr", true],
  ["zarrflow slice places.zarr/t2m --slice latitude=45.0,longitude=10.0 --output place.npy", true],
];

const target = process.argv[2] ?? fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const folder = await realpath(await mkdtemp(join(tmpdir(), "zarrflow-recording-")));
try {
  await run(process.execPath, [fileURLToPath(new URL("demo.mjs", import.meta.url))], folder);
  await mkdir(join(folder, "bin"));
  await symlink(fileURLToPath(new URL("../dist/cli/main.js", import.meta.url)), join(folder, "bin/zarrflow"));
  const session = [];
  for (const [line, isShown] of LINES) session.push({ line, isShown, output: await inTerminal(line) });
  await mkdir(target, { recursive: true });
  await writeFile(join(target, "demo.cast"), castOf(session));
  await writeFile(join(target, "demo.svg"), pictureOf(session.filter(({ isShown }) => isShown)));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Output of a line in a terminal; the folder, whose name differs in each recording, appears as `~/demo`. */
async function inTerminal(line) {
  const cwd = join(folder, "demo");
  const size = `stty cols ${COLUMNS} rows ${ROWS}`;
  const output = await run("script", ["-qefc", `${size}; ${line}`, "/dev/null"], cwd, {
    ...process.env,
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    SHELL: "/bin/bash",
    TERM: "xterm-256color",
    NO_COLOR: undefined,
    CI: undefined,
  });
  return output.replaceAll(cwd, "~/demo");
}

function run(program, words, cwd, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    const pieces = [];
    child.stdout.on("data", (piece) => pieces.push(piece));
    child.on("error", reject);
    child.on("close", (code) => {
      const text = Buffer.concat(pieces).toString();
      if (code === 0) resolve(text);
      else reject(new Error(`${[program, ...words].join(" ")} ended with exit code ${code}: ${text}`));
    });
  });
}

/** The recording, in asciicast version 2: lines are typed; the rest of the time is for reading. */
function castOf(session) {
  const steps = session.flatMap(({ line, output }) => [
    ["", PROMPT],
    ...[...line].map((character) => [0.02, character]),
    [0.3, "\r\n"],
    ...piecesOf(output).map(({ text, erases }) => [erases ? 0.15 : 0.05, text]),
    ["read", ""],
  ]);
  const busy = steps.reduce((sum, [seconds]) => sum + (Number(seconds) || 0), 0);
  const pause = (SECONDS - busy) / session.length;
  if (pause < 1) throw new Error("the session is too long to be read");
  const header = {
    version: 2,
    width: COLUMNS,
    height: ROWS,
    title: "zarrflow",
    env: { TERM: "xterm-256color" },
  };
  const events = [header];
  let time = 0;
  for (const [seconds, text] of steps) {
    time += seconds === "read" ? pause : Number(seconds);
    events.push([Number(time.toFixed(3)), "o", text]);
  }
  return `${events.map((event) => JSON.stringify(event)).join("\n")}\n`;
}

/** The whole screen at the end, in the reader's color scheme. */
function pictureOf(session) {
  const lines = session.flatMap(({ line, output }) => {
    return [`$ ${line}`, ...linesLeft(output.trimEnd()), ""].flatMap(wrapped);
  });
  const [width, height, row] = [COLUMNS * 8.43 + 32, (lines.length - 1) * 19 + 32, 19];
  const rows = lines.slice(0, -1).map((text, i) => {
    const kind = text.startsWith("$ ") ? ' class="typed"' : "";
    return `<text x="16" y="${30 + i * row}"${kind}>${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>A session of zarrflow</title>
<style>
rect { fill: #f6f8fa; stroke: #d0d7de; }
text { fill: #1f2328; font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
.typed { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  rect { fill: #161b22; stroke: #30363d; }
  text { fill: #e6edf3; }
}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="6"/>
${rows.join("\n")}
</svg>
`;
}

/** Wraps a line as a terminal does. */
function wrapped(line) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of colors
  const plain = line.replace(/\u001b\[[\d;]*m/g, "");
  return plain.match(new RegExp(`.{1,${COLUMNS}}`, "g")) ?? [""];
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
