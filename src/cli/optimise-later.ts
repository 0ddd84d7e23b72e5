import { setFlagsFromString } from "node:v8";

/** The budget of V8 11, and one that is fifteen times as large. */
const USUAL = 67_584;
const LATER = 1_000_000;

/** Milliseconds that a command runs before it gains by what requests run again and again being compiled. */
const LONG = 1000;

let budget = USUAL;
let isEnded = false;

/**
 * Lets V8 run code fifteen times as long as it does by default before it compiles that for speed, in all threads. What
 * takes long here are kernels, which are compiled already. What it gains is in `bench/RESULTS.md`, "V8's budget".
 *
 * While that holds, what Node has ready of its own scripts is of no use: those that are loaded are compiled anew. So it is
 * not done before the command is loaded, and is `off` while threads start, each of which takes 30 ms longer otherwise.
 *
 * V8 11 (Node 20) alone has the flag. Later ones count calls, and gain nothing by counting further.
 */
export function optimiseLater(how: "on" | "off"): void {
  const wanted = how === "on" && !isEnded ? LATER : USUAL;
  if (wanted === budget || !process.versions.v8.startsWith("11.")) return;
  budget = wanted;
  setFlagsFromString(`--interrupt-budget=${wanted}`);
}

/**
 * Ends that in a second, for a command that makes requests to servers: each runs much code of Node and of ours, which
 * takes twice the time where it is not compiled.
 */
export function optimiseRequests(): void {
  const end = () => {
    isEnded = true;
    optimiseLater("off");
  };
  setTimeout(end, LONG).unref();
}
