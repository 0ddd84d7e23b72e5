import { ASSUMED_PROFILE, SIDES, type StoreProfile, type StoreProfiles } from "../../plan/plan.ts";
import { serverLatency } from "../../stores/remote/server-counters.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { parseBytes } from "../../util/units.ts";
import type { Side } from "./store-settings.ts";

const LATENCY = /^(\d+(?:\.\d+)?) ?ms$/;

const RATE = /^(.+)\/s$/;

/**
 * Estimates the speed of the stores over a network: the stated profile, else measurements of their first responses.
 *
 * @param stated as the option `storeProfile`
 * @throws `invalid-option`
 */
export function profilesOf(
  stores: { readonly [side in Side]?: StoreSpec | undefined },
  stated: string | readonly string[] = [],
): StoreProfiles {
  const bySide = new Map<Side, Partial<StoreProfile>>();
  for (const text of [stated].flat()) {
    const { sides, ...profile } = parseProfile(text);
    for (const side of sides) bySide.set(side, { ...bySide.get(side), ...profile });
  }
  const profiles = SIDES.flatMap((side) => {
    const spec = stores[side];
    const isRemote = spec !== undefined && storeTraits(spec).isRemote;
    return isRemote ? [[side, profileOf(spec, bySide.get(side))] as const] : [];
  });
  return Object.fromEntries(profiles);
}

function profileOf(spec: StoreSpec, stated: Partial<StoreProfile> = {}): StoreProfile {
  const profile = { ...ASSUMED_PROFILE, ...stated };
  if (stated.latency !== undefined) return { ...profile, basis: "stated" };
  const latency = serverLatency(spec);
  return latency === undefined ? profile : { ...profile, latency, basis: "measured" };
}

/** Returns the stores that a stated profile applies to. @throws `invalid-option` */
export function profiledSides(text: string): readonly Side[] {
  return parseProfile(text).sides;
}

/** Parses `30ms`, `100MB/s`, `30ms,100MB/s`, or one of these after `source=`, `target=` or `scratch=`. */
function parseProfile(text: string): Partial<StoreProfile> & { readonly sides: readonly Side[] } {
  const [, side, figures = ""] = /^(?:(\w+)=)?(.+)$/s.exec(text.trim()) ?? [];
  const sides = side === undefined ? SIDES : SIDES.filter((name) => name === side);
  let latency: number | undefined;
  let bytesPerSecond: number | undefined;
  for (const figure of figures.split(",")) {
    const ms = LATENCY.exec(figure.trim())?.[1];
    const rate = RATE.exec(figure.trim())?.[1];
    if (ms !== undefined) latency = Number(ms) / 1000;
    else if (rate !== undefined) bytesPerSecond = parseBytes(rate);
    else throw notProfile(text);
  }
  if (sides.length === 0 || latency === 0 || bytesPerSecond === 0) throw notProfile(text);
  return {
    sides,
    ...(latency !== undefined && { latency }),
    ...(bytesPerSecond !== undefined && { bytesPerSecond }),
  };
}

function notProfile(text: string): ZarrflowError {
  return new ZarrflowError("invalid-option", `${JSON.stringify(text)} is not a store profile`, {
    expected: "the duration of a request, bytes per second, or both",
    hint: "Write 30ms, 100MB/s or 30ms,100MB/s; source=30ms sets it for the source only, and target= and scratch= do the same.",
  });
}
