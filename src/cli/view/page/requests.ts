import type { Cut, DrawnNumbers } from "../../../flows/view/read-numbers.ts";
import { counted } from "../../../util/names.ts";
import { el, fill } from "./dom.ts";
import { readCost, type ShownLevel } from "./shown.ts";
import { sizeText } from "./words.ts";

type Query = Readonly<Record<string, string | number>>;

/** Sends a request, by default to the server of the page. */
let ask = (name: string, asked: URLSearchParams, signal: AbortSignal): Promise<Response> =>
  fetch(`${name}?${asked}`, { signal });

/** Replaces the server, for example by a function in the page itself. */
export function askInstead(other: typeof ask): void {
  ask = other;
}

async function get(name: string, query: Query, signal?: AbortSignal): Promise<Response> {
  const asked = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, `${value}`]));
  const response = await ask(name, asked, signal ?? new AbortController().signal);
  if (response.ok) return response;
  const failure = /json/.test(response.headers.get("content-type") ?? "") ? await response.json() : {};
  throw new Error(
    [failure.message ?? `the server answered ${response.status}`, failure.hint].filter(Boolean).join(". "),
  );
}

export async function getJson<T>(name: string, query: Query, signal?: AbortSignal): Promise<T> {
  return (await get(name, query, signal)).json();
}

export async function getValues(path: string, cut: string, signal: AbortSignal): Promise<DrawnNumbers> {
  const buffer = await (await get("values", { path, cut }, signal)).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const { size, ...about } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const Numbers = size === 4 ? Float32Array : Float64Array;
  return { ...about, data: new Numbers(buffer, 4 + length) };
}

/** Runs one piece of work at a time: a new one aborts the one before. */
export class Latest {
  #abort = new AbortController();

  /** Errors of work that a later one replaced are ignored. */
  async run(work: (signal: AbortSignal) => Promise<void>, onFailure: (error: Error) => void): Promise<void> {
    this.stop();
    const { signal } = this.#abort;
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) onFailure(error as Error);
    }
  }

  stop(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
  }
}

/** Decoded bytes that are read without asking. */
const FREE_BYTES = 256e6;

/** A line with the status, and with a question before much is read. */
export class AskFirst {
  readonly root = el("div", { class: "status", role: "status" });
  /** The largest size that the user has allowed. Smaller requests are made without asking again. */
  #allowed = FREE_BYTES;

  say(text: string): void {
    fill(this.root, text);
  }

  fail({ message }: Error): void {
    fill(this.root, el("span", { class: "failure" }, message));
  }

  /** True if the parts may be read now. Otherwise asks, and calls `again` if the user agrees. */
  mayRead(level: ShownLevel, parts: readonly (readonly Cut[])[], again: () => void): boolean {
    const costs = parts.map((cuts) => readCost(level, cuts));
    const bytes = costs.reduce((sum, cost) => sum + cost.bytes, 0);
    const chunks = costs.reduce((sum, cost) => sum + cost.chunks, 0);
    if (bytes <= this.#allowed) return true;
    const allow = () => {
      this.#allowed = bytes;
      again();
    };
    fill(
      this.root,
      `This reads ${counted(chunks, "chunk")}, ${sizeText(bytes)} when decoded. `,
      el("button", { type: "button", onclick: allow }, "Read them"),
    );
    return false;
  }
}
