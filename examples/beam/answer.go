package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn3x1[context.Context, string, func(string), error](&answerFn{})
	register.Emitter1[string]()
}

// answerFn answers each bundle of requests with one run of "gemwire batch". Beam drops what a bundle gave that failed,
// and calls it again.
type answerFn struct {
	Program, Model, Device string
	Parallel               int

	run *run // of the bundle under way; nil before its first request
}

// turn lets one bundle of a worker compute at a time: its GPU holds the model once.
var turn = make(chan struct{}, 1)

// run is a gemwire that reads requests and writes answers.
type run struct {
	command  *exec.Cmd
	requests io.WriteCloser
	answers  chan string // closed at their end
	ended    chan error
	said     bytes.Buffer
	asked    int
	answered int
}

// ProcessElement passes on a request, and the answers that are there.
func (f *answerFn) ProcessElement(ctx context.Context, request string, emit func(string)) error {
	if strings.TrimSpace(request) == "" {
		return nil
	}
	if f.run == nil {
		if err := f.start(ctx); err != nil {
			return err
		}
	}
	sent := make(chan error, 1)
	go func() { // gemwire takes no more requests while its answers wait to be read
		_, err := io.WriteString(f.run.requests, request+"\n")
		sent <- err
	}()
	f.run.asked++
	for {
		select {
		case answer, ok := <-f.run.answers:
			if !ok {
				return errors.Join(<-sent, f.finish())
			}
			f.run.answered++
			emit(answer)
		case err := <-sent:
			if err != nil {
				return errors.Join(err, f.finish())
			}
			return nil
		}
	}
}

// FinishBundle waits for the other answers.
func (f *answerFn) FinishBundle(_ context.Context, emit func(string)) error {
	if f.run == nil {
		return nil
	}
	if err := f.run.requests.Close(); err != nil {
		return errors.Join(err, f.finish())
	}
	for answer := range f.run.answers {
		f.run.answered++
		emit(answer)
	}
	return f.finish()
}

// Teardown ends what a bundle left that was given up.
func (f *answerFn) Teardown() error {
	if f.run != nil {
		_ = f.run.command.Process.Kill() // it may have ended
		_ = f.finish()                   // it was killed
	}
	return nil
}

// start waits for its turn and starts gemwire.
func (f *answerFn) start(ctx context.Context) error {
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	r := &run{answers: make(chan string), ended: make(chan error, 1)}
	r.command = exec.Command(f.Program, "batch", "-", "-o", "-", "--model", f.Model, "--device", f.Device,
		"--parallel", strconv.Itoa(f.Parallel))
	r.command.Stderr = &r.said
	output, err := r.command.StdoutPipe()
	if err == nil {
		r.requests, err = r.command.StdinPipe()
	}
	if err == nil {
		err = r.command.Start()
	}
	if err != nil {
		<-turn
		return fmt.Errorf("starting gemwire: %w", err)
	}
	f.run = r
	go func() {
		defer close(r.answers)
		lines := bufio.NewReader(output)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				r.ended <- r.command.Wait() // a torn line is no answer
				return
			}
			r.answers <- strings.TrimSuffix(line, "\n")
		}
	}()
	return nil
}

// finish ends the run of a bundle.
func (f *answerFn) finish() error {
	r := f.run
	f.run = nil
	_ = r.requests.Close() // it may be closed
	for range r.answers {  // of a bundle that failed
	}
	err := <-r.ended
	<-turn
	if err != nil {
		return fmt.Errorf("gemwire: %w: %s", err, r.said.String())
	}
	if r.answered != r.asked {
		return fmt.Errorf("gemwire answered %d of %d requests", r.answered, r.asked)
	}
	return nil
}
