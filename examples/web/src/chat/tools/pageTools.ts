import { evaluate } from "./arithmetic";
import { argument, type PageTool } from "./tool";

const clock: PageTool = {
  name: "get_time",
  label: "Clock",
  declaration: {
    type: "function",
    function: {
      name: "get_time",
      description: "Get the current date, time and time zone",
      parameters: { type: "object", properties: {} },
    },
  },
  run: () => {
    const now = new Date();
    return JSON.stringify({
      date: now.toLocaleDateString("en-CA"),
      time: now.toLocaleTimeString("en-GB"),
      weekday: now.toLocaleDateString("en", { weekday: "long" }),
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
  },
};

const calculator: PageTool = {
  name: "calculate",
  label: "Calculator",
  declaration: {
    type: "function",
    function: {
      name: "calculate",
      description: "Compute an arithmetic expression such as (3 + 4) * sqrt(2)",
      parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
    },
  },
  run: (args) => {
    try {
      return JSON.stringify({ value: evaluate(argument(args, "expression")) });
    } catch (error) {
      return JSON.stringify({ error: error instanceof Error ? error.message : "not arithmetic" });
    }
  },
};

export const pageTools: readonly PageTool[] = [clock, calculator];
