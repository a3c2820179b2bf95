// The lattice: the concept under the pointer, with all above and below it.

for (const svg of document.querySelectorAll(".lattice")) {
  const nodes = [...svg.querySelectorAll("[data-node]")];
  const above = nodes.map((node) => (node.dataset.above || "").split(" ").filter(Boolean).map(Number));
  const below = nodes.map(() => []);
  above.forEach((list, i) => list.forEach((j) => below[j].push(i)));
  const reached = (start, next) => {
    const found = new Set([start]);
    const waiting = [start];
    while (waiting.length) {
      for (const j of next[waiting.pop()]) {
        if (!found.has(j)) {
          found.add(j);
          waiting.push(j);
        }
      }
    }
    return found;
  };
  const light = (i) => {
    const up = reached(i, above);
    const down = reached(i, below);
    svg.classList.add("chosen");
    nodes.forEach((node, j) => node.classList.toggle("lit", up.has(j) || down.has(j)));
    for (const line of svg.querySelectorAll("line")) {
      const [a, b] = [Number(line.dataset.from), Number(line.dataset.to)];
      line.classList.toggle("lit", (up.has(a) && up.has(b)) || (down.has(a) && down.has(b)));
    }
  };
  const clear = () => svg.classList.remove("chosen");
  nodes.forEach((node, i) => {
    node.addEventListener("pointerenter", () => light(i));
    node.addEventListener("pointerleave", clear);
  });
}
