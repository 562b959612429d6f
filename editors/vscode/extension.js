// Starts `relax-spec server` for the Python files of a window. All that it shows comes from the server.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

function started() {
  const settings = vscode.workspace.getConfiguration("relaxSpec");
  const command = settings.get("command", "relax-spec");
  const server = { command, args: ["server", ...settings.get("arguments", [])] };
  return new LanguageClient("relaxSpec", "Relax", server, {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
    ],
    // Another edition may hold from now on.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/relax-spec.toml") },
  });
}

async function restart() {
  await deactivate();
  client = started();
  await client.start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("relaxSpec.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("relaxSpec")) void restart();
    }),
  );
  await restart();
}

async function deactivate() {
  const old = client;
  client = undefined;
  await old?.stop();
}

module.exports = { activate, deactivate };
