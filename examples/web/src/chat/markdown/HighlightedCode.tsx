import { useMemo } from "react";
import { highlight } from "./highlight";

export default function HighlightedCode({ code, language }: { code: string; language: string }) {
  const colored = useMemo(() => highlight(code, language), [code, language]);
  return colored ?? code;
}
