// Compiled, never run: the package's types and Go's must have the same names,
// the same of them optional, and every value of ours must be one of Go's. Where
// Go says string or number, ours may be narrower.
import type * as go from "./protocol.gen.js";
import { ops } from "./protocol.gen.js";
import type * as wire from "../src/protocol.js";
import type * as api from "../src/types.js";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type OptionalKeys<T> = { [K in keyof T]-?: {} extends Pick<T, K> ? K : never }[keyof T];
type Alike<Go, Ours> =
  Same<keyof Go, keyof Ours> extends true
    ? Same<OptionalKeys<Go>, OptionalKeys<Ours>> extends true
      ? [Ours] extends [Go]
        ? true
        : ["values differ", Go, Ours]
      : ["optional keys differ", Go, Ours]
    : ["keys differ", keyof Go, keyof Ours];

// Each line is an error where the two differ.
type Check<T extends true> = T;
export type Checks = [
  Check<Alike<go.OpenParams, wire.OpenParams>>,
  Check<Alike<go.OpenResult, wire.OpenResult>>,
  Check<Alike<go.PlanResult, wire.PlanResult>>,
  Check<Alike<go.LoadProgress, api.LoadProgress>>,
  Check<Alike<go.ModelParams, wire.ModelParams>>,
  Check<Alike<go.SessionParams, wire.SessionParams>>,
  Check<Alike<go.SessionRef, wire.SessionRef>>,
  Check<Alike<go.SessionResult, wire.SessionResult>>,
  Check<Alike<go.ChatParams, wire.ChatParams>>,
  Check<Alike<go.CallParams, wire.CallParams>>,
  Check<Alike<go.Gemma4Form, wire.Form>>,
  Check<Alike<go.Usage, api.Usage>>,
  Check<Alike<go.Call, api.ToolCall>>,
  Check<Alike<go.ChosenToken, api.ChosenToken>>,
  Check<Alike<go.TokenLogProb, api.TokenLogProb>>,
  Check<Alike<go.TokenizeParams, wire.TokenizeParams>>,
  Check<Alike<go.TokensResult, wire.TokensResult>>,
  Check<Alike<go.DetokenizeParams, wire.DetokenizeParams>>,
  Check<Alike<go.TextResult, wire.TextResult>>,
  Check<Alike<go.CountParams, wire.CountParams>>,
  Check<Alike<go.CountResult, wire.CountResult>>,
  Check<Alike<go.FormParams, wire.FormParams>>,
  Check<Alike<go.AdapterParams, wire.AdapterParams>>,
  Check<Alike<go.UseAdaptersParams, wire.UseAdaptersParams>>,
  Check<Alike<go.AdapterWeight, api.AdapterWeight>>,
  Check<Alike<go.AdaptersResult, wire.AdaptersResult>>,
  Check<Alike<go.Gemma4AdapterUse, api.AdapterInfo>>,
  Check<Alike<go.ConvertParams, wire.ConvertParams>>,
  Check<Alike<go.FileChunk, wire.FileChunk>>,
  Check<Alike<go.DataParams, api.DataOptions>>,
  Check<Alike<go.PreviewParams, wire.PreviewParams>>,
  Check<Alike<go.PreviewResult, api.DataPreview>>,
  Check<Alike<go.DataReport, api.DataReport>>,
  Check<Alike<go.PreviewExample, api.PreviewExample>>,
  Check<Alike<go.TrainingSettings, api.TrainingSettings>>,
  Check<Alike<go.PrepareParams, wire.PrepareParams>>,
  Check<Alike<go.PrepareResult, wire.PrepareResult>>,
  Check<Alike<go.TrainingPlan, api.TrainingPlan>>,
  Check<Alike<go.RehearsalEvent, api.RehearsalEvent>>,
  Check<Alike<go.RunParams, wire.RunParams>>,
  Check<Alike<go.ShowParams, wire.ShowParams>>,
  Check<Alike<go.ShowResult, wire.ShowResult>>,
  Check<Alike<go.TrainParams, wire.TrainParams>>,
  Check<Alike<go.StepEvent, api.StepEvent>>,
  Check<Alike<go.TrainResult, wire.TrainResult>>,
  Check<Alike<go.PauseParams, wire.PauseParams>>,
  Check<Alike<go.RunAdapterParams, wire.RunAdapterParams>>,
  Check<Alike<go.UseRunParams, wire.UseRunParams>>,
  Check<Alike<go.CheckpointResult, wire.CheckpointResult>>,
  Check<Alike<go.ExamineParams, wire.ExamineParams>>,
  Check<Alike<go.ExamineProgress, api.SelfTestProgress>>,
  Check<Alike<go.MemoryResult, wire.MemoryResult>>,
  Check<Alike<go.Media, wire.Media>>,
  Check<Alike<go.MediaRef, wire.MediaRef>>,
  Check<Alike<go.CancelParams, wire.CancelParams>>,
  Check<Alike<go.Failure, wire.Failure>>,
  Check<Alike<go.Notice, wire.Notice>>,
  Check<Alike<go.Suggestion, wire.Suggestion>>,
  Check<Alike<go.Gemma4Info, Omit<api.ModelInfo, keyof wire.Media>>>,
  Check<Alike<go.Gemma4Plan, api.Plan>>,
  Check<Alike<go.Gemma4PlanEntry, api.PlanTensor>>,
  Check<Alike<go.AdapterInfo, api.Adapter>>,
  Check<Alike<go.AdapterLimits, api.Limits>>,
  Check<Alike<go.AdapterFeatures, api.Features>>,
  Check<Alike<go.WgslkitAvoid, api.Avoid>>,
  Check<Alike<go.CheckupVerdict, api.Verdict>>,
  Check<Alike<go.CheckupOpVerdict, api.OpVerdict>>,
  Check<Alike<go.CheckupFailure, api.SelfTestFailure>>,
  Check<Alike<go.CheckupFindings, api.Findings>>,
  Check<Alike<go.CheckupLeftOut, api.LeftOut>>,
  Check<Alike<go.WgslkitKernelID, api.Kernel>>,
  Check<
    Same<
      | Exclude<keyof api.ChatOptions, "signal" | "responseFormat" | "toolChoice" | "parallelToolCalls">
      | ("session" | "messages" | "media" | "form" | "calls"),
      keyof go.ChatParams
    >
  >,
];

export { ops };
