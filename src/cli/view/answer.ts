import { type Cut, MAX_ITEMS } from "../../flows/view/read-numbers.ts";
import type { ViewedSource } from "../../flows/view/viewed-source.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { redact } from "../../util/redact.ts";

/** Maximum number of nodes that the page lists. */
const MAX_NODES = 5000;

/**
 * Answers a request of the page: a name, such as `tree` or `values`, and its parameters. Undefined for an unknown name.
 */
export type ViewAnswers = (
  name: string,
  asked: URLSearchParams,
  signal: AbortSignal,
) => Promise<Response | undefined>;

/**
 * Returns the answers to the page's requests about a source, with or without a server. Our errors become responses,
 * too.
 */
export function viewAnswers(source: ViewedSource, version: string): ViewAnswers {
  return async (name, asked, signal) => {
    try {
      return await answer(source, version, name, asked, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isZarrflowError(error)) throw error;
      const { message, details, code } = error;
      return json({ message: redact(message), hint: details.hint }, code === "not-found" ? 404 : 422);
    }
  };
}

export async function answer(
  source: ViewedSource,
  version: string,
  name: string,
  asked: URLSearchParams,
  signal: AbortSignal,
): Promise<Response | undefined> {
  const path = asked.get("path") ?? "";
  switch (name) {
    case "tree":
      return json(await listNodes(source, version, signal));
    case "node":
      return json(await source.describe(path, signal));
    case "chunks":
      return json((await source.chunks(path, signal)) ?? null);
    case "labels": {
      const dimension = { d: Number(asked.get("d")), name: asked.get("name") ?? "" };
      const [cut] = cutsIn(asked);
      if (cut === undefined || cut.count > MAX_ITEMS)
        throw new ZarrflowError("invalid-selection", "no items");
      return json((await source.labels(path, dimension, cut, signal)) ?? null);
    }
    case "values": {
      const { data, ...about } = await source.numbers(path, cutsIn(asked), signal);
      const bytes = framed({ ...about, size: data.BYTES_PER_ELEMENT }, data);
      return new Response(bytes, { headers: { "content-type": "application/octet-stream" } });
    }
    default:
      return undefined;
  }
}

async function listNodes(source: ViewedSource, version: string, signal: AbortSignal): Promise<object> {
  const nodes = [];
  let isCut = false;
  for await (const node of source.tree(signal)) {
    isCut = nodes.length === MAX_NODES;
    if (isCut) break;
    const shape = node.kind === "array" ? node.shape : undefined;
    const error = "error" in node ? redact(node.error.message) : undefined;
    nodes.push({
      path: node.path,
      kind: error === undefined ? node.kind : "broken",
      ...(shape && { shape }),
      ...(error && { error }),
    });
  }
  return { url: redact(source.url), version, nodes, isCut };
}

/** Parses `start:step:count` of each dimension; empty for an array without dimensions. */
function cutsIn(asked: URLSearchParams): Cut[] {
  const text = asked.get("cut") ?? "";
  if (text === "") return [];
  return text.split(",").map((cut) => {
    const [start = Number.NaN, step = Number.NaN, count = Number.NaN] = cut.split(":").map(Number);
    return { start, step, count };
  });
}

function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });
}

/**
 * Encodes numbers after a description: its length in 4 bytes, its JSON padded to align the numbers at 8 bytes, the
 * numbers.
 */
function framed(about: object, { buffer, byteLength }: Float32Array | Float64Array): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(about);
  // the description can have more bytes than characters
  const utf8 = new TextEncoder().encode(text);
  const length = Math.ceil((utf8.length + 4) / 8) * 8 - 4;
  const bytes = new Uint8Array(4 + length + byteLength).fill(0x20, 4, 4 + length);
  new DataView(bytes.buffer).setUint32(0, length, true);
  bytes.set(utf8, 4);
  bytes.set(new Uint8Array(buffer), 4 + length);
  return bytes;
}
