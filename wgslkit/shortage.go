package wgslkit

import "errors"

// OnShortage has give called where the device has no room for what is to be made: it
// releases what can be done without, and says whether there was anything. It may be called
// from any goroutine that makes something, and must not make anything itself. forget ends that.
func (d *Device) OnShortage(give func() bool) (forget func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := new(byte)
	if d.spare == nil {
		d.spare = map[*byte]func() bool{}
	}
	d.spare[key] = give
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.spare, key)
	}
}

// GiveUp releases all that OnShortage knows of, and says whether there was anything.
func (d *Device) GiveUp() (gave bool) {
	d.mu.Lock()
	var all []func() bool
	for _, give := range d.spare {
		all = append(all, give)
	}
	d.mu.Unlock()
	for _, give := range all {
		gave = give() || gave
	}
	return gave
}

// withRoom runs what takes memory, and once more where room could be made for it.
func (d *Device) withRoom(take func() error) error {
	err := take()
	if errors.Is(err, ErrOutOfMemory) && d.GiveUp() {
		err = take()
	}
	return err
}
