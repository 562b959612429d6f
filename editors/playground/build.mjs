// Makes the part of the playground that is not in the book: the command, its worker, and the examples of README.md.
//
//     node build.mjs COMMAND.wasm OUTPUT.js
//
// It is a script and no data to fetch, because a browser loads a script from a file, too.

import { buildSync } from "esbuild";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = new URL("../../", import.meta.url);
const [wasm, output] = process.argv.slice(2);
if (!output) {
  console.error("usage: node build.mjs COMMAND.wasm OUTPUT.js");
  process.exit(2);
}

/** The command lines of README.md that need nothing but files, without their comments. */
function examples(readme) {
  const lines = readme.matchAll(/^\$ ((?:[A-Z_]+=\S+ )?relax-spec (.*?))(?:\s+# .*)?$/gm);
  const offered = /^(check|run|types|judge|refine|migrate|build|vm|errata)\b/;
  return [...lines].filter(([, , words]) => offered.test(words)).map(([, line]) => line);
}

const readme = readFileSync(new URL("README.md", root), "utf8");
const lines = examples(readme);
const paths = new Set(lines.flatMap((line) => line.match(/examples\/\w+\.py/g) ?? []));
const worker = buildSync({
  entryPoints: [fileURLToPath(new URL("worker.js", import.meta.url))],
  bundle: true,
  minify: true,
  write: false,
});
const made = {
  examples: lines,
  files: Object.fromEntries([...paths].map((path) => [path, readFileSync(new URL(path, root), "utf8")])),
  worker: worker.outputFiles[0].text,
  command: gzipSync(readFileSync(wasm), { level: 9 }).toString("base64"),
};
writeFileSync(`${output}.new`, `globalThis.relaxSpecPlayground = ${JSON.stringify(made)};\n`);
renameSync(`${output}.new`, output);
console.log(`${output}: ${lines.length} examples, ${made.command.length} bytes of command`);
