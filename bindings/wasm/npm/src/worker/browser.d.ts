// What browsers have in workers and TypeScript's DOM library lacks.
interface FileSystemSyncAccessHandle {
  close(): void;
  flush(): void;
  getSize(): number;
  read(buffer: ArrayBufferView, options?: { at?: number }): number;
  truncate(size: number): void;
  write(buffer: ArrayBufferView, options?: { at?: number }): number;
}

interface FileSystemFileHandle {
  createSyncAccessHandle(options?: {
    mode?: "readwrite" | "read-only" | "readwrite-unsafe";
  }): Promise<FileSystemSyncAccessHandle>;
  move?(name: string): Promise<void>;
}

declare module "gemwire:wasm_exec";
declare module "gemwire:kernels" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
declare module "gemwire:link" {
  export function link(
    bytes: BufferSource,
  ): Promise<{ imports: WebAssembly.Imports; bind(memory: WebAssembly.Memory): void }>;
}
declare module "gemwire:webgpu";
