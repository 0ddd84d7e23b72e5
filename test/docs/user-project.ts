import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import ts from "typescript";
import { command, requireBuild, root } from "../built-package.ts";

const execute = promisify(execFile);

const TARGET = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  rewriteRelativeImportExtensions: true,
} satisfies ts.CompilerOptions;

/** A folder as whoever installed the package has it: TypeScript files, the built package, the command. */
export class UserProject {
  readonly folder: string;

  constructor() {
    requireBuild();
    this.folder = mkdtempSync(join(tmpdir(), "zarrflow-project-"));
    mkdirSync(join(this.folder, "node_modules/.bin"), { recursive: true });
    symlinkSync(root, join(this.folder, "node_modules/zarrflow"));
    for (const name of ["zarrita", "@zarrita"]) {
      symlinkSync(join(root, "node_modules", name), join(this.folder, "node_modules", name));
    }
    symlinkSync(join(root, "node_modules/@types"), join(this.folder, "node_modules/@types"));
    symlinkSync(command, join(this.folder, "node_modules/.bin/zarrflow"));
    cpSync(join(root, "examples"), join(this.folder, "examples"), { recursive: true });
    this.write("package.json", '{ "type": "module", "private": true }');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Strips the types of modules, without checking them. */
  transpile(names: readonly string[]): void {
    const compilerOptions = { ...TARGET, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };
    for (const name of names) {
      const text = readFileSync(join(this.folder, name), "utf8");
      const { outputText } = ts.transpileModule(text, { compilerOptions });
      this.write(name.replace(/\.ts$/, ".js"), outputText.replace(/(?<=from "\.[^"]*)\.ts(?=")/g, ".js"));
    }
  }

  /** Errors of files, by file, where they are compiled strictly against the declarations of the built package. */
  typeErrors(names: readonly string[]): Map<string, string[]> {
    const program = ts.createProgram(
      names.map((name) => join(this.folder, name)),
      {
        ...TARGET,
        lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
        types: ["node"],
        typeRoots: [join(this.folder, "node_modules/@types")],
        strict: true,
        noEmit: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
      },
    );
    const wrong = new Map<string, string[]>();
    for (const { file, start, messageText } of ts.getPreEmitDiagnostics(program)) {
      const name = file?.fileName.slice(this.folder.length + 1) ?? "";
      const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      const text = `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
      wrong.set(name, [...(wrong.get(name) ?? []), text]);
    }
    return wrong;
  }

  /** What a file is compiled to. */
  compiled(name: string): string {
    return join(this.folder, name.replace(/\.ts$/, ".js"));
  }

  /** Runs a line of shell with `zarrflow` on the path. @throws when any part of a pipe fails. */
  async shell(line: string, cwd: string): Promise<string> {
    const PATH = `${join(this.folder, "node_modules/.bin")}:${process.env.PATH}`;
    const { stdout } = await execute("bash", ["-euo", "pipefail", "-c", line], {
      cwd,
      env: { ...process.env, PATH },
      maxBuffer: 2 ** 26,
    });
    return stdout;
  }

  /** Runs a line that serves, at a free port, until it has printed where, and interrupts it. @throws when it exits with another code than 0. */
  async served(line: string, cwd: string): Promise<void> {
    const [, ...words] = line.replace(/--port \d+/, "--port 0").split(" ");
    const child = spawn(process.execPath, [command, ...words], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const said = text(child.stderr);
    const ended = once(child, "exit");
    await Promise.race([once(child.stdout, "data"), ended]);
    child.kill("SIGINT");
    const [code] = await ended;
    if (code !== 0) throw new Error(`${line}: exit code ${code}: ${await said}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
