import { inspect } from "node:util";
import { type NewArray, open, openArray, slice, type ZarrNode } from "../../src/index.ts";
import type { ZarrFormat } from "../../src/meta/array-metadata.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import type { MemoryStore } from "../../src/stores/memory.ts";
import { keysOf } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";

/** Documents as values or texts, and chunks as bytes, by key. */
export type Content = Readonly<Record<string, unknown>>;

/** What `create` makes, without the members that a table leaves as they are. */
export type NewMembers = Partial<NewArray>;

/** Stands for a bare token in a document: `token("NaN")` is written as NaN, without quotes. */
export function token(text: string): string {
  return `\u0001${text}\u0001`;
}

/** A value of a table as the name of its test. */
export function words(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 9 }).replace(
    /'\\x01(.*?)\\x01'/g,
    "$1",
  );
}

export function storeOf(content: Content): Promise<MemoryStore> {
  return givenKeys(Object.fromEntries(Object.entries(content).map(([key, value]) => [key, textOf(value)])));
}

/** A chunk as content, where there is one. */
export function chunkAt(key: string, chunk?: Uint8Array | string): Content {
  return chunk === undefined ? {} : { [key]: typeof chunk === "string" ? hex(chunk) : chunk };
}

/** The text of a document; texts and bytes stay as they are. */
function textOf(value: unknown): unknown {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  return JSON.stringify(value).replace(/"\\u0001(.*?)\\u0001"/g, "$1");
}

export async function nodeIn(content: Content, path = ""): Promise<ZarrNode> {
  return open({ store: await storeOf(content), path });
}

/** Opens a node, with the codecs of an array: what kind it is. */
export async function opens(content: Content, path = ""): Promise<string> {
  const node = await nodeIn(content, path);
  if (node.kind === "array") await node.pipeline();
  return node.kind;
}

/** All items of an array. */
export async function valuesIn(content: Content, path = ""): Promise<unknown[]> {
  const array = await openArray({ store: await storeOf(content), path });
  const { data } = await slice(array).read();
  return Array.from(data as Iterable<unknown>);
}

/** What is read where no chunk is. */
export async function fillIn(content: Content): Promise<unknown> {
  const [first] = await valuesIn(content);
  return first;
}

/** The data type that an array's document is read as. */
export async function typeIn(content: Content): Promise<unknown> {
  const { metadata } = await openArray(await storeOf(content));
  return metadata.dataType;
}

/** The codecs of an array in their normal form. */
export async function codecsIn(content: Content): Promise<unknown[]> {
  const { metadata } = await openArray(await storeOf(content));
  return metadata.codecs.map(({ name, configuration }) => [name, configuration]);
}

/** Key of a chunk of the root array. */
export async function chunkKeyIn(content: Content, ...coords: number[]): Promise<string> {
  return (await openArray(await storeOf(content))).chunkKey(coords);
}

/** Pointers of what opening noticed and went on over. */
export async function findingsIn(content: Content): Promise<unknown[]> {
  return (await nodeIn(content)).findings.map(({ pointer }) => pointer);
}

/** The documents that a node becomes in another format. */
export async function convertedTo(
  zarrFormat: ZarrFormat,
  content: Content,
): Promise<Record<string, unknown>> {
  const { metadata } = await nodeIn(content);
  const { write, layout } = formatNamed(zarrFormat);
  const documents = [...write(metadata, layout(""))];
  return Object.fromEntries(
    documents.map(([key, bytes]) => [key, JSON.parse(new TextDecoder().decode(bytes))]),
  );
}

/** All keys of a store, sorted. */
export async function sortedKeys(store: MemoryStore): Promise<string[]> {
  return (await keysOf(store)).sort();
}

export async function textAt(store: MemoryStore, key: string): Promise<string> {
  return new TextDecoder().decode(await store.get(key));
}

export async function jsonAt(store: MemoryStore, key: string): Promise<Record<string, unknown>> {
  return JSON.parse(await textAt(store, key));
}

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
