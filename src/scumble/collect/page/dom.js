// Elements made of texts. Whatever a survey says is text, never HTML.

/** An element with attributes, listeners (onclick, ...) and children. */
export function make(tag, attributes = {}, ...children) {
  const space = ["svg", "path", "circle", "line", "rect"].includes(tag) ? "http://www.w3.org/2000/svg" : null;
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Shows something in the place of what was there, and leads the reader to its heading. */
export function show(place, ...parts) {
  place.replaceChildren(...parts.flat().filter((part) => part !== null));
  const heading = place.querySelector("h2");
  if (heading) {
    heading.tabIndex = -1;
    heading.focus();
  }
}
