import type { createGroup } from "../../src/index.ts";

/** Writes `foo`, a group, and in it `bar`, an array, as the specification of v2 does in its example; ends with the root. */
export async function writeSpecExample(root: Awaited<ReturnType<typeof createGroup>>): Promise<void> {
  const foo = await root.createGroup("foo");
  const bar = await foo.create("bar", {
    shape: [20, 20],
    chunks: [10, 10],
    dataType: "<f8",
    attributes: { comment: "answer to life, the universe and everything" },
  });
  await bar.write([], new Float64Array(400).fill(42));
  for (const writer of [bar, foo, root]) await writer.close();
}
