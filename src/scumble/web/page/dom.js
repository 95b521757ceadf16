/** Elements of the page. Text is set as text, so that no name and no value is ever markup. */

/** An element with properties (text, class, attributes, handlers as on...) and children. */
export function el(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name in element && !(element instanceof SVGElement) && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Control characters, line separators, and changes of the direction of writing: shown, not obeyed. */
const DISOBEYED = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A name or a value as one line. */
export function plain(text) {
  return String(text).replace(DISOBEYED, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A label of a group: what is missing is said so. */
export function named(label) {
  return label === null ? "(missing)" : label === "" ? "(empty)" : plain(label);
}

/** A text that is cut where it is long. */
export function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Replaces what is in an element. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(2).filter(Boolean));
  return element;
}
