// The browser's half of wgslkit: what backend.go asks of WebGPU.
//
// Go knows every object by a small number, so that a call passes numbers alone
// and leaves nothing for either garbage collector. A call that has to wait
// takes a ticket; `notify(ticket, kind, message, value)` answers it, with an
// empty kind where all went well, or `notify(ticket)` where there is no value
// either: Go takes in each argument by some calls. Ticket 0 is an error that belongs to no
// call, and ticket -1 the loss of the device. An error of kind "thrown" comes with what
// was thrown as its value.
//
// A page whose content security policy forbids eval loads this file itself,
// before the Go program starts.
(() => {
  "use strict";
  if (globalThis.gemwireWebGPU) return;

  const usage = {
    mapRead: 0x1,
    mapWrite: 0x2,
    copySrc: 0x4,
    copyDst: 0x8,
    uniform: 0x40,
    storage: 0x80,
    queryResolve: 0x200,
  };
  // In the order of backend.go's usage.
  const usages = [
    usage.storage | usage.copySrc | usage.copyDst,
    usage.uniform | usage.copyDst,
    usage.mapRead | usage.copyDst,
  ];
  // In the order of backend.go's bindingKind.
  const bindingTypes = ["read-only-storage", "storage", "uniform"];
  const filters = ["internal", "out-of-memory", "validation"];
  const stepFields = 6; // numbers for each step of a replay
  const isCopy = 1;
  const uploadSlots = 3; // pieces of uploads that may be under way, at most
  const uploadGrain = 1 << 16; // of the sizes of their memory

  // The limits that kernels depend on; the others stay at their defaults.
  const limitNames = [
    "maxBufferSize",
    "maxStorageBufferBindingSize",
    "maxUniformBufferBindingSize",
    "maxStorageBuffersPerShaderStage",
    "minStorageBufferOffsetAlignment",
    "minUniformBufferOffsetAlignment",
    "maxComputeWorkgroupStorageSize",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupSizeY",
    "maxComputeWorkgroupSizeZ",
    "maxComputeWorkgroupsPerDimension",
  ];
  const featureNames = ["timestamp-query", "subgroups", "shader-f16", "chromium-experimental-subgroup-matrix"];

  class Failure extends Error {
    constructor(kind, message, options) {
      super(message, options);
      this.kind = kind;
    }
  }

  function kindOf(error) {
    if (error.kind) return error.kind;
    switch (error.constructor?.name) {
      case "GPUOutOfMemoryError":
        return "out-of-memory";
      case "GPUInternalError":
        return "internal";
      case "GPUPipelineError":
        return "pipeline";
      case "RangeError":
        return "out-of-memory"; // an ArrayBuffer that could not be had
    }
    return "validation";
  }

  // pipelineFailure is what an error of a kernel's WGSL, or of its layout, is told as.
  function pipelineFailure(error, before = "") {
    return new Failure(kindOf(error) === "validation" ? "pipeline" : kindOf(error), before + error.message);
  }

  class Backend {
    constructor(adapter, device, notify) {
      this.adapter = adapter;
      this.device = device;
      this.queue = device.queue;
      this.objects = [null];
      this.unused = [];
      this.checks = []; // errors to come of calls that did not wait
      this.flushed = undefined; // when what the last flush submitted is done
      this.uploads = null; // memory that bytes are written into, while uploads are held
      this.scratch = new Uint8Array(1 << 16);
      this.closed = false;
      this.notify = (...answer) => this.closed || notify(...answer);
      device.addEventListener("uncapturederror", (event) => this.notify(0, kindOf(event.error), event.error.message));
      device.lost.then((info) => this.notify(-1, "lost", info.message || info.reason || "no reason was given"));
    }

    keep(object) {
      const id = this.unused.pop() ?? this.objects.length;
      this.objects[id] = object;
      return id;
    }

    drop(id) {
      const object = this.objects[id];
      this.objects[id] = null;
      this.unused.push(id);
      return object;
    }

    free(id) {
      this.drop(id);
    }

    answer(ticket, promise) {
      const done = (value) => (value === undefined ? this.notify(ticket) : this.notify(ticket, "", "", value));
      promise.then(done, (error) => this.notify(ticket, kindOf(error), error.message, error.cause));
    }

    // scoped runs make between error scopes. It returns what was made, and a
    // promise of the first error, or null.
    scoped(make) {
      this.pushScopes();
      let made, thrown;
      try {
        made = make();
      } catch (error) {
        thrown = error;
      }
      const error = this.popScopes().then((found) => thrown ?? found);
      return [made, error];
    }

    pushScopes() {
      for (const filter of filters) this.device.pushErrorScope(filter);
    }

    popScopes() {
      const scopes = Promise.all(filters.map(() => this.device.popErrorScope()));
      return scopes.then(
        (errors) => errors.find(Boolean) ?? null,
        (failed) => failed,
      );
    }

    // unscoped is what make returns; an error comes later. While uploads are held, the
    // scopes are around many such calls: three of them cost as much as what they are
    // around.
    unscoped(what, make) {
      if (!this.uploads) {
        const [made, error] = this.scoped(make);
        this.later(what, error);
        return made;
      }
      if (!this.uploads.watched) this.pushScopes();
      this.uploads.watched = true;
      try {
        return make();
      } catch (error) {
        this.later(what, Promise.resolve(error));
      }
    }

    // unwatch ends the scopes of unscoped calls while uploads are held.
    unwatch() {
      if (this.uploads.watched) this.later("uploading", this.popScopes());
      this.uploads.watched = false;
    }

    // sized is the scratch memory that Go fills before a call, n bytes at least.
    sized(n) {
      if (this.scratch.length < n) this.scratch = new Uint8Array(n);
      return this.scratch;
    }

    // settled waits for the calls so far and throws the first error of theirs.
    async settled(checks = this.checks.splice(0)) {
      for (const { what, error } of checks) {
        const found = await error;
        if (found) throw new Failure(kindOf(found), `${what}: ${found.message}`);
      }
    }

    later(what, error) {
      this.checks.push({ what, error });
    }

    // createBuffer returns at once where no ticket is given; an error comes later then.
    createBuffer(ticket, label, kind, size) {
      const make = () => this.device.createBuffer({ label, usage: usages[kind], size });
      if (!ticket) return this.keep(this.unscoped(`buffer "${label}" of ${size} bytes`, make));
      const [buffer, error] = this.scoped(make);
      const id = this.keep(buffer);
      this.answer(
        ticket,
        error.then((found) => {
          if (found) {
            this.drop(id);
            throw found;
          }
          return id;
        }),
      );
    }

    // createStaging returns [id, bytes]: a read leaves what it read in bytes, and calls done.
    createStaging(label, size, done) {
      const buffer = this.unscoped(`buffer "${label}" of ${size} bytes`, () =>
        this.device.createBuffer({ label, usage: usages[2], size }),
      );
      const bytes = new Uint8Array(size);
      return [this.keep({ buffer, bytes, done }), bytes];
    }

    freeBuffer(id) {
      this.drop(id)?.destroy();
    }
    freeStaging(id) {
      this.drop(id)?.buffer.destroy();
    }

    // write takes size bytes from the scratch memory.
    write(id, offset, size) {
      this.writeFrom(id, offset, this.scratch, size);
    }

    // writeFrom takes them from a Uint8Array that Go has never seen. WebGPU
    // writes whole words: the rest of the last one is zero.
    writeFrom(id, offset, bytes, size) {
      const whole = size & ~3;
      try {
        if (whole) this.queue.writeBuffer(this.objects[id], offset, bytes, 0, whole);
        if (whole === size) return;
        const last = new Uint8Array(4);
        last.set(bytes.subarray(whole, size));
        this.queue.writeBuffer(this.objects[id], offset + whole, last);
      } catch (error) {
        this.notify(0, kindOf(error), error.message);
      }
    }

    // createPipeline answers when the WGSL is known to be valid; the pipeline
    // goes on compiling, beside others, and createReplay waits for it. It returns at once
    // where no ticket is given: then createReplay tells of an error.
    createPipeline(ticket, label, code, entryPoint, kinds) {
      const entries = Array.from(kinds, (kind, binding) => ({
        binding,
        visibility: 4 /* compute */,
        buffer: { type: bindingTypes[kind] },
      }));
      const [made, error] = this.scoped(() => {
        const layout = this.device.createBindGroupLayout({ label, entries });
        return {
          label,
          layout,
          module: this.device.createShaderModule({ label, code }),
          whole: this.device.createPipelineLayout({ label, bindGroupLayouts: [layout] }),
        };
      });
      if (!ticket) return this.keep(this.compile(made, entryPoint, error));
      this.answer(
        ticket,
        error.then((found) => {
          if (found) throw pipelineFailure(found);
          return this.keep(this.compile(made, entryPoint));
        }),
      );
    }

    // compile makes a kernel of what was made; error, where given, is to come of that.
    compile({ label, layout, module, whole } = {}, entryPoint, error = null) {
      const kernel = { label, layout, pipeline: null, error: null };
      const compiled = this.device
        .createComputePipelineAsync({ label, layout: whole, compute: { module, entryPoint } })
        .then(
          (pipeline) => {
            kernel.pipeline = pipeline;
          },
          (failed) => {
            kernel.error = new Failure("pipeline", `kernel ${label}: ${failed.message}`);
          },
        );
      kernel.ready = Promise.all([compiled, error]).then(([, found]) => {
        if (found) kernel.error = pipelineFailure(found, `kernel ${label}: `);
      });
      return kernel;
    }

    // createBindGroup takes a buffer, an offset and a size for each binding. An error comes later.
    createBindGroup(pipeline, ...ranges) {
      const { label, layout } = this.objects[pipeline];
      const entries = [];
      for (let i = 0; i < ranges.length; i += 3) {
        const resource = { buffer: this.objects[ranges[i]], offset: ranges[i + 1], size: ranges[i + 2] };
        entries.push({ binding: i / 3, resource });
      }
      return this.keep(
        this.unscoped(`bind group of kernel ${label}`, () => this.device.createBindGroup({ label, layout, entries })),
      );
    }

    // createReplay reads the steps, stepFields numbers each, from the scratch
    // memory, waits until all that they use is ready, and answers [id, grids].
    createReplay(ticket, count) {
      this.answer(ticket, this.prepare(this.readSteps(count)));
    }

    // readyReplay returns what createReplay answers, or null where a kernel is not
    // ready. It is for while uploads are held: else there are errors to wait for.
    readyReplay(count) {
      const steps = this.readSteps(count);
      return steps.kernels.every((kernel) => !kernel || kernel.pipeline) ? this.replayOf(steps) : null;
    }

    readSteps(count) {
      const fields = new Float64Array(this.scratch.slice(0, count * stepFields * 8).buffer);
      const kernels = [],
        groups = [],
        copies = [];
      for (let i = 0; i < fields.length; i += stepFields) {
        const [kind, first, second, ...copy] = fields.subarray(i, i + stepFields);
        kernels.push(kind === isCopy ? null : this.objects[first]);
        groups.push(kind === isCopy ? null : this.objects[second]);
        copies.push(kind === isCopy ? { src: this.objects[first], dst: this.objects[second], copy } : null);
      }
      return { kernels, groups, copies };
    }

    async prepare(steps) {
      for (const kernel of steps.kernels) {
        await kernel?.ready;
        if (kernel?.error) throw kernel.error;
      }
      if (!this.uploads) await this.settled();
      return this.replayOf(steps);
    }

    replayOf({ kernels, groups, copies }) {
      const pipelines = kernels.map((kernel) => kernel?.pipeline);
      const grids = new Uint32Array(3 * copies.filter((copy) => !copy).length);
      return [this.keep({ pipelines, groups, copies, grids }), new Uint8Array(grids.buffer)];
    }

    // encode walks the recorded steps. With a query set, each dispatch gets a
    // pass of its own between two timestamps, and ran lists those that ran.
    //
    // It runs for each token and makes some hundred calls: so it has no closures, and
    // leaves out what is set already, and counts that are one, as each number that is
    // passed is converted.
    encode(encoder, { pipelines, groups, copies, grids }, querySet, ran) {
      let pass = null,
        pipeline = null;
      for (let i = 0, g = 0; i < pipelines.length; i++) {
        const copied = copies[i];
        if (copied !== null) {
          pass?.end();
          pass = pipeline = null;
          const [from, to, size] = copied.copy;
          encoder.copyBufferToBuffer(copied.src, from, copied.dst, to, size);
          continue;
        }
        const x = grids[g++],
          y = grids[g++],
          z = grids[g++];
        if (x === 0 || y === 0 || z === 0) continue;
        if (querySet) {
          pass?.end();
          const query = 2 * ran.length;
          ran.push(i);
          pass = encoder.beginComputePass({
            timestampWrites: { querySet, beginningOfPassWriteIndex: query, endOfPassWriteIndex: query + 1 },
          });
          pipeline = null;
        }
        pass ??= encoder.beginComputePass();
        if (pipelines[i] !== pipeline) pass.setPipeline((pipeline = pipelines[i]));
        pass.setBindGroup(0, groups[i]);
        if (z !== 1) pass.dispatchWorkgroups(x, y, z);
        else if (y !== 1) pass.dispatchWorkgroups(x, y);
        else pass.dispatchWorkgroups(x);
      }
      pass?.end();
    }

    run(replay) {
      const encoder = this.device.createCommandEncoder();
      this.encode(encoder, replay);
      this.queue.submit([encoder.finish()]);
    }

    // submit reports errors as uncaptured ones; a replay's first submission
    // goes through submitChecked, or, while uploads are held, submitHeld.
    submit(id) {
      try {
        this.run(this.objects[id]);
      } catch (error) {
        this.notify(0, kindOf(error), error.message);
      }
    }

    submitHeld(id) {
      this.unscoped("submit", () => this.run(this.objects[id]));
    }

    submitChecked(ticket, id) {
      const [, error] = this.scoped(() => this.run(this.objects[id]));
      this.answer(
        ticket,
        error.then((found) => {
          if (found) throw found;
        }),
      );
    }

    // submitTimed answers, as the bytes of float64 pairs, each dispatch's step and nanoseconds.
    submitTimed(ticket, id) {
      this.answer(ticket, this.timed(this.objects[id]));
    }

    async timed(replay) {
      const count = Math.max(2, (replay.grids.length / 3) * 2);
      const ran = [];
      let set, resolved, staging;
      const [, error] = this.scoped(() => {
        set = this.device.createQuerySet({ type: "timestamp", count });
        resolved = this.device.createBuffer({ size: 8 * count, usage: usage.queryResolve | usage.copySrc });
        staging = this.device.createBuffer({ size: 8 * count, usage: usage.mapRead | usage.copyDst });
        const encoder = this.device.createCommandEncoder();
        this.encode(encoder, replay, set, ran);
        encoder.resolveQuerySet(set, 0, count, resolved, 0);
        encoder.copyBufferToBuffer(resolved, 0, staging, 0, 8 * count);
        this.queue.submit([encoder.finish()]);
      });
      try {
        const found = await error;
        if (found) throw found;
        await staging.mapAsync(1);
        const ticks = new BigUint64Array(staging.getMappedRange());
        const pairs = ran.flatMap((step, i) => [step, Number(ticks[2 * i + 1] - ticks[2 * i])]);
        return new Uint8Array(new Float64Array(pairs).buffer);
      } finally {
        for (const made of [set, resolved, staging]) made?.destroy();
      }
    }

    // startRead copies to the staging buffer and calls its done when the bytes are there.
    startRead(src, offset, id, size) {
      this.submitRead(0, src, offset, id, size);
    }

    // submitRead is startRead behind a replay, unless that is 0, in one submission.
    submitRead(replay, src, offset, id, size) {
      const staging = this.objects[id];
      try {
        const encoder = this.device.createCommandEncoder();
        if (replay) this.encode(encoder, this.objects[replay]);
        encoder.copyBufferToBuffer(this.objects[src], offset, staging.buffer, 0, size);
        this.queue.submit([encoder.finish()]);
      } catch (error) {
        this.notify(0, kindOf(error), error.message);
      }
      staging.buffer
        .mapAsync(1, 0, size)
        .then(() => {
          staging.bytes.set(new Uint8Array(staging.buffer.getMappedRange(0, size)));
          staging.buffer.unmap();
          staging.done();
        })
        .catch((error) => this.closed || staging.done(`${error.message}`));
    }

    // holdUploads begins a time of many uploads, of at most so many bytes each, in which
    // nothing waits for the GPU's process but for memory; errors come later.
    holdUploads(size) {
      this.uploads = { size, most: uploadSlots, slots: [], given: 0, planned: [], watched: false };
    }

    // prepareUploads makes the memory for pieces whose sizes, in order, stand in the scratch
    // memory: it is not had at once, and no more of it is taken than they fill. Other pieces
    // may come in their place, more slowly.
    prepareUploads(count) {
      const { uploads } = this,
        { slots, size } = uploads;
      uploads.planned = new Uint32Array(this.scratch.slice(0, 4 * count).buffer);
      const bytes = uploads.planned.reduce((sum, piece) => sum + piece, 0);
      const fill = Math.min(uploadSlots, Math.ceil(bytes / size));
      while (slots.length < fill) slots.push(this.newSlot(size));
      uploads.most = fill || uploadSlots;
    }

    // pourNow reads size bytes of a source, from `at` on, into memory for uploads, and copies
    // them to the buffer from there, piece by piece, as many as there is memory for. It
    // returns how many, or what the source throws.
    pourNow(source, at, id, offset, size, piece) {
      let done = 0;
      try {
        while (done < size) {
          const n = Math.min(piece, size - done),
            memory = this.mappedUpload(n);
          if (!memory) break;
          source.readInto(at + done, memory);
          this.giveUpload(id, offset + done, n);
          done += n;
        }
      } catch (error) {
        return error;
      }
      return done;
    }

    // pour is pourNow of all bytes.
    pour(ticket, ...what) {
      this.answer(ticket, this.poured(...what));
    }

    async poured(source, at, id, offset, size, piece) {
      for (let done = 0; done < size;) {
        await this.uploadMemory(Math.min(piece, size - done));
        const n = this.pourNow(source, at + done, id, offset + done, size - done, piece);
        if (typeof n !== "number") throw new Failure("thrown", `${n?.message ?? n}`, { cause: n });
        done += n;
      }
    }

    // pourSmall is pour for few bytes, at once: the queue copies them. It returns what the
    // source throws, or null.
    pourSmall(source, at, id, offset, size) {
      const bytes = this.sized(size);
      try {
        source.readInto(at, bytes.subarray(0, size));
      } catch (error) {
        return error;
      }
      this.writeFrom(id, offset, bytes, size);
      return null;
    }

    // takeUpload answers size bytes of memory for giveUpload to copy to a buffer. Until
    // then they are the same each time.
    takeUpload(ticket, size) {
      this.answer(ticket, this.uploadMemory(size));
    }

    // mappedUpload is the memory if there is nothing to wait for.
    mappedUpload(size) {
      const slot = this.nextSlot(this.uploads);
      return slot.bytes?.length >= size && !slot.checks.length ? slot.bytes.subarray(0, size) : null;
    }

    nextSlot(uploads) {
      return (uploads.slots[uploads.given % uploads.most] ??= this.newSlot(uploads.size));
    }

    async uploadMemory(size) {
      const { uploads } = this,
        slot = this.nextSlot(uploads);
      await this.mapped(slot);
      if (slot.bytes.length < size) {
        // it was planned for another piece
        uploads.planned = [];
        this.unscoped("upload", () => slot.buffer.unmap());
        this.map(slot, uploads.size);
        await this.mapped(slot);
      }
      return slot.bytes.subarray(0, size);
    }

    // mapped waits until the slot's memory can be written.
    async mapped(slot) {
      const failed = await slot.mapping;
      await this.settled(slot.checks.splice(0));
      if (failed || !slot.bytes)
        throw new Failure("lost", `mapping memory for an upload failed: ${failed?.message ?? "there is none"}`);
    }

    // newSlot is memory that is mapped from the start.
    newSlot(size) {
      const slot = { buffer: null, bytes: null, mapping: null, checks: [] };
      slot.buffer = this.unscoped(`buffer "upload" of ${size} bytes`, () =>
        this.device.createBuffer({
          label: "upload",
          usage: usage.mapWrite | usage.copySrc,
          size,
          mappedAtCreation: true,
        }),
      );
      if (slot.buffer)
        this.unscoped("upload", () => {
          slot.bytes = new Uint8Array(slot.buffer.getMappedRange());
        });
      else slot.checks = this.checks.splice(0);
      return slot;
    }

    // giveUpload copies what was written into the memory, and has it mapped again when
    // that is done. The rest of the last word is zero.
    giveUpload(id, offset, size) {
      const { uploads } = this,
        slot = this.nextSlot(uploads),
        whole = (size + 3) & ~3;
      if (whole !== size) slot.bytes.fill(0, size, whole);
      this.unscoped("upload", () => {
        slot.buffer.unmap();
        const encoder = this.device.createCommandEncoder();
        encoder.copyBufferToBuffer(slot.buffer, 0, this.objects[id], offset, whole);
        this.queue.submit([encoder.finish()]);
      });
      // What is mapped is taken in by the GPU's process as a whole, written or not.
      const next = uploads.planned[uploads.given + uploads.most] ?? uploads.size;
      this.map(slot, Math.min(uploads.size, Math.ceil(next / uploadGrain) * uploadGrain));
      uploads.given++;
      if (uploads.given % uploads.most > 0) return;
      this.unwatch();
      slot.checks = this.checks.splice(0); // the GPU's process will have told of these
    }

    map(slot, size) {
      slot.bytes = null;
      const mapping = this.unscoped("upload", () => slot.buffer.mapAsync(2, 0, size));
      slot.mapping = Promise.resolve(mapping)
        .then(() => {
          slot.bytes = new Uint8Array(slot.buffer.getMappedRange(0, size));
          return null;
        })
        .catch((error) => error);
    }

    // endUploads frees the memory. It says whether calls were not waited for: then
    // settle tells what became of them.
    endUploads() {
      this.unwatch();
      const { slots } = this.uploads;
      this.uploads = null;
      for (const { buffer } of slots) buffer?.destroy();
      this.checks.unshift(...slots.flatMap(({ checks }) => checks));
      return this.checks.length > 0;
    }

    settle(ticket) {
      this.answer(ticket, this.settled());
    }

    // wait answers when all that was submitted, and written, is done.
    wait(ticket) {
      this.queue.submit([]);
      this.answer(
        ticket,
        this.queue.onSubmittedWorkDone().then(() => this.settled()),
      );
    }

    // flush submits what was written, and answers when that of the flush before is
    // done: the GPU's process takes the last bytes in while the next are read.
    flush(ticket) {
      const before = this.flushed;
      this.queue.submit([]);
      this.flushed = this.queue.onSubmittedWorkDone();
      this.flushed.catch(() => {}); // the next flush tells, if there is one
      this.answer(
        ticket,
        Promise.resolve(before).then(() => this.settled()),
      );
    }

    // send passes all calls on: browsers keep them until a submission, or the event
    // loop's turn.
    send() {
      this.queue.submit([]);
    }

    close() {
      this.closed = true;
      this.device.destroy();
    }
  }

  // describe is what backend.go reads about the adapter and its device.
  function describe({ adapter, device }) {
    const info = adapter.info ?? {};
    return {
      name:
        info.description || info.device || [info.vendor, info.architecture].filter(Boolean).join(" ") || "unnamed GPU",
      vendor: info.vendor ?? "",
      driver: info.architecture ?? "",
      fallback: Boolean(info.isFallbackAdapter ?? adapter.isFallbackAdapter),
      limits: Object.fromEntries(limitNames.map((name) => [name, device.limits[name]])),
      features: Object.fromEntries(featureNames.map((name) => [name, device.features.has(name)])),
      subgroupMin: info.subgroupMinSize ?? 0,
      subgroupMax: info.subgroupMaxSize ?? 0,
      matrices: Array.from(info.subgroupMatrixConfigs ?? [], ({ componentType, resultComponentType, M, N, K }) => ({
        componentType,
        resultComponentType,
        M,
        N,
        K,
      })),
      packedDot: Boolean(navigator.gpu.wgslLanguageFeatures?.has("packed_4x8_integer_dot_product")),
    };
  }

  // open requests an adapter and a device with all of its limits, or none but
  // the least that every device has, and answers ticket 1.
  async function open({ minimumLimits, powerPreference }, notify) {
    const gpu = globalThis.navigator?.gpu;
    if (!gpu)
      throw new Failure(
        "absent",
        "this browser has no WebGPU, or hides it from pages that are not served by HTTPS or from localhost",
      );
    const adapter = (await gpu.requestAdapter({ powerPreference })) ?? (await gpu.requestAdapter());
    if (!adapter)
      throw new Failure(
        "absent",
        "the browser has WebGPU and offers no adapter: the GPU or its driver is blocked, " +
          "or hardware acceleration is switched off",
      );
    const requiredFeatures = featureNames.filter((name) => adapter.features.has(name));
    const requiredLimits = minimumLimits
      ? {}
      : Object.fromEntries(limitNames.map((name) => [name, adapter.limits[name]]));
    return new Backend(
      adapter,
      await adapter.requestDevice({ label: "gemwire", requiredFeatures, requiredLimits }),
      notify,
    );
  }

  globalThis.gemwireWebGPU = {
    describe,
    open(options, notify) {
      open(options, notify).then(
        (backend) => notify(1, "", "", backend),
        (error) => notify(1, error.kind ?? "absent", error.message),
      );
    },
  };
})();
