import { type RequestServer, serveRequests } from "../../src/cli/server/serve-requests.ts";
import { storeHandler } from "../../src/cli/server/store-handler.ts";
import { asStore, isZarrflowError, type ZarrNode } from "../../src/index.ts";
import { type GoodArray, goodArrays } from "./rewritten.ts";

/** An array of the corpora as it is served. */
export interface ServedArray {
  readonly one: GoodArray;
  /** Its path below the server's URL. */
  readonly path: string;
  readonly format: 2 | 3;
}

export interface ServedCorpora {
  readonly url: string;
  /** As they are, those that other readers may know. */
  readonly asIs: readonly ServedArray[];
  /** In v3, those that v3 can represent. */
  readonly asV3: readonly ServedArray[];
  /** Why those that are not in v3 are not, by id. */
  readonly notInV3: ReadonlyMap<string, string>;
  /** What requests failed with. */
  readonly failures: readonly unknown[];
  close(): Promise<void>;
}

/** Serves every good array of both corpora at one server, as `zarrflow serve` does: as it is, and in v3. */
export async function serveCorpora(): Promise<ServedCorpora> {
  const handlers = new Map<string, ReturnType<typeof storeHandler>>();
  const closing: (() => Promise<void>)[] = [];
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const serve = async (name: string, node: ZarrNode, to: "v3" | undefined) => {
    const store = await asStore(node, { ...(to && { to }), maxMemory: "64MB", consolidated: true });
    closing.push(async () => store.close?.());
    handlers.set(name, storeHandler(store, { maxBytes: 2 ** 20, onFailure }));
  };
  const asIs: ServedArray[] = [];
  const asV3: ServedArray[] = [];
  const notInV3 = new Map<string, string>();
  for (const one of goodArrays) {
    const node = await one.open();
    const { zarrFormat } = node.layout;
    if (zarrFormat === "v2" || zarrFormat === "v3") {
      await serve(`as-is/${one.name}`, node, undefined);
      asIs.push({ one, path: `as-is/${one.name}`, format: zarrFormat === "v2" ? 2 : 3 });
    }
    try {
      await serve(`v3/${one.name}`, node, "v3");
      asV3.push({ one, path: `v3/${one.name}`, format: 3 });
    } catch (error) {
      if (!isZarrflowError(error)) throw error;
      notInV3.set(one.id, error.code);
    }
  }
  const server: RequestServer = await serveRequests(async (request) => {
    const [, name = "", rest = ""] = /^\/([^/]+\/[^/]+)\/(.*)$/.exec(new URL(request.url).pathname) ?? [];
    const handler = handlers.get(name);
    if (handler === undefined) return new Response("not found\n", { status: 404 });
    return handler(new Request(new URL(`/${rest}`, request.url), request));
  });
  return {
    url: server.url,
    asIs,
    asV3,
    notInV3,
    failures,
    async close() {
      await server.close();
      for (const close of closing) await close();
    },
  };
}
