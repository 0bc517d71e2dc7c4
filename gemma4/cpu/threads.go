package cpu

import (
	"sync"
	"sync/atomic"
)

// threads are goroutines that wait for parts of loops.
type threads struct {
	n    int
	jobs chan func()
	once sync.Once
}

// newThreads starts n − 1 goroutines: the caller of each is the n-th.
func newThreads(n int) *threads {
	t := &threads{n: n, jobs: make(chan func(), n)}
	for range n - 1 {
		go func() {
			for job := range t.jobs {
				job()
			}
		}()
	}
	return t
}

func (t *threads) close() { t.once.Do(func() { close(t.jobs) }) }

// each calls f for parts of at most grain of 0 … n, on several cores where there
// is more than one part, and returns the first error.
func (t *threads) each(n, grain int, f func(from, to int) error) error {
	grain = max(grain, 1)
	helpers := min(t.n, (n+grain-1)/grain) - 1
	if helpers < 1 {
		return f(0, n)
	}
	loop := &loop{n: n, grain: grain, f: f}
	loop.wait.Add(helpers)
	for range helpers {
		t.jobs <- loop.help
	}
	loop.run()
	loop.wait.Wait()
	return loop.err
}

// loop is one call of each, under way.
type loop struct {
	n, grain int
	f        func(from, to int) error
	next     atomic.Int64
	wait     sync.WaitGroup
	failed   sync.Once
	err      error
}

func (l *loop) help() {
	defer l.wait.Done()
	l.run()
}

func (l *loop) run() {
	for {
		to := int(l.next.Add(int64(l.grain)))
		from := to - l.grain
		if from >= l.n {
			return
		}
		if err := l.f(from, min(to, l.n)); err != nil {
			l.failed.Do(func() { l.err = err })
			return
		}
	}
}
