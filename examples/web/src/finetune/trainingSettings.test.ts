import { expect, it } from "vitest";
import { suggestedEpochs, trainingOptionsOf, useTrainingSettings } from "./trainingSettings";

it.each([[3, 40], [8, 40], [16, 20], [80, 4], [200, 3], [10_000, 3]])("%d examples in batches of 8 are gone through %d times", (examples, epochs) => {
  expect(suggestedEpochs(examples, 8)).toBe(epochs);
});

it("leaves to the model and the data what nobody has set", () => {
  const suggested = { epochs: 7, learningRate: 2e-4 };
  const settings = useTrainingSettings.getState();
  expect(trainingOptionsOf(settings, suggested)).toEqual({
    rank: 16, schedule: "cosine", batchExamples: 8, maxLength: 2048, allTurns: false, seed: 0, heldOut: 0.05, wordDropout: 0.4, epochs: 7, learningRate: 2e-4, badLines: "refuse",
  });
  expect(trainingOptionsOf({ ...settings, epochs: 1, learningRate: 1e-3, patience: 2, memory: 300, skipBad: true }, suggested)).toMatchObject({ epochs: 1, learningRate: 1e-3, patience: 2, memoryBudget: 300e6, badLines: "skip" });
});
