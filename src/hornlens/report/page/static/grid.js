// Grids of buttons: a part of a long axis at a time, one stop for the tab key.

/** Return the numbers from `start`, at most `count` of them, below `end`. */
function range(start, count, end) {
  return Array.from({ length: Math.max(0, Math.min(count, end - start)) }, (_, i) => start + i);
}

/** One stop for the tab key; arrows, Home and End move between the cells. */
function arrowKeys(table) {
  const grid = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll(".cell")]);
  const last = (list) => list.length - 1;
  const clamp = (value, top) => Math.max(0, Math.min(value, top));
  const moves = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -Infinity],
    End: [0, Infinity],
  };
  grid[0][0].tabIndex = 0;
  grid.forEach((row, r) =>
    row.forEach((cell, c) => {
      cell.addEventListener("keydown", (event) => {
        const move = moves[event.key];
        if (!move) return;
        event.preventDefault();
        grid[clamp(r + move[0], last(grid))][clamp(c + move[1], last(row))].focus();
      });
      cell.addEventListener("focus", () => {
        for (const other of grid.flat()) other.tabIndex = -1;
        cell.tabIndex = 0;
      });
    }),
  );
}
