package gguf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall/js"
)

// OpenJS makes a source of a JavaScript object:
//
//	interface Source {
//	  size: number;                                         // bytes
//	  read(offset: number, length: number): Uint8Array | Promise<Uint8Array>;
//	  readInto?(offset: number, into: Uint8Array): void;    // the same, without memory of its own
//	  cancel?(): void;                                      // end the read under way
//	  close?(): void;
//	}
//
// What read gives is used before the next read, so it may be the same memory
// every time. Reads that overlap in time wait for each other.
func OpenJS(object js.Value) (Source, error) {
	if object.Type() != js.TypeObject || object.Get("read").Type() != js.TypeFunction ||
		object.Get("size").Type() != js.TypeNumber {
		return nil, errors.New("gguf: a source is an object with a size and a function read(offset, length)")
	}
	return &jsSource{
		object: object, size: int64(object.Get("size").Float()), turn: make(chan struct{}, 1),
		fills: object.Get("readInto").Type() == js.TypeFunction,
	}, nil
}

type jsSource struct {
	object js.Value
	size   int64
	turn   chan struct{} // holds the read under way
	fills  bool          // has readInto
}

func (s *jsSource) Size() int64 { return s.size }

func (s *jsSource) Close() error {
	if s.object.Get("close").Type() == js.TypeFunction {
		s.object.Call("close")
	}
	return nil
}

func (s *jsSource) ReadAt(p []byte, off int64) (int, error) {
	return s.ReadAtContext(context.Background(), p, off)
}

func (s *jsSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off > s.size {
		return 0, fmt.Errorf("gguf: read at byte %d of %d: %w", off, s.size, io.ErrUnexpectedEOF)
	}
	n := min(int64(len(p)), s.size-off)
	if err := s.read(ctx, off, n, func(bytes js.Value) { js.CopyBytesToGo(p[:n], bytes) }); err != nil {
		return 0, err
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// ReadJS fills a Uint8Array, without bringing the bytes into Go's memory.
func (s *jsSource) ReadJS(ctx context.Context, off int64, into js.Value) error {
	return s.read(ctx, off, int64(into.Length()), func(bytes js.Value) { into.Call("set", bytes) })
}

// FillerJS is the source's object, whose readInto(offset, into) fills any part of the size
// bytes from byte off on. It is undefined where it has no readInto.
func (s *jsSource) FillerJS(off, size int64) (js.Value, error) {
	if err := s.check(off, size); err != nil || !s.fills {
		return js.Undefined(), err
	}
	return s.object, nil
}

func (s *jsSource) check(off, size int64) error {
	if off < 0 || size < 0 || size > s.size-off {
		return fmt.Errorf("gguf: read %d bytes at byte %d of %d: %w", size, off, s.size, io.ErrUnexpectedEOF)
	}
	return nil
}

// begin waits for the reads before to end.
func (s *jsSource) begin(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("gguf: read: %w", context.Cause(ctx))
	}
}

func (s *jsSource) end() { <-s.turn }

// read hands size bytes over before another read can begin.
func (s *jsSource) read(ctx context.Context, off, size int64, take func(bytes js.Value)) error {
	if err := s.check(off, size); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if s.fills { // and so does not wait
		defer s.end()
		return s.taken(s.call(off, size), off, size, take)
	}
	answer := make(chan jsBytes, 1)
	go func() {
		answer <- s.call(off, size)
	}()
	select {
	case a := <-answer:
		defer s.end()
		return s.taken(a, off, size, take)
	case <-ctx.Done():
		s.abandon(answer)
		return fmt.Errorf("gguf: read: %w", context.Cause(ctx))
	}
}

func (s *jsSource) taken(a jsBytes, off, size int64, take func(bytes js.Value)) error {
	if a.err != nil {
		return fmt.Errorf("gguf: read %d bytes at byte %d: %w", size, off, a.err)
	}
	return thrown(func() { take(a.bytes) })
}

// abandon cancels the read under way; its turn lasts until it has ended,
// because the next one may use the same memory.
func (s *jsSource) abandon(answer <-chan jsBytes) {
	if s.object.Get("cancel").Type() == js.TypeFunction {
		s.object.Call("cancel")
	}
	go func() {
		<-answer
		s.end()
	}()
}

type jsBytes struct {
	bytes js.Value
	err   error
}

// thrown is what JavaScript throws in a call.
func thrown(call func()) (err error) {
	defer func() {
		if value := recover(); value != nil {
			jsErr, ok := value.(js.Error)
			if !ok {
				panic(value)
			}
			err = jsErr
		}
	}()
	call()
	return nil
}

// call reads, and waits where the source promises.
func (s *jsSource) call(off, size int64) (read jsBytes) {
	if read.err = thrown(func() { read.bytes = s.object.Call("read", off, size) }); read.err != nil {
		return read
	}
	if read.bytes.Type() == js.TypeObject && read.bytes.Get("then").Type() == js.TypeFunction {
		read = settled(read.bytes)
	}
	if read.err == nil && (!read.bytes.InstanceOf(js.Global().Get("Uint8Array")) ||
		int64(read.bytes.Length()) != size) {
		read.err = fmt.Errorf("the source gave fewer bytes, or no Uint8Array: %w", io.ErrUnexpectedEOF)
	}
	return read
}

func settled(promise js.Value) jsBytes {
	done := make(chan jsBytes, 1)
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- jsBytes{bytes: args[0]}
		return nil
	})
	defer kept.Release()
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- jsBytes{err: js.Error{Value: args[0]}}
		return nil
	})
	defer broken.Release()
	promise.Call("then", kept, broken)
	return <-done
}
