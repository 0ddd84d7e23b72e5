/** Numbers of a part of an array, in C order, with their range and the number of missing ones. */
export interface Values {
  readonly data: Float32Array | Float64Array;
  readonly range?: readonly [number, number];
  readonly missing: number;
}

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

export async function getValues(path: string, cut: string, signal: AbortSignal): Promise<Values> {
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
