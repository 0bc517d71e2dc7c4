/** A file that is known to work, at its publisher's. The address can be edited before it is fetched. */
export interface CatalogEntry {
  name: string;
  about: string;
  url: string;
  /** Bytes, as published; the server's own figure is shown once it has been asked. */
  size: number;
}

export const catalog: readonly CatalogEntry[] = [
  {
    name: "Gemma 4 E2B, Q4_0",
    about: "Google's own, trained for this format. Start with this one: for laptops and recent phones.",
    url: "https://huggingface.co/google/gemma-4-E2B-it-qat-q4_0-gguf/resolve/main/gemma-4-E2B_q4_0-it.gguf",
    size: 3_349_516_256,
  },
  {
    name: "Gemma 4 E4B, Q4_0",
    about: "Google's own. Better at long and hard questions. Needs a GPU with 6 GB or more.",
    url: "https://huggingface.co/google/gemma-4-E4B-it-qat-q4_0-gguf/resolve/main/gemma-4-E4B_q4_0-it.gguf",
    size: 5_154_941_280,
  },
  {
    name: "Gemma 4 E2B, Q8_0",
    about: "ggml.org's conversion with 8 bits per weight: closest to the original.",
    url: "https://huggingface.co/ggml-org/gemma-4-E2B-it-GGUF/resolve/main/gemma-4-E2B-it-Q8_0.gguf",
    size: 4_967_494_592,
  },
  {
    name: "Gemma 4 E4B, Q4_K_M",
    about: "ggml.org's conversion of the larger model.",
    url: "https://huggingface.co/ggml-org/gemma-4-E4B-it-GGUF/resolve/main/gemma-4-E4B-it-Q4_K_M.gguf",
    size: 5_335_285_440,
  },
];
