import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import { command } from "../built-package.ts";
import type { Run } from "./cli.ts";

const script = fileURLToPath(new URL("run-modules.mjs", import.meta.url));

type Answer = Pick<Run, "code" | "stdout" | "stderr">;

/** Who is not root, where root runs the tests. */
export const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A process that runs modules and commands one after the other: what starts no process for each costs a tenth. */
export class ModuleRunner {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #errors = "";

  /** Of whoever runs the tests, or of a user. */
  constructor(user: { readonly uid?: number; readonly gid?: number } = {}) {
    const stdio = ["ignore", "ignore", "pipe", "ipc"] as const;
    this.#child = fork(script, {
      ...user,
      execArgv: ["--unhandled-rejections=strict"],
      stdio: [...stdio],
      timeout: 240_000,
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.#errors += text;
    });
    this.#ended = once(this.#child, "exit").then(([code]) => code);
  }

  /** One of somebody who is not root: root may read and remove everything. */
  static ofNobody(): ModuleRunner {
    return new ModuleRunner(NOBODY);
  }

  /** Runs a compiled file in a folder. Returns what it printed. @throws when it fails, or ends the process. */
  async run(file: string, folder: string): Promise<string> {
    const { code, stdout, stderr } = await this.#send({ url: pathToFileURL(file).href, folder });
    if (code !== 0) throw new Error(`${stderr}\n${stdout}`);
    return stdout;
  }

  /** Runs the built command in a folder. */
  zarrflow(words: readonly string[], folder: string): Promise<Answer> {
    return this.#send({ url: pathToFileURL(command).href, words, folder });
  }

  async #send(message: {
    readonly url: string;
    readonly words?: readonly string[];
    readonly folder: string;
  }) {
    const answered = once(this.#child, "message").then(([answer]) => answer as Answer);
    this.#child.send(message);
    const answer = await Promise.race([answered, this.#ended]);
    if (answer === null || typeof answer === "number") {
      throw new Error(`the process ended with ${answer} as it ran ${message.url}: ${this.#errors}`);
    }
    return answer;
  }

  /** Waits until the process ends by itself. @throws when what the modules left behind fails it. */
  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const code = await this.#ended;
    if (code !== 0) throw new Error(`the process ended with ${code}: ${this.#errors}`);
  }
}
