import { useEffect, useRef, useState } from "react";
import { record, type Recording } from "./microphone";

/** What a model hears at a time, in seconds. */
export const longest = 30;

interface Uses {
  onRecorded: (file: File) => void;
  /** Hears, in a sentence, why nothing was recorded. */
  onRefused: (sentence: string) => void;
}

/** A recording of the microphone: whether there is one, how loud and how long it is. */
export function useRecorder({ onRecorded, onRefused }: Uses) {
  const [state, setState] = useState<"idle" | "starting" | "recording">("idle");
  const [heard, setHeard] = useState({ level: 0, seconds: 0 });
  const current = useRef<Recording | null>(null);
  useEffect(() => () => current.current?.discard(), []);

  const end = (keep: boolean) => {
    const recording = current.current;
    current.current = null;
    setState("idle");
    if (!recording) return;
    if (!keep) {
      recording.discard();
      return;
    }
    const file = recording.stop();
    if (file) onRecorded(file);
    else onRefused("There was no sound. Is the microphone turned on?");
  };
  const start = async () => {
    setState("starting");
    setHeard({ level: 0, seconds: 0 });
    onRefused("");
    try {
      current.current = await record((level, seconds) => {
        setHeard({ level, seconds });
        // Later samples than these would be cut off by the model.
        if (seconds >= longest - 0.1) end(true);
      });
      setState("recording");
    } catch (error) {
      setState("idle");
      onRefused(error instanceof Error ? error.message : String(error));
    }
  };
  return { state, ...heard, start, end };
}
