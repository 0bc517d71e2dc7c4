package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// DeviceFlags say where to compute, and with how much of it.
type DeviceFlags struct {
	Device     string
	GPUName    string
	GPUMemory  ByteSize
	MaxBinding ByteSize
	WGPU       string
	Unchecked  bool
}

func (f *DeviceFlags) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Device, "device", "",
		"where to compute, `gpu|cpu` (default: the GPU, or the CPU if there is none)")
	f.RegisterGPU(flags, "use the GPU with this in its `NAME`")
	f.RegisterWGPU(flags)
	flags.Var(&f.GPUMemory, "gpu-memory", "use at most this `SIZE` of GPU memory, such as 6GB")
	flags.BoolVar(&f.Unchecked, "unchecked-kernels", false,
		"use the GPU's kernels without checking those that were not checked on it before")
	flags.Var(&f.MaxBinding, "max-binding", "behave like a GPU that binds at most this `SIZE` at once, such as 128MiB")
}

// RegisterGPU adds the flag that says which GPU.
func (f *DeviceFlags) RegisterGPU(flags *pflag.FlagSet, help string) {
	flags.StringVar(&f.GPUName, "gpu", "", help)
	rename(flags, "adapter", "gpu")
}

// RegisterWGPU adds the flag that says which WebGPU library.
func (f *DeviceFlags) RegisterWGPU(flags *pflag.FlagSet) {
	flags.StringVar(
		&f.WGPU,
		"wgpu",
		"",
		"load the wgpu-native or Dawn at this absolute `PATH`, or \"off\" for the built-in one (default: "+
			"$GEMWIRE_WGPU, or "+
			"one next to gemwire or in the folder gemwire of your configuration)",
	)
}

// SayLibrary tells why a library that was asked for is not used.
func (f *DeviceFlags) SayLibrary(env *Environment, adapter *wgslkit.Info) {
	if f.refused(env, adapter) {
		env.Say("%s: using the built-in wgpu-native, because %s", env.Program,
			Sentence(errors.New(adapter.LibraryRefused)))
	}
}

// CheckLibrary refuses to go on without a library that was asked for: what is compared is to be
// computed by that one.
func (f *DeviceFlags) CheckLibrary(env *Environment, adapter *wgslkit.Info) error {
	if f.refused(env, adapter) {
		return fmt.Errorf("%w: the library that was asked for cannot be used: %s; name another one, or off for the "+
			"built-in one", wgslkit.ErrNoDevice, adapter.LibraryRefused)
	}
	return nil
}

func (f *DeviceFlags) refused(env *Environment, adapter *wgslkit.Info) bool {
	asked := f.WGPU != "" || env.Getenv("GEMWIRE_WGPU") != ""
	return adapter != nil && asked && adapter.LibraryRefused != ""
}

// Check refuses a device or a library that does not exist. Who says which GPU, or how much of
// it, wants one.
func (f *DeviceFlags) Check() error {
	if err := f.checkWGPU(); err != nil {
		return err
	}
	wantsGPU := f.GPUName != "" || f.GPUMemory != 0 || f.MaxBinding != 0
	switch gemma4.Device(f.Device) {
	case gemma4.DeviceAuto:
		if wantsGPU {
			f.Device = string(gemma4.DeviceGPU)
		}
		return nil
	case gemma4.DeviceGPU:
		return nil
	case gemma4.DeviceCPU:
		if wantsGPU {
			return Usagef("--gpu, --gpu-memory and --max-binding are for a GPU, and --device is cpu")
		}
		return nil
	}
	return Usagef("--device %q: use gpu or cpu", f.Device)
}

// checkWGPU looks for the library that is to be loaded: where the CPU computes in the end, nobody else does.
func (f *DeviceFlags) checkWGPU() error {
	name, path := "--wgpu", f.WGPU
	if path == "" {
		name, path = "GEMWIRE_WGPU", os.Getenv("GEMWIRE_WGPU") // as wgslkit reads it
	}
	switch {
	case path == "" || path == wgslkit.LibraryOff:
		return nil
	case !filepath.IsAbs(path):
		return Usagef("%s %q: give the whole path of a library, or off", name, path)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// GPU is what the flags, and the doctor, say about a GPU.
func (f *DeviceFlags) GPU() wgslkit.Options {
	return wgslkit.Options{
		Adapter: f.GPUName, MemoryBudget: int64(f.GPUMemory), MaxBindingSize: int64(f.MaxBinding), Library: f.WGPU,
		Avoid: checkup.NewStore(Version()).Avoid,
	}
}

// Examiner examines kernels that were not examined on the GPU before.
func (f *DeviceFlags) Examiner() *checkup.Examiner {
	return &checkup.Examiner{Keeper: checkup.NewStore(Version())}
}

// SayKernels tells which kernels are left out, or that nobody has checked them.
func (f *DeviceFlags) SayKernels(env *Environment, info gemma4.Info) {
	switch k := info.Kernels; {
	case info.Device != gemma4.DeviceGPU:
	case k == nil:
		env.Say("%s: the GPU's kernels are not checked", env.Program)
	default:
		if n := len(k.LeftOut); n > 0 {
			env.Say("%s: %d of %s's kernels are wrong and left out, which may be slower: %s", env.Program, n,
				info.DeviceName, k.Names())
		}
		if k.NotKept != "" {
			env.Say("%s: the GPU's kernels will be checked again next time: %s", env.Program,
				Sentence(errors.New(k.NotKept)))
		}
	}
}

// ByteSize is a flag such as 6GB, 512MiB or 1000000.
type ByteSize int64

func (b *ByteSize) String() string {
	if *b == 0 {
		return ""
	}
	return humanize.Bytes(uint64(*b))
}

// Set reads the flag.
func (b *ByteSize) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<62 {
		return fmt.Errorf("%q is not a size; use 6GB or 512MiB", text)
	}
	*b = ByteSize(n)
	return nil
}

// Type is how help calls the flag's value.
func (b *ByteSize) Type() string { return "SIZE" }
