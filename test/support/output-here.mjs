// What is written to this process's output while something runs in a folder: for tests that run commands in one process.

const EVENTS = ["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "error"];

/** Runs a command in a folder. Returns its exit code and what it wrote; all else is as it was before. */
export async function outputHere(cwd, run) {
  const { stdout, stderr, env } = process;
  const before = {
    ...{ cwd: process.cwd(), exitCode: process.exitCode, color: env.NO_COLOR },
    ...{ argv: process.argv, out: stdout.write, err: stderr.write },
  };
  const forget = [stdout, stderr, process].map(forgetLater);
  const [out, err] = [[], []];
  stdout.write = collectIn(out);
  stderr.write = collectIn(err);
  process.chdir(cwd);
  env.NO_COLOR = "1";
  process.exitCode = undefined;
  try {
    await run();
    const bytes = Buffer.concat(out);
    const code = Number(process.exitCode ?? 0);
    return { code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err).toString() };
  } finally {
    stdout.write = before.out;
    stderr.write = before.err;
    process.chdir(before.cwd);
    process.exitCode = before.exitCode;
    process.argv = before.argv;
    if (before.color === undefined) delete env.NO_COLOR;
    else env.NO_COLOR = before.color;
    for (const takeAway of forget) takeAway();
  }
}

/** Takes away what listens to `emitter` later than now. */
function forgetLater(emitter) {
  const before = EVENTS.map((event) => emitter.listeners(event));
  return () => {
    EVENTS.forEach((event, i) => {
      for (const listener of emitter.listeners(event)) {
        if (!before[i].includes(listener)) emitter.off(event, listener);
      }
    });
  };
}

/** In the place of a stream's own `write`, of which there is one for the whole process. */
function collectIn(pieces) {
  return (data, ...rest) => {
    pieces.push(Buffer.from(data));
    const done = rest.find((one) => typeof one === "function");
    if (done) queueMicrotask(done);
    return true;
  };
}
