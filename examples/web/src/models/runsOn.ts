import type { ModelInfo } from "gemwire";

/**
 * runsOn says where a model runs, and why not on the GPU. What a program can do about that, behind a semicolon, is for
 * programmers.
 */
export const runsOn = ({ deviceName, fallback }: Pick<ModelInfo, "deviceName" | "fallback">): string =>
  fallback ? `${deviceName}: ${fallback.replace(/; .*/s, "")}` : deviceName;
