// The page's own checker, 10: it runs beside the page, a little at a time, and shows what came out.

((v) => {
  const SLICE = 12;

  /** Run the steps of a check in small slices, so that the page stays usable. */
  v.inSlices = (steps) =>
    new Promise((resolve, reject) => {
      const run = () => {
        try {
          const end = performance.now() + SLICE;
          while (performance.now() < end) {
            const { done, value } = steps.next();
            if (done) return resolve(value);
          }
          setTimeout(run);
        } catch (error) {
          reject(error);
        }
      };
      setTimeout(run);
    });

  /** Check the text of a document: its digest, and all that is recounted. */
  v.checkText = async (text) => {
    const { stated, digest } = await v.digestOf(text);
    const content = JSON.parse(text);
    const parts = Object.hasOwn(Object(content), "classifier") ? await v.unpack(content) : null;
    const result = await v.inSlices(v.verifySteps(content, parts));
    if (stated === null) result.notChecked.unshift("that the document is as it was written: it has no digest");
    else if (stated !== digest) Object.assign(result, { ok: false, wrong: `the digest is ${digest}: the document was changed after it was written` });
    else result.checked.unshift("digest: the document in this page is as it was written");
    return { ...result, digest };
  };

  const node = (tag, text, name) => {
    const made = document.createElement(tag);
    made.append(text);
    if (name) made.className = name;
    return made;
  };

  const list = (title, items, open) => {
    const [details, ul] = [document.createElement("details"), document.createElement("ul")];
    details.open = open;
    ul.append(...items.map((item) => node("li", item)));
    details.append(node("summary", title), ul);
    return details;
  };

  function show(place, { ok, wrong, checked, notChecked, count, unit, digest }) {
    const noun = count === 1 ? unit : `${unit}s`;
    const recounted = count
      ? `Recounted in this browser from ${v.show(count)} ${noun}: rules and counts agree.`
      : checked.length > 1
        ? "This page has no answers to recount: in this browser, the shape of its rules and the digest agree."
        : "Nothing was recounted in this browser.";
    const line = ok ? node("p", recounted, "self-check-ok") : node("p", `Not as it should be: ${wrong}. Do not rely on this page.`, "self-check-wrong");
    const code = node("code", digest);
    code.tabIndex = 0;
    const note = node("p", "Digest ", "note");
    note.append(code, ". A page can be forged as a whole, this check included. What settles it is ", node("code", "hornlens verify"), " from your own installation, or the seal.");
    const done = checked.length ? [list("What agrees", checked, false)] : [];
    place.replaceChildren(line, ...done, list("What was not checked here", notChecked, false), note);
    place.dataset.outcome = ok ? "ok" : "wrong";
  }

  /** Check the document of this page, and show the outcome. */
  v.checkPage = async () => {
    const place = document.getElementById("self-check");
    if (!place) return;
    try {
      show(place, await v.checkText(document.getElementById("data").textContent));
    } catch (error) {
      place.replaceChildren(node("p", `This browser could not check the page (${error.message}): use hornlens verify.`, "note"));
      place.dataset.outcome = "unchecked";
    }
  };

  if (typeof document !== "undefined") v.checkPage();
})(Verifier);
