import type { Findings, LeftOut } from "gemwire";
import { count } from "../ui/format";

const nameOf = ({ kernel }: LeftOut) => kernel.replace(/\[.*/, "").replace(/\.wgsl$/, "");

/** kernelsText says what was found out about the kernels that a model takes. */
export function kernelsText({ kernels, leftOut = [] }: Findings): string {
  const right = `${count(kernels)} checked on this GPU`;
  return leftOut.length === 0 ? right : `${right}; computed wrongly and left out: ${namesOf(leftOut)}`;
}

/** leftOutText warns of kernels that a GPU computes wrongly. */
export const leftOutText = (leftOut: readonly LeftOut[]): string =>
  `This GPU’s driver computes wrongly with ${namesOf(leftOut)}. Answers are right: other kernels do the work, ` +
  "more slowly. An update of the driver or the browser may help.";

// At most three names: each stands for a file of kernels, which has several variants.
function namesOf(leftOut: readonly LeftOut[]): string {
  const names = [...new Set(leftOut.map(nameOf))];
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${count(names.length - 3)} more` : names.join(", ");
}
