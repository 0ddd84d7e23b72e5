import { expect, test } from "vitest";
import type { Convention, ConventionNode } from "../../../src/meta/conventions/convention.ts";
import { convertConventions } from "../../../src/meta/conventions/conventions.ts";

const nodes: ConventionNode[] = [
  { path: "", metadata: { kind: "group", attributes: { title: "a" } } },
  { path: "b", metadata: { kind: "group", attributes: {} } },
];

const addTitle: Convention = {
  name: "title",
  convert: (all, { from, to, note }) =>
    all.map((node) => {
      if (!("title" in node.metadata.attributes)) return node;
      note({ path: node.path, message: `${from} to ${to}` });
      return { ...node, metadata: { ...node.metadata, attributes: { title: "b" } } };
    }),
};
const addCount: Convention = {
  name: "count",
  convert: (all) =>
    all.map((node) =>
      node.metadata.attributes.title === "b"
        ? { ...node, metadata: { ...node.metadata, attributes: { count: all.length } } }
        : node,
    ),
};

test("each convention sees what the one before made of all nodes, and may note", () => {
  const converted = convertConventions(nodes, { from: "v2", to: "v3" }, [addTitle, addCount]);
  expect(converted.nodes.map(({ metadata }) => metadata.attributes)).toEqual([{ count: 2 }, {}]);
  expect(converted.nodes[1]).toBe(nodes[1]);
  expect(converted.notes).toEqual([{ path: "", message: "v2 to v3" }]);
});

test("nothing changes where the format stays", () => {
  const converted = convertConventions(nodes, { from: "v3", to: "v3" }, [addTitle]);
  expect(converted).toEqual({ nodes, notes: [] });
});
