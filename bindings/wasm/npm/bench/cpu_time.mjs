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
  const processes = list("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        return [{ pid, parent: /^PPid:\s+(\d+)/m.exec(read(`${pid}/status`))[1], command: read(`${pid}/cmdline`) }];
      } catch {
        return []; // it has ended
      }
    });
  // Not every build names the profile to the processes that it starts.
  const ours = new Set(processes.filter(({ command }) => command.includes(profile)).map(({ pid }) => pid));
  for (let before = -1; before < ours.size;) {
    before = ours.size;
    for (const { pid, parent } of processes) if (ours.has(parent)) ours.add(pid);
  }
  return processes
    .filter(({ pid }) => ours.has(pid))
    .flatMap(({ pid, command }) =>
      list(`/proc/${pid}/task`).flatMap((task) => {
        try {
          return [
            {
              command,
              name: read(`${pid}/task/${task}/comm`),
              ms: Number(read(`${pid}/task/${task}/schedstat`).split(" ")[0]) / 1e6,
            },
          ];
        } catch {
          return [];
        }
      }),
    );
}

function read(path) {
  return readFileSync(join("/proc", path), "utf8");
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
