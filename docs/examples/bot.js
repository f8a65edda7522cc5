// A bot in JavaScript without packages:
// kibitz play line-nim line-nim/random --stdio -- node docs/examples/bot.js
"use strict";

const lines = require("node:readline").createInterface({ input: process.stdin });

// If the server describes the legal moves in words (legal_rule), find them in the position.
function emptyCells(view) {
  const cells = [];
  view.board.forEach((row, y) => [...row].forEach((cell, x) => cell === "." && cells.push({ x, y })));
  return cells;
}

function choose(turn) {
  const moves = turn.legal ?? emptyCells(turn.view);
  return moves[Math.floor(Math.random() * moves.length)];
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "turn") console.log(JSON.stringify(choose(message)));
});
