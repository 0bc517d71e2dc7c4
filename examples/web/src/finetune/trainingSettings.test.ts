import { expect, it } from "vitest";
import { trainingOptionsOf, useTrainingSettings } from "./trainingSettings";

it("leaves to the model and the data what nobody has set", () => {
  const settings = useTrainingSettings.getState();
  expect(trainingOptionsOf(settings)).toEqual({
    rank: 16,
    schedule: "cosine",
    maxLength: 2048,
    allTurns: false,
    seed: 0,
    wordDropout: 0.4,
    badLines: "refuse",
  });
  expect(
    trainingOptionsOf({
      ...settings,
      epochs: 1,
      heldOut: 5,
      batchExamples: 4,
      learningRate: 1e-3,
      patience: 2,
      memory: 300,
      skipBad: true,
      keepWhatItKnows: true,
    }),
  ).toMatchObject({
    keep: -1,
    epochs: 1,
    heldOut: 0.05,
    batchExamples: 4,
    learningRate: 1e-3,
    patience: 2,
    memoryBudget: 300e6,
    badLines: "skip",
  });
});
