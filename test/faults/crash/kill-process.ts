// Imported into a process before all else (`node --import`): sends it a signal as its first thread makes its n-th
// mutating file call, or request over HTTP.
import fs from "node:fs";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
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
  const { request } = http;
  replaceCalls(http, {
    request(options: http.RequestOptions, onAnswer: () => void) {
      if (options.method === "PUT" || options.method === "POST" || options.method === "DELETE") cut.mutate();
      return request(options, onAnswer);
    },
  });
  syncBuiltinESMExports();
}

function replaceCalls(module: object, calls: object): void {
  for (const [name, call] of Object.entries(calls)) {
    if (typeof call === "function") Object.assign(module, { [name]: call });
  }
}
