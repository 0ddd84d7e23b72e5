import { ZarrflowError } from "./errors.ts";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1e3,
  kb: 1e3,
  kib: 2 ** 10,
  m: 1e6,
  mb: 1e6,
  mib: 2 ** 20,
  g: 1e9,
  gb: 1e9,
  gib: 2 ** 30,
  t: 1e12,
  tb: 1e12,
  tib: 2 ** 40,
};

/**
 * Parses a size such as `256MB` (10^6), `64MiB` (2^20), `1.5 GB`, or a plain number of bytes.
 *
 * @throws `invalid-option`
 */
export function parseBytes(size: string | number): number {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(String(size));
  const unit = UNITS[match?.[2]?.toLowerCase() ?? "?"];
  if (!match || unit === undefined) {
    throw new ZarrflowError("invalid-option", `${JSON.stringify(size)} is not a size in bytes`, {
      hint: "Write a number with B, kB, MB, GB, KiB, MiB or GiB, such as 256MB.",
    });
  }
  return Math.floor(Number(match[1]) * unit);
}

/** Formats a size for people: `412 B`, `1.5 kB`, `256 MB`. */
export function formatBytes(bytes: number): string {
  return formatRounded(bytes, Math.round);
}

/** Like `formatBytes` but rounded up, so that the result is a sufficient limit. */
export function formatEnoughBytes(bytes: number): string {
  return formatRounded(bytes, Math.ceil);
}

function formatRounded(bytes: number, round: (value: number) => number): string {
  let value = bytes;
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (value < 999.5 || unit === "TB")
      return `${value < 10 && unit !== "B" ? (round(value * 10) / 10).toFixed(1) : round(value)} ${unit}`;
    value /= 1000;
  }
  return `${bytes} B`;
}

const DURATION_UNITS: Readonly<Record<string, number>> = {
  "": 1000,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
};

/**
 * Converts a time such as `20s`, `500ms` or `1.5min`, or a plain number of seconds, to milliseconds.
 *
 * @throws `invalid-option`
 */
export function parseDuration(time: string | number): number {
  const milliseconds = millisecondsOf(time);
  if (milliseconds > 0) return milliseconds;
  throw new ZarrflowError("invalid-option", `${JSON.stringify(time)} is not a time`, {
    hint: "Write a number of seconds, or a number with ms, s, min or h, such as 20s.",
  });
}

/** True if `parseDuration` accepts the value. */
export function isDuration(value: unknown): boolean {
  return (typeof value === "string" || typeof value === "number") && millisecondsOf(value) > 0;
}

/** Returns NaN if it is not a time, or is longer than a timer can wait. */
function millisecondsOf(time: string | number): number {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/.exec(String(time)) ?? [];
  const milliseconds = Number(number) * (DURATION_UNITS[unit] ?? Number.NaN);
  return milliseconds < 2 ** 31 ? milliseconds : Number.NaN;
}
