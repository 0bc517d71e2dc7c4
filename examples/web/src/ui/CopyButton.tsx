import { useEffect, useState } from "react";
import { IconButton } from "./Button";

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => {
      setCopied(false);
    }, 1500);
    return () => {
      clearTimeout(timer);
    };
  }, [copied]);
  return (
    <IconButton
      small
      icon={copied ? "check" : "copy"}
      label={copied ? "Copied" : label}
      onClick={() =>
        void navigator.clipboard.writeText(text).then(
          () => {
            setCopied(true);
          },
          () => undefined,
        )
      }
    />
  );
}
