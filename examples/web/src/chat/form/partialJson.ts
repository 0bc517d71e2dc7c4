/** What stands open, from the outside in, and where the last whole value ended. */
interface Scan {
  closers: string[];
  inString: boolean;
}

function scan(text: string): Scan {
  const closers: string[] = [];
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === "\\") i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") closers.push("}");
    else if (character === "[") closers.push("]");
    else if (character === "}" || character === "]") closers.pop();
  }
  return { closers, inString };
}

const closed = (text: string): string => {
  const { closers, inString } = scan(text);
  return `${text}${inString ? '"' : ""}${closers.reverse().join("")}`;
};

/**
 * How many characters at the end are given up, at most, until the rest can be read: a key, a half literal, an escape.
 */
const mostDropped = 200;

/**
 * parsePartial reads JSON of which the end has not come yet: what stands open is closed, and what is half is left out.
 * undefined where nothing can be read.
 */
export function parsePartial(text: string): unknown {
  for (let end = text.length; end > 0 && end >= text.length - mostDropped; end--) {
    try {
      return JSON.parse(closed(text.slice(0, end)).replace(/,(?=[\]}]*$)/, "")) as unknown;
    } catch {
      // One character less.
    }
  }
  return undefined;
}
