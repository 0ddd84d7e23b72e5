// @module-tag long
import { expect, test } from "vitest";
import { FrameMutator } from "./frame-mutator.ts";
import { Random } from "./random.ts";

const frame = Uint8Array.from({ length: 50 }, (_, i) => i);
const other = new Uint8Array(200).fill(99);

function mutants(seed: number, count: number): Uint8Array[] {
  const mutator = new FrameMutator(120, new Random(seed));
  return Array.from({ length: count }, () => mutator.mutate(frame, [other]).slice());
}

test("frames are changed in many ways, within the bound, and stay as they were themselves", () => {
  const made = mutants(3, 3000);
  expect(made.every(({ length }) => length <= 120)).toBe(true);
  const lengths = new Set(made.map(({ length }) => length));
  expect(lengths.size).toBeGreaterThan(80);
  expect(new Set(made.map((bytes) => Buffer.from(bytes).toString("hex"))).size).toBeGreaterThan(2500);
  expect(made.some((bytes) => bytes.includes(99) && bytes.includes(3))).toBe(true);
  expect(frame).toEqual(Uint8Array.from({ length: 50 }, (_, i) => i));
});

test("the same seed makes the same frames, another one others", () => {
  expect(mutants(3, 100)).toEqual(mutants(3, 100));
  expect(mutants(4, 100)).not.toEqual(mutants(3, 100));
});

test("empty frames are taken", () => {
  const mutator = new FrameMutator(64, new Random(1));
  const empty = new Uint8Array(0);
  const lengths = Array.from({ length: 500 }, () => mutator.mutate(empty, [empty]).length);
  expect(Math.max(...lengths)).toBeGreaterThan(0);
});
