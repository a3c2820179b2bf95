// Tables that are wider than the screen are put into a box that scrolls: a keyboard must get there, too.
const reach = () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Table");
  }
};
new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
reach();
