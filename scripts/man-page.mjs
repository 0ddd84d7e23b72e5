// Makes dist/zarrflow.1.gz, the manual page, from the output of `zarrflow help`. Explains shared flags once.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** @param {string} root folder of the package, whose `dist/` is built */
export function makeManPage(root) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const help = (...args) => {
    const { stdout, status } = spawnSync(process.execPath, [join(root, "dist/cli/main.js"), "help", ...args]);
    if (status !== 0) throw new Error(`zarrflow help ${args.join(" ")} failed`);
    return String(stdout);
  };
  writeFileSync(join(root, "dist/zarrflow.1.gz"), gzipSync(manPage(help, version), { level: 9 }));
}

function manPage(help, version) {
  const [summary, , commandText, ...rest] = help().trimEnd().split("\n\n");
  const listed = rows(commandText.split("\n").slice(1));
  const exitCodes = rest.pop();
  const commands = listed
    .filter(([name]) => name !== "help")
    .map(([name, text]) => ({ name, text, ...parts(help(name)) }));
  const uses = new Map();
  for (const { flags } of commands) {
    for (const [flag, text] of flags) uses.set(`${flag}\n${text}`, (uses.get(`${flag}\n${text}`) ?? 0) + 1);
  }
  const isShared = ([flag, text]) => uses.get(`${flag}\n${text}`) > 1;
  const shared = [...uses].filter(([, count]) => count > 1).map(([flag]) => flag.split("\n"));
  const lines = [
    `.TH ZARRFLOW 1 "" "zarrflow ${version}" ""`,
    ".SH NAME",
    `zarrflow \\- ${escaped(summary.replace(/^zarrflow /, ""))}`,
    ".SH SYNOPSIS",
    ".B zarrflow\n.I COMMAND OPERANDS\n[\\-\\-flags]",
    ".SH DESCRIPTION",
    ...rest.map((text) => `.PP\n${escaped(text)}`),
    ".SH COMMANDS",
    ...commands.flatMap(({ name, text, usage, notes, flags, examples }) => [
      `.SS ${name}`,
      escaped(`${text}.`),
      `.PP\n.B ${escaped(usage)}`,
      ...notes.map((note) => `.PP\n${escaped(note)}`),
      ...flags.filter((flag) => !isShared(flag)).map(item),
      `.PP\nAlso: ${escaped(
        flags
          .filter(isShared)
          .map(([flag]) => flag.split(/[ [=]/)[0])
          .join(", "),
      )}`,
      ...examples.map(([says, line]) => `.PP\n${escaped(says)}:\n.br\n.B ${escaped(line)}`),
    ]),
    ".SH FLAGS OF SEVERAL COMMANDS",
    ...shared.sort(([a], [b]) => (a < b ? -1 : 1)).map(item),
    ".SH EXIT STATUS",
    ...rows(exitCodes.split("\n").slice(1)).map(item),
  ];
  return `${lines.join("\n")}\n`;
}

/** The parts of a command's help. */
function parts(text) {
  const blocks = text.trimEnd().split("\n\n");
  const at = blocks.findIndex((block) => block.startsWith("flags\n"));
  const examples = blocks
    .slice(at + 1)
    .join("\n")
    .split("\n")
    .slice(1);
  return {
    usage: blocks[1].replace(/^usage: /, "").replace(/ \[--flags\]$/, " [--flags]"),
    notes: blocks.slice(2, at),
    flags: rows(blocks[at].split("\n").slice(1)),
    examples: examples.flatMap((line, i) =>
      line.startsWith("  # ") ? [[line.slice(4), examples[i + 1].trim()]] : [],
    ),
  };
}

/** Names and texts of lines in two columns; the second column can continue on the next lines. */
function rows(lines) {
  const found = [];
  for (const line of lines) {
    const [, name, text] = /^ {2}(\S.*?) {2,}(\S.*)$/.exec(line) ?? [];
    if (name === undefined) found.at(-1)[1] += ` ${line.trim()}`;
    else found.push([name, text]);
  }
  return found;
}

function item([name, text]) {
  return `.TP\n.B ${escaped(name)}\n${escaped(text)}`;
}

/** Escapes text for roff. */
function escaped(text) {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/^([.'])/gm, "\\&$1");
}
