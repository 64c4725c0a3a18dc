//go:build linux

package main

import (
	"bufio"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPlayers: all answers of each server arrive, and those to four packets of five count.
func TestPlayers(t *testing.T) {
	for i := range contenders {
		c := &contenders[i]
		t.Run(c.game+" "+c.codec.name, func(t *testing.T) {
			t.Parallel()
			r, w := io.Pipe()
			go serve(c, w, func() { <-t.Context().Done() })
			addr, err := bufio.NewReader(r).ReadString('\n')
			require.NoError(t, err)
			p := newPlayers(os.Getpid(), addr, c)
			defer p.close()
			a := p.try(2*roomSize, 5*ticks*tick, time.Hour)
			require.Equal(t, 4*2*roomSize*c.answers, a.counted)
			require.False(t, a.late)
			require.True(t, p.try(roomSize, 5*ticks*tick, 0).late)
		})
	}
}

func TestMost(t *testing.T) {
	for _, limit := range []int{0, 20, 199, 200, 777, 3000, mostPlayers} {
		tried := 0
		got := most(func(n int) bool {
			tried++
			return n <= limit && tried != 2 // once by chance
		})
		require.LessOrEqual(t, got, limit)
		require.Greater(t, got+max(roomSize, got/50)+roomSize, limit)
		require.LessOrEqual(t, tried, 25)
	}
}
