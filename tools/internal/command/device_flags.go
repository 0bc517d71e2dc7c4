package command

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/doctor"
	"github.com/gemwire/gemwire/wgslkit"
)

// deviceFlags say where to compute, and with how much of it.
type deviceFlags struct {
	device     string
	adapter    string
	gpuMemory  byteSize
	maxBinding byteSize
	wgpu       string
}

func (f *deviceFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.device, "device", "", "where to compute, `gpu|cpu` (default: the GPU, and the CPU where there is none)")
	flags.StringVar(&f.adapter, "adapter", "", "take the GPU with this in its `NAME`")
	f.registerWGPU(flags)
	flags.Var(&f.gpuMemory, "gpu-memory", "use at most this `SIZE` of GPU memory, such as 6GB")
	flags.Var(&f.maxBinding, "max-binding", "behave like a GPU that binds at most this `SIZE` at once, such as 128MiB")
}

func (f *deviceFlags) registerWGPU(flags *pflag.FlagSet) {
	flags.StringVar(&f.wgpu, "wgpu", "", "load the wgpu-native or Dawn at this whole `PATH`, or \"off\" for the built-in one (default: $GEMWIRE_WGPU, or one next to gemwire or in the folder gemwire of your settings)")
}

// sayLibrary tells why a library that was asked for is not used.
func (f *deviceFlags) sayLibrary(env *environment, adapter *wgslkit.Info) {
	asked := f.wgpu != "" || env.getenv("GEMWIRE_WGPU") != ""
	if adapter != nil && asked && adapter.LibraryRefused != "" {
		env.say("gemwire: using the built-in wgpu-native, because %s", sentence(errors.New(adapter.LibraryRefused)))
	}
}

// check refuses a device that does not exist. Who says which GPU, or how much of
// it, wants one.
func (f *deviceFlags) check() error {
	wantsGPU := f.adapter != "" || f.gpuMemory != 0 || f.maxBinding != 0
	switch gemma4.Device(f.device) {
	case gemma4.DeviceAuto:
		if wantsGPU {
			f.device = string(gemma4.DeviceGPU)
		}
		return nil
	case gemma4.DeviceGPU:
		return nil
	case gemma4.DeviceCPU:
		if wantsGPU {
			return usagef("--adapter, --gpu-memory and --max-binding are for a GPU, and --device is cpu")
		}
		return nil
	}
	return usagef("--device %q: say gpu or cpu", f.device)
}

// gpu is what the flags, and the doctor, say about a GPU.
func (f *deviceFlags) gpu() wgslkit.Options {
	return wgslkit.Options{
		Adapter: f.adapter, MemoryBudget: int64(f.gpuMemory), MaxBindingSize: int64(f.maxBinding), Library: f.wgpu,
		Avoid: doctor.NewStore(version()).Avoid,
	}
}

// byteSize is a flag such as 6GB, 512MiB or 1000000.
type byteSize int64

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return humanize.Bytes(uint64(*b))
}

// Set reads the flag.
func (b *byteSize) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<62 {
		return fmt.Errorf("%q is no size; say 6GB or 512MiB", text)
	}
	*b = byteSize(n)
	return nil
}

// Type is how help calls the flag's value.
func (b *byteSize) Type() string { return "SIZE" }
