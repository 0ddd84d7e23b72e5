import type { StoreSpec } from "../../stores/store.ts";
import { grouped } from "../../util/names.ts";
import type { TakenItems } from "../request/labels/found-labels.ts";

/** Aligns rows as indented columns, two spaces apart; one line per row. */
export function columns(rows: readonly (readonly string[])[], indent = 2): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  const margin = " ".repeat(indent);
  return rows
    .map((row) => `${margin}${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}

/** A duration in words: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 05 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${twoDigits(whole % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/** A shape: `(720, 121)`, or with names `(time 720, latitude 121)`; `()` for a scalar. */
export function formatShape(shape: readonly number[], names?: readonly (string | null)[] | null): string {
  const sizes = shape.map((size, d) => [names?.[d], size].filter((part) => part != null).join(" "));
  return `(${sizes.join(", ")})`;
}

/** Characters that control a terminal, or the direction of writing. */
const ACTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Makes untrusted text safe to print on one line: escapes control and direction characters. */
export function printable(text: string): string {
  return text.replace(ACTIVE, escaped);
}

/** As `printable`, for text of several lines. */
export function printableLines(text: string): string {
  return text.replace(ACTIVE, (character) => (character === "\n" ? character : escaped(character)));
}

/** As `printable`, for JSON, whose value does not change. */
export function printableJson(json: string): string {
  return json.replace(ACTIVE, (character) => {
    if (character === "\n") return character;
    return Array.from({ length: character.length }, (_, i) => unit(character.charCodeAt(i))).join("");
  });
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** The location of a node, as text. */
export function locationText(store: StoreSpec, path: string): string {
  const root = storeText(store);
  return printable(path === "" ? root : `${root}/${path}`);
}

export function storeText(store: StoreSpec): string {
  switch (store.kind) {
    case "directory":
    case "zip":
      return store.path;
    case "zip-value":
      return `${storeText(store.store)}/${store.key}`;
    case "http":
      return store.url;
    case "s3":
      return `s3://${store.bucket}/${store.prefix}`.replace(/\/$/, "");
    case "memory":
      return `memory:${store.name}`;
    case "object":
      return store.description;
  }
}

/** The items that a slice takes along each dimension: `time  2020-01-10T00 .. 2020-01-20T23 (264), indices 216:480`. */
export function takenRows(taken: readonly TakenItems[] = []): string[][] {
  return taken.map((items) => {
    const { dimension, indices, count, shifted = [] } = items;
    const range =
      typeof indices === "number"
        ? `index ${indices}`
        : `indices ${indices.map((end) => end ?? "").join(":")}`;
    const labels = endsOf(items);
    const words = [
      labels === undefined ? `${range} (${grouped(count)})` : `${labels} (${grouped(count)}), ${range}`,
      ...(shifted.length > 0 ? [`labels shifted by ${shifted.join(" and ")}`] : []),
    ];
    return [printable(dimension), printable(words.join(", "))];
  });
}

/** As `takenRows`, in the form of lines of a summary. */
export function takenText(taken: readonly TakenItems[]): string {
  return columns(takenRows(taken), 0);
}

/** The first and the last label, with times only as fine as necessary; undefined without labels. */
function endsOf({ first, last }: TakenItems): string | undefined {
  if (first === undefined || last === undefined) return undefined;
  const ends = first === last ? [first] : [first, last];
  const zeros = [/(?<=T\d\d):00:00$/, /(?<=T\d\d:\d\d):00$/].find((end) =>
    ends.every((one) => end.test(one)),
  );
  return ends.map((one) => (zeros ? one.replace(zeros, "") : one)).join(" .. ");
}
