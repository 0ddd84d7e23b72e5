import { existsSync } from "node:fs";
import { join } from "node:path";
import { type RequestHandler, serveRequests } from "../../src/cli/server/serve-requests.ts";
import { storeHandler } from "../../src/flows/fetch-handler.ts";
import { type AsStoreOptions, asStore, copy } from "../../src/flows/index.ts";
import { isZarrflowError } from "../../src/index.ts";
import type { Store } from "../../src/stores/store.ts";
import type { GoodArray } from "./rewritten.ts";

/** How an array is served alone. */
export const MODES = ["as it is", "--to v2", "--to v3"] as const;
export type Mode = (typeof MODES)[number];

/** An array that is served. */
export interface ServedCase {
  readonly array: GoodArray;
  readonly mode: Mode;
  /** Where it is served. */
  readonly url: string;
  /** The format that it is served in. */
  readonly format: string;
  /** Copies it, with the same changes, to a place below a folder, unless it is there. */
  copyTo(folder: string): Promise<string>;
}

/** A server of arrays, in every mode that they can be served in. */
export interface ServedCases {
  readonly cases: readonly ServedCase[];
  /** What cannot be served so. */
  readonly refused: readonly { readonly id: string; readonly mode: Mode; readonly code: string }[];
  /** What requests failed with. */
  readonly failures: readonly string[];
  /** Serves a store whole, at the URL that it gives. */
  serveWhole(source: string, options: AsStoreOptions): Promise<string>;
  close(): Promise<void>;
}

const CHANGES = { "as it is": {}, "--to v2": { to: "v2" }, "--to v3": { to: "v3" } } as const;

export async function serveCases(arrays: readonly GoodArray[]): Promise<ServedCases> {
  const cases: ServedCase[] = [];
  const refused: { id: string; mode: Mode; code: string }[] = [];
  const failures: string[] = [];
  const stores: Store[] = [];
  const handlers = new Map<string, RequestHandler>();
  const onFailure = (error: unknown, { url }: Request) => failures.push(`${url}: ${error}`);
  const server = await serveRequests(
    async (request) => {
      const [, number = "", key = ""] = /^\/(\d+)\/(.*)$/.exec(new URL(request.url).pathname) ?? [];
      const handler = handlers.get(number);
      return handler
        ? handler(new Request(new URL(`/${key}`, request.url), request))
        : new Response(null, { status: 404 });
    },
    { onFailure },
  );
  const serve = (store: Store): string => {
    stores.push(store);
    const number = `${handlers.size}`;
    handlers.set(
      number,
      storeHandler(async () => store, { maxBytes: 2 ** 24, onFailure }),
    );
    return `${server.url}${number}`;
  };
  for (const array of arrays) {
    const source = await array.open();
    for (const mode of MODES) {
      const changes = CHANGES[mode];
      try {
        cases.push({
          array,
          mode,
          url: serve(await asStore(source, changes)),
          format: "to" in changes ? changes.to : source.layout.zarrFormat,
          async copyTo(folder) {
            const place = join(folder, mode, array.name);
            if (!existsSync(place)) await copy(source, place, { ...changes, fsync: false });
            return place;
          },
        });
      } catch (error) {
        if (!isZarrflowError(error)) throw error;
        refused.push({ id: array.id, mode, code: error.code });
      }
    }
  }
  return {
    cases,
    refused,
    failures,
    serveWhole: async (source, options) => serve(await asStore(source, { ...options, consolidated: true })),
    async close() {
      await server.close();
      for (const store of stores) await store.close?.();
    },
  };
}
