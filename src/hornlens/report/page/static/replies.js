// The replies of a chat model, each with how it was read, a page at a time. What narrows them down:
// a search, the answer of the prompt, what the reply was read as, and the value of an attribute.

const SHOWN = 300; // characters of a reply, before the rest is folded away
const USUAL_ENDS = ["stop", "end_turn", "tool_use", ""];

/** Return every reply with its answer, its prompt, and the candidates that it could name. */
function repliesOf(result) {
  return result.answers.flatMap((answer) => {
    const parts = answer.prompts.length === 1 ? [answer] : (answer.phrasings ?? []);
    return parts.flatMap((part, i) =>
      (part.replies ?? []).map((reply) => ({
        answer,
        reply,
        prompt: answer.prompts[i],
        words: result.worlds[answer.world].candidates[i] ?? result.worlds[answer.world].candidates.at(-1),
      })),
    );
  });
}

/** What a reply was read as: a candidate, or null. */
const readAs = ({ reply, words }) => words[reply.named] ?? null;

function replyList(result) {
  const all = repliesOf(result);
  const state = { words: "", answer: "", read: "", values: result.attributes.map(() => "") };
  const status = el("p", { class: "status", role: "status" });
  const list = byId("reply-list");

  const reasons = [...new Set(all.filter(({ answer }) => answer.winner < 0).map(({ answer }) => answer.abstained ?? ""))];
  const answers = [
    ["", "any"],
    ...result.labels.map((label, i) => [`label ${i}`, label.word]),
    ...(reasons.length ? [["none", "no answer"]] : []),
    ...(reasons.length > 1 || reasons[0] ? reasons.map((reason) => [`none ${reason}`, `no answer: ${result.reasons[reason] ?? reason}`]) : []),
  ];
  const named = [...new Set(all.map(readAs).filter((word) => word !== null))];
  const readings = [["", "anything"], ...named.map((word, i) => [`word ${i}`, word]), ["none", "nothing"]];

  const isAnswer = ({ answer }) => {
    if (state.answer === "") return true;
    if (state.answer === "none") return answer.winner < 0;
    if (state.answer.startsWith("label ")) return answer.winner === Number(state.answer.slice(6));
    return answer.winner < 0 && (answer.abstained ?? "") === state.answer.slice(5);
  };
  const isRead = (item) => {
    if (state.read === "") return true;
    return state.read === "none" ? readAs(item) === null : readAs(item) === named[Number(state.read.slice(5))];
  };
  const keep = (item) =>
    isAnswer(item) &&
    isRead(item) &&
    state.values.every((wanted, a) => wanted === "" || item.answer.choices[a] === Number(wanted)) &&
    hasWords(`${item.prompt} ${item.reply.text} ${item.reply.reading ?? ""}`, state.words);

  const draw = () => {
    const shown = all.filter(keep);
    const count = plural(all.length, "reply");
    status.textContent = shown.length === all.length ? count : `${shown.length.toLocaleString("en")} of ${count}`;
    list.replaceChildren(
      paged(shown.length, 25, "replies", (from, to) =>
        el("ol", { class: "replies", start: from + 1 }, ...shown.slice(from, to).map((item) => replyEntry(result, item))),
      ),
    );
  };
  const set = (key) => (chosen) => {
    state[key] = chosen;
    draw();
  };
  byId("reply-controls").append(
    searchField("Search", set("words")),
    choice("Answer to the prompt", answers, "", set("answer")),
    choice("Reply read as", readings, "", set("read")),
    ...result.attributes.map((attribute, a) =>
      choice(attribute.name, [["", "any"], ...askedOf(attribute)], "", (chosen) => {
        state.values[a] = chosen;
        draw();
      }),
    ),
    status,
  );
  draw();
}

/** One reply: what it is the reply to, its text, and how it was read. */
function replyEntry(result, item) {
  const { answer, reply, prompt, words } = item;
  const world = result.worlds[answer.world].name;
  const offered = (reply.order ?? []).map((place) => words[place] ?? "?");
  const asked = el("bdi", { class: "prompt" }, ...joined(prompt.split(MASK), null).map((part) => part ?? "____"));
  return el(
    "li",
    {},
    el(
      "div",
      {},
      el("p", {}, asked),
      world || offered.length
        ? el(
            "p",
            { class: "note" },
            world ? bdi(world) : "",
            world && offered.length ? "; " : "",
            ...(offered.length ? ["offered: ", ...joined(offered.map(bdi), ", ")] : []),
          )
        : null,
    ),
    replyText(reply.text),
    readingNode(result, item),
  );
}

function replyText(text) {
  if (!text) return el("div", { class: "reply" }, el("em", {}, "empty"));
  if (text.length <= SHOWN) return el("div", { class: "reply" }, bdi(text));
  return el(
    "div",
    { class: "reply" },
    bdi(`${text.slice(0, SHOWN)} …`),
    el("details", {}, el("summary", {}, `All ${text.length.toLocaleString("en")} characters`), el("div", { class: "reply" }, bdi(text))),
  );
}

function readingNode(result, item) {
  const { answer, reply } = item;
  const word = readAs(item);
  const ended = reply.finish ?? "";
  const no = `no answer (${result.reasons[answer.abstained] ?? "no reason given"})`;
  const decided = answer.winner < 0 ? [no] : ["“", bdi(result.labels[answer.winner].word), "”"];
  return el(
    "div",
    {},
    word === null ? el("p", { class: "none" }, "read as none of the candidates") : el("p", {}, "read as “", bdi(word), "”"),
    reply.reading ? el("p", { class: "note" }, bdi(reply.reading)) : null,
    answer.winner >= 0 && word === wordIn(result, answer, answer.winner) ? null : el("p", { class: "note" }, "answer to the prompt: ", ...decided),
    reply.refused ? el("p", { class: "note" }, "the endpoint calls it a refusal") : null,
    USUAL_ENDS.includes(ended) ? null : el("p", { class: "note" }, "ended by: ", bdi(ended)),
  );
}
