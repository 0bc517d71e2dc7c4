import tapUrl from "./tap.worklet.js?url&no-inline";
import { trimmed, wavOf } from "./wav";

export interface Recording {
  /** Ends it; null where nothing was heard. */
  stop: () => File | null;
  /** Ends it and keeps nothing. */
  discard: () => void;
}

/** Hears how loud it is, 0 to 1, and how long it has been, in seconds. */
type Listener = (level: number, seconds: number) => void;

/** Quieter than this, from first to last, a microphone is switched off. */
const nothing = 1e-4;

/** record listens to the microphone. It throws an Error with a sentence for the reader. */
export async function record(onLevel: Listener): Promise<Recording> {
  const stream = await listen();
  const context = new AudioContext();
  const chunks: Float32Array[] = [];
  const end = () => {
    for (const track of stream.getTracks()) track.stop();
    void context.close();
  };
  try {
    await context.audioWorklet.addModule(tapUrl);
    const tap = new AudioWorkletNode(context, "tap", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
    });
    let length = 0;
    tap.port.onmessage = ({ data }: MessageEvent<Float32Array>) => {
      chunks.push(data);
      length += data.length;
      onLevel(loudness(data), length / context.sampleRate);
    };
    context.createMediaStreamSource(stream).connect(tap);
    await context.resume();
  } catch (error) {
    end();
    throw error;
  }
  return {
    discard: end,
    stop: () => {
      const rate = context.sampleRate;
      end();
      const samples = joined(chunks);
      if (!samples.some((value) => Math.abs(value) > nothing)) return null;
      const name = `Recording, ${new Date().toLocaleTimeString([], { hour: "numeric", minute: "2-digit" })}`;
      return new File([wavOf(trimmed(samples, rate), rate)], name, { type: "audio/wav" });
    },
  };
}

async function listen(): Promise<MediaStream> {
  if (!("mediaDevices" in navigator))
    throw new Error("This page cannot use the microphone, because it does not come over HTTPS or from localhost.");
  try {
    // What filters for calls make of speech is not what the model has learned from.
    return await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false },
    });
  } catch (error) {
    throw new Error(sentenceOf(error as DOMException), { cause: error });
  }
}

function sentenceOf({ name, message }: DOMException): string {
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return "The microphone is blocked. Allow it for this page in the browser's settings, then try again.";
    case "NotFoundError":
    case "OverconstrainedError":
      return "No microphone was found. Plug one in, or attach a recording.";
    case "NotReadableError":
      return "Another program is using the microphone, or it is turned off.";
    default:
      return `The microphone does not answer: ${message}`;
  }
}

function loudness(samples: Float32Array): number {
  const power = samples.reduce((sum, value) => sum + value * value, 0) / samples.length;
  // From −60 dB to 0 dB.
  return Math.max(0, Math.min(1, 1 + (10 * Math.log10(power + 1e-12)) / 60));
}

function joined(chunks: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
