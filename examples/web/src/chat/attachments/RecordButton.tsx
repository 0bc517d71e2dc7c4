import { useEffect, useRef, useState } from "react";
import { useToasts } from "../../app/toasts";
import { IconButton } from "../../ui/Button";

/** Records from the microphone, from one press to the next. */
export function RecordButton({ onRecorded }: { onRecorded: (file: File) => void }) {
  const show = useToasts((state) => state.show);
  const recorder = useRef<MediaRecorder | null>(null);
  const [seconds, setSeconds] = useState<number | null>(null);
  const recording = seconds !== null;

  useEffect(() => {
    if (!recording) return;
    const timer = setInterval(() => { setSeconds((value) => (value === null ? null : value + 1)); }, 1000);
    return () => { clearInterval(timer); };
  }, [recording]);
  useEffect(() => () => { recorder.current?.stop(); }, []);

  const start = async () => {
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const made = new MediaRecorder(stream);
      const pieces: Blob[] = [];
      made.ondataavailable = ({ data }) => pieces.push(data);
      made.onstop = () => {
        stream.getTracks().forEach((track) => { track.stop(); });
        recorder.current = null;
        setSeconds(null);
        const type = made.mimeType.split(";")[0] ?? "";
        const name = `Recording, ${new Date().toLocaleTimeString([], { hour: "numeric", minute: "2-digit" })}`;
        if (pieces.length > 0) onRecorded(new File(pieces, name, { type: type.replace(/^video\//, "audio/") }));
      };
      made.start();
      recorder.current = made;
      setSeconds(0);
    } catch {
      show("The microphone is not there, or this page may not use it.");
    }
  };

  return (
    <>
      {recording && <span role="timer" className="self-center text-sm text-wire tabular-nums">{Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, "0")}</span>}
      <IconButton icon={recording ? "stop" : "microphone"} label={recording ? "End the recording" : "Record"} className={recording ? "!text-wire" : ""}
        onClick={() => { if (recorder.current) recorder.current.stop(); else void start(); }} />
    </>
  );
}
