package variant

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/gdwire/gdwire"
)

// A plan is how a Go type is read or written: a function made once. Plans refer to
// those of the types they consist of, which are not made yet where a type contains
// itself.
type plan[F any] struct {
	do  F
	err error // of a type that cannot be
}

// A planKey is what a plan is for: a Go type, and the Variant type of its tag.
type planKey struct {
	typ  reflect.Type
	wire gdwire.Type
}

// plans are those that have been made.
type plans[F any] struct {
	all  sync.Map // of *plan[F] by planKey
	make func(*planner[F], planKey) (F, error)
}

// of returns the plan of t, which two goroutines may make at once.
func (c *plans[F]) of(t reflect.Type) (F, error) {
	key := planKey{typ: t}
	if p, ok := c.all.Load(key); ok {
		p := p.(*plan[F])
		return p.do, p.err
	}
	r := planner[F]{c, map[planKey]*plan[F]{}}
	p, err := r.plan(t, 0)
	if err != nil {
		// The others of this round may refer to one that failed.
		p = &plan[F]{err: fmt.Errorf("variant: %w", err)}
		c.all.Store(key, p)
		return p.do, p.err
	}
	for key, p := range r.made {
		c.all.LoadOrStore(key, p)
	}
	return p.do, nil
}

// A planner makes the plans of a type and of all that it consists of.
type planner[F any] struct {
	plans *plans[F]
	made  map[planKey]*plan[F]
}

// plan returns the plan of t. An error names what in t is at fault.
func (r *planner[F]) plan(t reflect.Type, wire gdwire.Type) (*plan[F], error) {
	key := planKey{t, wire}
	if p, ok := r.made[key]; ok {
		return p, nil
	}
	if p, ok := r.plans.all.Load(key); ok && p.(*plan[F]).err == nil {
		return p.(*plan[F]), nil
	}
	p := &plan[F]{}
	r.made[key] = p
	var err error
	p.do, err = r.plans.make(r, key)
	return p, err
}

// checkPointer refuses a pointer type that points to nothing but pointers.
func checkPointer(t reflect.Type) error {
	e := t
	for range 100 {
		if e = e.Elem(); e.Kind() != reflect.Pointer {
			return nil
		}
	}
	return fmt.Errorf("%v points to nothing but pointers", t)
}
