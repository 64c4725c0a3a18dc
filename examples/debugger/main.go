// Debugger shows the nodes of a running game, sets a property, and then shows the output of the game.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/gdwire/gdwire/internal/debugger"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 5 {
		log.Fatal("usage: debugger 127.0.0.1:6007 [NODE PROPERTY NUMBER]")
	}
	ln, err := net.Listen("tcp", os.Args[1])
	if err == nil {
		err = debug(context.Background(), ln, os.Args[2:])
	}
	if err != nil {
		log.Fatal(err)
	}
}

func debug(ctx context.Context, ln net.Listener, set []string) error {
	s, err := debugger.Accept(ctx, ln, nil)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	root, err := s.Scene(ctx)
	if err != nil {
		return err
	}
	for depth, node := range root.All() {
		fmt.Printf("%s%q, a %q\n", strings.Repeat("  ", depth), node.Name, node.Class)
		if len(set) > 0 && node == root.Find(set[0]) {
			number, err := strconv.Atoi(set[2])
			if err = errors.Join(err, s.SetProperty(ctx, node.ID, set[1], number)); err != nil {
				return err
			}
		}
	}
	for m, err := range s.Events(ctx) {
		if err != nil { // of one message, or the last
			log.Print(err)
			continue
		}
		switch e := m.Event().(type) {
		case *debugger.Output:
			fmt.Printf("%q\n", e.Lines)
		case *debugger.Error:
			fmt.Printf("%q in %q\n", e, e.Stack)
		case *debugger.Stop: // an error in a script
			_ = s.Continue(ctx)
		}
	}
	return nil
}
