import { unzip, zip, type Unzipped } from "fflate";

/** What a file of an adapter may hold, in bytes, however small it is in an archive. */
const most = 2e9;
const parts = /(^|\/)(adapter_config\.json|[^/]*\.safetensors|[^/]*\.gguf)$/;

/** zipped puts files into a folder of one archive, as they are: weights do not get smaller by packing. */
export async function zipped(files: readonly File[], name: string): Promise<File> {
  const entries = Object.fromEntries(
    await Promise.all(
      files.map(async (file) => [`${name}/${file.name}`, new Uint8Array(await file.arrayBuffer())] as const),
    ),
  );
  const bytes = await new Promise<Uint8Array<ArrayBuffer>>((resolve, reject) => {
    zip(entries, { level: 0 }, (error, data) => {
      if (error) reject(error);
      else resolve(data);
    });
  });
  return new File([bytes], `${name}.zip`, { type: "application/zip" });
}

/** unzipped is the files of an adapter in an archive, or the file itself where it is none. */
export async function unzipped(file: File): Promise<File[]> {
  if (!/\.zip$/i.test(file.name)) return [file];
  const bytes = new Uint8Array(await file.arrayBuffer());
  let room = most;
  const found = await new Promise<Unzipped>((resolve, reject) => {
    unzip(
      bytes,
      {
        filter: ({ name, originalSize }) => {
          if (!parts.test(name)) return false;
          room -= originalSize;
          return room >= 0;
        },
      },
      (error, data) => {
        if (error) reject(new Error(`${file.name} cannot be read as an archive.`));
        else resolve(data);
      },
    );
  });
  if (room < 0) throw new Error(`${file.name} is larger than 2 GB when unpacked.`);
  const files = Object.entries(found).map(([name, data]) => new File([data], name.slice(name.lastIndexOf("/") + 1)));
  if (files.length === 0)
    throw new Error(
      `${file.name} contains no adapter. It needs adapter_config.json and adapter_model.safetensors, or a .gguf file.`,
    );
  return files;
}
