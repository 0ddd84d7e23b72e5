import { expect, it } from "vitest";
import { Html, html } from "../../../src/cli/report/html.ts";

it("escapes what is put in, but for markup of its own", () => {
  const hostile = `</td><script>alert("1")</script>'&`;
  expect(html`<td title="${hostile}">${hostile}</td>`.text).toBe(
    `<td title="${escaped(hostile)}">${escaped(hostile)}</td>`,
  );
  expect(html`<p>${html`<b>${"<"}</b>`}${new Html("<i></i>")}</p>`.text).toBe("<p><b>&lt;</b><i></i></p>");
});

it("takes lists and numbers, and leaves out what is absent", () => {
  expect(html`${[1, [html`<br>`, false, null, undefined], "&"]}`.text).toBe("1<br>&amp;");
  expect(html`${0}`.text).toBe("0");
});

it("lets no control or direction character through", () => {
  expect(html`${"a\u0000b\u202ec\ud800d\te"}`.text).toBe("a\ufffdb\ufffdc\ufffdd\te");
});

function escaped(text: string): string {
  const names: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return [...text].map((character) => names[character] ?? character).join("");
}
