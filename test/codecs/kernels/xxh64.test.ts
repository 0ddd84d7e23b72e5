import { expect, test } from "vitest";
import { xxh64 } from "./plain-xxh64.ts";

test.each([
  ["", 0xef46_db37_51d8_e999n],
  ["a", 0xd24e_c4f1_a98c_6e5bn],
  ["abc", 0x44bc_2cf5_ad77_0999n],
  ["Nobody inspects the spammish repetition", 0xfbce_a83c_8a37_8bf1n],
])("of %j", (text, hash) => expect(xxh64(new TextEncoder().encode(text))).toBe(hash));
