import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";

const script = fileURLToPath(new URL("run-modules.mjs", import.meta.url));

interface Answer {
  readonly printed: string;
  readonly failed?: string;
}

/** A process that runs modules one after the other: what starts no process for each costs a tenth. */
export class ModuleRunner {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #errors = "";

  constructor() {
    const stdio = ["ignore", "ignore", "pipe", "ipc"] as const;
    this.#child = fork(script, {
      execArgv: ["--unhandled-rejections=strict"],
      stdio: [...stdio],
      timeout: 240_000,
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.#errors += text;
    });
    this.#ended = once(this.#child, "exit").then(([code]) => code);
  }

  /** Runs a compiled file in a folder. Returns what it printed. @throws when it fails, or ends the process. */
  async run(file: string, folder: string): Promise<string> {
    const answered = once(this.#child, "message").then(([answer]) => answer as Answer);
    this.#child.send({ url: pathToFileURL(file).href, folder });
    const answer = await Promise.race([answered, this.#ended]);
    if (answer === null || typeof answer === "number") {
      throw new Error(`the process ended with ${answer} as it ran ${file}: ${this.#errors}`);
    }
    if (answer.failed !== undefined) throw new Error(`${answer.failed}\n${answer.printed}`);
    return answer.printed;
  }

  /** Waits until the process ends by itself. @throws when what the modules left behind fails it. */
  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const code = await this.#ended;
    if (code !== 0) throw new Error(`the process ended with ${code}: ${this.#errors}`);
  }
}
