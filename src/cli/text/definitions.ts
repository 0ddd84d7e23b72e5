/** Names and their descriptions, in lines of at most `width`. Long descriptions are wrapped and indented. */
export function definitions(rows: readonly (readonly [name: string, text: string])[], width = 100): string {
  const room = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.flatMap(([name, text]) =>
    wrapped(text, width - room - 4).map((line, i) =>
      `  ${(i === 0 ? name : "").padEnd(room)}  ${line}`.trimEnd(),
    ),
  );
  return lines.join("\n");
}

/** Wraps text at spaces into lines of at most `width`. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
