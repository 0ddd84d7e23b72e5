import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const chromiumPath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Whether a Chromium is here; with `REQUIRE_BROWSER=1` there must be one. */
export const hasChromium = existsSync(chromiumPath) || process.env.REQUIRE_BROWSER === "1";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--enable-logging=stderr",
  "--hide-scrollbars",
];

export interface OpenedPage {
  /** The document as the browser has it. */
  readonly dom: string;
  /** What the page's console said. */
  readonly console: readonly string[];
  /** A picture of its top, as PNG. */
  readonly screenshot: Buffer;
}

/** Opens a file of this machine in a browser that reaches no network. */
export async function openPage(file: string): Promise<OpenedPage> {
  const profile = await mkdtemp(join(tmpdir(), "zarrflow-chromium-"));
  const picture = join(profile, "page.png");
  const run = (...flags: readonly string[]) =>
    promisify(execFile)(chromiumPath, [...FLAGS, `--user-data-dir=${profile}`, ...flags, `file://${file}`], {
      maxBuffer: 2 ** 26,
    });
  try {
    const { stdout: dom, stderr } = await run("--dump-dom");
    await run("--window-size=1060,1900", `--screenshot=${picture}`);
    const console = stderr.split("\n").filter((line) => line.includes("CONSOLE"));
    return { dom, console, screenshot: await readFile(picture) };
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}
