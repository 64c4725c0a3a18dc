package edit

import (
	"fmt"

	"github.com/gdwire/gdwire/internal/save"
	"github.com/gdwire/gdwire/internal/text"
)

// packets calls yield for each packet with a path in the tree, as Packets does.
func packets(c *save.Content, tree *text.Tree, yield func(*save.Packet) (bool, error)) error {
	return c.Packets(func(index int64) bool { return tree.Root(index) != nil }, yield)
}

// walk returns a function that walks over all packets of a tree.
func walk(c *save.Content, tree *text.Tree) func(*text.Walker) error {
	return func(w *text.Walker) error {
		remaining := tree.Packets()
		return packets(c, tree, func(p *save.Packet) (bool, error) {
			remaining--
			w.Decoder = p.Decoder
			return remaining > 0, w.Walk(tree.Root(p.Index))
		})
	}
}

// Resolve replaces the keys of a tree that can mean another key by the key that they mean, as
// Tree.Resolve does.
func Resolve(c *save.Content, tree *text.Tree) { tree.Resolve(walk(c, tree)) }

// ResolveReals is Resolve for keys with real numbers only.
func ResolveReals(c *save.Content, tree *text.Tree) {
	if tree.HasReals() {
		tree.ResolveReals(walk(c, tree))
	}
}

// notFound returns the error for a node at which a walk found no value. It walks over the
// packet again, for this node alone, to find a similar key.
func notFound(c *save.Content, p *text.Node) error {
	path, err := text.Parse(p.String())
	if err != nil {
		return err
	}
	var tree text.Tree
	if p, err = tree.Add(path, ""); err != nil {
		return err
	}
	var near text.Nearest
	err = packets(c, &tree, func(packet *save.Packet) (bool, error) {
		w := text.Walker{Decoder: packet.Decoder, Key: near.Key}
		return false, w.Walk(tree.Root(packet.Index))
	})
	switch {
	case err != nil:
		return err
	case p.Hits > 0:
		return fmt.Errorf("another of the paths leads to %v, too", p)
	}
	return near.NotFound(p)
}
