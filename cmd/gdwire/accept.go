package main

import (
	"context"
	"errors"
	"time"
)

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = time.Second
)

// retry calls try until it succeeds, ctx is done, or it returns an error that waiting does
// not remedy. It tells the first error that does, such as the limit of open files.
func retry[T any](ctx context.Context, tell func(error), try func() (T, error)) (T, error) {
	told := false
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		v, err := try()
		var temporary interface{ Temporary() bool }
		if err == nil || ctx.Err() != nil || !errors.As(err, &temporary) || !temporary.Temporary() {
			return v, err
		}
		if !told {
			tell(err)
			told = true
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}
