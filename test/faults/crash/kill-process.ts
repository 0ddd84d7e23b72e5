// Imported into a process before all else (`node --import`): sends it a signal as its first thread makes its n-th
// mutating file call, or request over HTTP.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";
import { Cut } from "./cut.ts";
import { cutting, withCutFiles } from "./cut-files.ts";

const { KILL_AT, KILL_SIGNAL = "SIGKILL", CALLS_FILE = "" } = process.env;
const { writeFileSync } = fs;

const cut = new Cut(undefined, 0, () => {
  if (cut.calls - 1 === Number(KILL_AT)) process.kill(process.pid, KILL_SIGNAL);
});

if (isMainThread) {
  cutting.now = cut;
  process.on("exit", () => writeFileSync(CALLS_FILE, `${cut.calls}`));
  replaceCalls(fs.promises, withCutFiles(fs.promises, true));
  replaceCalls(fs, withCutFiles(fs, false));
  const { write } = Socket.prototype;
  Socket.prototype.write = function (this: Socket, ...args: Parameters<Socket["write"]>) {
    if (/^(?:PUT|POST|DELETE) /.test(typeof args[0] === "string" ? args[0] : "")) cut.mutate();
    return write.apply(this, args);
  } as typeof write;
  syncBuiltinESMExports();
}

function replaceCalls(module: object, calls: object): void {
  for (const [name, call] of Object.entries(calls)) {
    if (typeof call === "function") Object.assign(module, { [name]: call });
  }
}
