// Turns, medians and the table.

/** inTurns measures every contender once a round, so that what else the machine does falls on all alike. */
export async function inTurns(contenders, rounds, measure) {
  const runs = contenders.map((contender) => ({ ...contender, rounds: [] }));
  for (let round = 1; round <= rounds; round++) {
    for (const run of runs) {
      console.error(`round ${round} of ${rounds}: ${run.name}`);
      run.rounds.push(await measure(run));
    }
  }
  return runs;
}

/** report prints the table and returns what it is made of. */
export function report(runs, about) {
  const texts = new Set();
  const sides = runs.map(({ name, rounds }) => {
    const answers = rounds.flatMap((round) => round.answers);
    for (const { text } of answers) texts.add(text.trim());
    return {
      name,
      info: rounds[0].info,
      tokens: answers[0].tokens,
      promptTokens: answers[0].promptTokens,
      text: answers[0].text,
      msPerToken: series(answers.map((a) => a.msPerToken)),
      cpuMsPerToken: series(answers.map((a) => a.cpuMsPerToken)),
      firstTokenMs: series(answers.map((a) => a.firstTokenMs)),
      loadMs: series(rounds.map((r) => r.loadMs)),
      firstAnswerMs: series(rounds.map((r) => r.firstAnswerMs)),
      ...(answers[0].outsideGPU !== undefined && { outsideGPU: series(answers.map((a) => a.outsideGPU)) }),
      // Each round's median over the same round's of the first.
      neighbours: series(
        rounds.map(
          (round, i) =>
            median(runs[0].rounds[i].answers.map((a) => a.msPerToken)) / median(round.answers.map((a) => a.msPerToken)),
        ),
      ),
    };
  });
  print(sides, about, texts.size === 1);
  return { ...about, sameText: texts.size === 1, sides };
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

const series = (values) => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
  runs: values,
});

function print(sides, about, same) {
  const [base] = sides;
  console.log(
    `${about.model}, ${base.promptTokens} prompt tokens, ${base.tokens} decoded; ${about.browser}, ` +
      `${about.cores} cores (${about.cpu}); medians, least and most of ${base.msPerToken.runs.length} answers`,
  );
  const range = ({ median, min, max }, digits) =>
    `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
  const rows = [
    [
      "",
      "ms a token",
      `times as fast as ${base.name}`,
      "CPU ms a token, prompt's too",
      "first token, ms",
      "load, ms",
      "load and first answer, ms",
    ],
  ];
  for (const s of sides) {
    rows.push([
      s.name,
      range(s.msPerToken, 2),
      `${(base.msPerToken.median / s.msPerToken.median).toFixed(2)}; by round ${range(s.neighbours, 2)}`,
      `${range(s.cpuMsPerToken, 2)}, ${(base.cpuMsPerToken.median / s.cpuMsPerToken.median).toFixed(2)} ×`,
      range(s.firstTokenMs, 0),
      range(s.loadMs, 0),
      range(s.firstAnswerMs, 0),
    ]);
  }
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join("  ")
        .trimEnd(),
    );
  for (const s of sides) {
    if (s.outsideGPU)
      console.log(
        `${s.name}: ${(100 * s.outsideGPU.median).toFixed(0)} % of the time between tokens the GPU had nothing ` +
          `to do (${(100 * s.outsideGPU.min).toFixed(0)}–${(100 * s.outsideGPU.max).toFixed(0)} %)`,
      );
  }
  console.log(
    same
      ? "All answers are the same text."
      : `Answers differ:\n${sides.map((s) => `  ${s.name}: ${JSON.stringify(s.text)}`).join("\n")}`,
  );
}
