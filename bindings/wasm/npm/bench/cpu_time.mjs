// How long a browser has computed, which other programs on the machine's cores change
// less than they change how long it took.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

// cpuTime is the milliseconds of Chromium's workers and of its GPU process so far; the
// browser is the one with that profile. It is for Linux, and zero elsewhere.
export function cpuTime(profile) {
  const spent = { worker: 0, gpu: 0 };
  for (const task of tasksOf(profile)) {
    if (task.command.includes("--type=gpu-process")) spent.gpu += task.ms;
    else if (task.name.startsWith("DedicatedWorker")) spent.worker += task.ms;
  }
  return spent;
}

function tasksOf(profile) {
  const read = (path) => readFileSync(join("/proc", path), "utf8");
  return list("/proc").filter((pid) => /^\d+$/.test(pid)).flatMap((pid) => {
    try {
      const command = read(`${pid}/cmdline`);
      if (!command.includes(profile)) return [];
      return list(`/proc/${pid}/task`).map((task) => ({
        command, name: read(`${pid}/task/${task}/comm`), ms: Number(read(`${pid}/task/${task}/schedstat`).split(" ")[0]) / 1e6,
      }));
    } catch {
      return []; // it has ended
    }
  });
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
