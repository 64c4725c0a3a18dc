package text

import (
	"fmt"
	"iter"
	"strings"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/internal/wire"
)

// A Nearest finds the key in the input most similar to a key of a path without a value. The
// method Key is the Key of a Walker over a Tree with this path alone.
type Nearest struct {
	best  map[*Node]near
	names map[*Node]string
}

type near struct {
	name     string
	distance int
}

// The limits of the keys and mistakes considered by a Nearest.
const (
	nearKey = 40 // bytes of a key
	nearest = 3  // edits of a character
)

// Key compares a key with the keys of the nodes in p, and returns nil, so that the Walker goes
// on as without a Nearest.
func (n *Nearest) Key(p *Node, key *Step) *Node {
	text := key.Key.Text
	if text == "" || len(text) > nearKey {
		return nil
	}
	for c := range p.Inner {
		name := n.keyOf(c)
		if c.Hits > 0 || name == "" {
			continue
		}
		if strings.Contains(text, ".") && strings.HasPrefix(dotted(c)+".", text+".") { // one key, and not several
			n.best[c] = near{text, -1}
		}
		most := allowed(name)
		if have, ok := n.best[c]; ok {
			most = have.distance - 1
		}
		if d := distance(name, text, most); d <= most {
			n.best[c] = near{text, d}
		}
	}
	return nil
}

// keyOf returns the key of a node, or "" for a key not compared with others.
func (n *Nearest) keyOf(p *Node) string {
	name, ok := n.names[p]
	if ok {
		return name
	}
	if n.names == nil {
		n.names, n.best = map[*Node]string{}, map[*Node]near{}
	}
	if step := p.Step(); step.Op == Child && len(step.Key.Text) <= nearKey {
		name = step.Key.Text
	}
	n.names[p] = name
	return name
}

// dotted returns the names from p on, between dots.
func dotted(p *Node) string {
	name := p.Step().Key.Text
	for c := range p.Inner {
		name += "." + dotted(c)
	}
	return name
}

// MostSimilar returns the name most likely meant by a, or "" if none is similar. Names of more than 40
// bytes are ignored.
func MostSimilar(a string, names iter.Seq[string]) (similar string) {
	if len(a) > nearKey {
		return ""
	}
	most := allowed(a)
	for name := range names {
		if len(name) > nearKey {
			continue
		}
		if d := distance(a, name, most); d <= most {
			similar, most = name, d-1
		}
	}
	return similar
}

// Similar reports whether a is likely to be b with a mistake.
func Similar(a, b string) bool { return distance(a, b, allowed(a)) <= allowed(a) }

// allowed returns the number of mistakes in a similar name.
func allowed(name string) int { return min(nearest, len(name)/3) }

// distance returns the number of characters to insert, delete, replace or exchange with the next one
// to make a of b, or any number above most if there are more. Case is ignored.
func distance(a, b string, most int) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if most < 0 || len(x)-len(y) > most || len(y)-len(x) > most {
		return most + 1
	}
	older, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		older, last, row = last, row, older
		row[0] = i + 1
		for j := range y {
			replaced := last[j]
			if x[i] != y[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(y)]
}

// A NotFoundError reports a path without a value.
type NotFoundError struct{ text string }

func (e *NotFoundError) Error() string { return e.text }

// NotFound returns the NotFoundError for a node at which a walk found no value.
func (n *Nearest) NotFound(p *Node) error {
	missing := p // the first node on the path without a value
	for missing.parent != nil && missing.parent.Hits == 0 {
		missing = missing.parent
	}
	text := fmt.Sprintf("there is no %v", p)
	if near, ok := n.best[missing]; ok {
		similar := near.name
		if missing != p || !wire.IsName(similar) {
			step := Step{Key: Value{Type: gdwire.TypeString, Text: similar}}
			similar = string(step.Append([]byte(missing.parent.String())))
		}
		text += "; did you mean " + similar + "?"
	}
	return &NotFoundError{text}
}
