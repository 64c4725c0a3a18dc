package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutputFails(t *testing.T) {
	value := wire(0x1d, 400_000, make([]byte, 400_000))
	two := append(value[:len(value):len(value)], value...)
	for _, args := range []string{"tokens", "json", "check -json", "recode", "check"} {
		for _, left := range []int{0, 10, 100_000} {
			for _, framing := range []string{"none", "u32"} {
				in := two
				if framing == "u32" {
					in = framed(value, value)
				}
				t.Run(fmt.Sprint(args, " ", framing, " ", left), func(t *testing.T) {
					args := append(strings.Fields(args), "-frame", framing)
					var errs bytes.Buffer
					status := run(fixed(args), bytes.NewReader(in), &failing{left, errors.New("disk full")}, &errs)
					if left == 100_000 && errs.Len() == 0 {
						require.Zero(t, status) // it was enough
						return
					}
					require.Equal(t, statusBad, status)
					require.Equal(t, "gdwire: disk full\n", errs.String())

					errs.Reset()
					status = run(fixed(args), bytes.NewReader(in), &failing{left, syscall.EPIPE}, &errs)
					require.Equal(t, statusBad, status)
					require.Empty(t, errs.String(), "a closed pipe is no news")
				})
			}
		}
	}
}
