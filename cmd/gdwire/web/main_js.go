package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/page"
	"github.com/gdwire/gdwire/fileaccess"
	"github.com/gdwire/gdwire/internal/values/save"
)

func main() {
	w := &web{cancel: map[int]context.CancelFunc{}, changed: make(chan struct{}, 1)}
	js.Global().Set("gdwire", map[string]any{
		"open": js.FuncOf(w.open), "answer": js.FuncOf(w.answer), "abort": js.FuncOf(w.abort), "change": js.FuncOf(w.change),
	})
	js.Global().Call("started")
	select {}
}

// A web answers the page of the opened files, in a Worker. Goroutines of a browser share one thread and are not
// interrupted, so nothing is locked.
type web struct {
	page    *page.Page
	file    js.Value // the newest one
	options options
	changed chan struct{}              // file is another one
	cancel  map[int]context.CancelFunc // of each request
}

// Options are how the user says a file is read. "" and nil mean to recognize it.
type options struct {
	Password      *string
	Format, Frame string

	keep, derive []int64
}

// A question is the answer to open if it needs more options.
type question struct {
	Error    string    `json:"error,omitempty"`
	Password bool      `json:"password,omitempty"` // it needs one, or another one
	Readings []reading `json:"readings,omitempty"` // it can be read in these ways
}

// A reading is a way to read a file.
type reading struct {
	Format string `json:"format"`
	Frame  string `json:"frame"`
	Text   string `json:"text"` // the beginning
}

// open opens files, the newest last, and calls done with the question as JSON: open(files, options, done).
func (w *web) open(_ js.Value, args []js.Value) any {
	files, done := args[0], args[2]
	go func() {
		var q question
		w.options = options{}
		err := json.Unmarshal([]byte(args[1].String()), &w.options)
		var all []*page.Source
		for i := 0; i < files.Length() && err == nil; i++ {
			var s *page.Source
			if s, err = w.source(files.Index(i), &q); err == nil {
				all = append(all, s)
			}
		}
		if err == nil {
			w.file = files.Index(files.Length() - 1)
			w.start(all)
		} else {
			q.Error = err.Error()
		}
		b, _ := json.Marshal(q)
		done.Invoke(string(b))
	}()
	return nil
}

// start shows files, the newest last.
func (w *web) start(all []*page.Source) {
	latest := all[len(all)-1]
	w.page = &page.Page{File: latest, Command: latest.Name, Save: w.save, Watch: w.watch}
	w.page.Reopen = func() (*page.Source, error) { return w.source(w.file, &question{}) }
	w.page.Keep, w.page.Derive = &w.options.keep, &w.options.derive
	if len(all) > 1 {
		w.page.Before = all[0]
	}
	w.page.Start()
}

// watch waits until the file is another one.
func (w *web) watch(ctx context.Context, version int, _ bool) error {
	for w.page.Version() <= version {
		select {
		case <-w.changed:
			return w.page.Reread(w.page.OnDisk())
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// change notes that the file has changed: change(file).
func (w *web) change(_ js.Value, args []js.Value) any {
	w.file = args[0]
	select {
	case w.changed <- struct{}{}:
	default:
	}
	return nil
}

// Frames are what can precede each packet.
var frames = []save.Frame{save.Bare, save.U32, save.U32BE}

// source opens a file. If more options are needed, q says so.
func (w *web) source(file js.Value, q *question) (*page.Source, error) {
	name := file.Get("name").String()
	in := save.At(&blob{file: file}, int64(file.Get("size").Float()))
	in.Name = name
	o := save.OpenOptions{Keep: w.options.keep, Derive: w.options.derive}
	as := save.Reading{Decoder: gdwire.DecoderOptions{AllowObjects: true, Limits: page.Limits}, MaxPacket: max(in.Size, 8<<20)}
	if f := w.options.Format; f != "" {
		o.Known.Format = true
		if err := as.Decoder.Format.UnmarshalText([]byte(f)); err != nil {
			return nil, err
		}
	}
	if f := w.options.Frame; f != "" {
		o.Known.Frame = true
		i := slices.IndexFunc(frames, func(as save.Frame) bool { return as.String() == f })
		as.Frame = frames[max(i, 0)]
	}
	o.Reading = as
	asked := false
	o.Container.AskKey = func(fileaccess.Info) (*fileaccess.Key, error) {
		if asked = true; w.options.Password == nil {
			return nil, errors.New("the file is encrypted: its password is needed")
		}
		if b, err := hex.DecodeString(*w.options.Password); err == nil && len(b) == len(fileaccess.Key{}) {
			return (*fileaccess.Key)(b), nil
		}
		return fileaccess.PasswordKey(*w.options.Password), nil
	}
	st, err := in.Open(&o)
	if err != nil {
		q.Password = asked && (w.options.Password == nil || errors.Is(err, fileaccess.ErrPassword))
		return nil, err
	}
	if r := st.Values.Other; r != nil {
		return nil, fmt.Errorf("%s is %v, and not %s", name, r.Format, w.options.Format)
	}
	switch why := st.Values.Unknown(); {
	case st.Values.IsEmpty():
		st.Decoder.Format = cmp.Or(st.Decoder.Format, gdwire.Godot4)
	case len(st.Values.Readings) > 1 && why != nil:
		for _, r := range st.Values.Readings {
			q.Readings = append(q.Readings, reading{r.Format.String(), r.Frame.String(), st.Values.Preview(st.As(r))})
		}
		fallthrough
	case why != nil:
		return nil, fmt.Errorf("%s %w", name, why)
	}
	s, err := page.NewSource(st)
	if err == nil {
		s.Name = name
	}
	return s, err
}

// A blob reads a File of the browser, in blocks of which it keeps the latest.
type blob struct {
	file   js.Value
	blocks [8]struct {
		at   int64
		data []byte
	}
	next int
}

const blockSize = 1 << 20

func (b *blob) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		i := (at + int64(n)) / blockSize * blockSize
		data, err := b.block(i)
		if err == nil && at+int64(n)-i >= int64(len(data)) {
			err = io.EOF
		}
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at+int64(n)-i:])
	}
	return n, nil
}

// block returns the block at an offset, which is shorter at the end of the file.
func (b *blob) block(at int64) (data []byte, err error) {
	for i := range b.blocks {
		if k := &b.blocks[i]; k.data != nil && k.at == at {
			return k.data, nil
		}
	}
	defer func() {
		if recover() != nil { // thrown by the browser
			err = save.ErrFileChanged
		}
	}()
	got := js.Global().Call("readFile", b.file, at, at+blockSize)
	data = make([]byte, got.Length())
	js.CopyBytesToGo(data, got)
	k := &b.blocks[b.next%len(b.blocks)]
	b.next++
	k.at, k.data = at, data
	return data, nil
}

// save hands the edited file to the page, and waits until it is written: to the file, or as a download.
func (w *web) save(file *page.Source, c *save.Content, backup bool) (saved page.Saved, err error) {
	out := parts{js.Global().Get("Array").New()}
	if err := file.Stack.Write(out, c.CopyTo); err != nil {
		return saved, err
	}
	done := make(chan error, 1)
	written := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if failed := args[0].Get("error"); failed.Truthy() {
			done <- errors.New(failed.String())
			return nil
		}
		w.file = args[0].Get("file")
		saved.Backup, saved.Note = args[0].Get("backup").String(), args[0].Get("note").String()
		done <- nil
		return nil
	})
	defer written.Release()
	js.Global().Call("save", out.js, backup, written)
	return saved, <-done
}

// Parts are a file as parts of a Blob.
type parts struct{ js js.Value }

func (p parts) Write(b []byte) (int, error) {
	p.js.Call("push", bytesOf(b))
	return len(b), nil
}

func bytesOf(b []byte) js.Value {
	to := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(to, b)
	return to
}

// answer answers a request of the page: answer(id, name?query, body).
func (w *web) answer(_ js.Value, args []js.Value) any {
	id, body := args[0].Int(), args[2].String()
	name, query, _ := strings.Cut(args[1].String(), "?")
	values, _ := url.ParseQuery(query)
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel[id] = cancel
	go func() {
		out := &output{id: id, told: time.Now()}
		w.page.Answer(&page.Request{Context: &resting{ctx, time.Now()}, Name: name, Query: values, Body: strings.NewReader(body), Output: out})
		out.send(true)
		cancel()
		delete(w.cancel, id)
	}()
	return nil
}

// abort ends a request: abort(id).
func (w *web) abort(_ js.Value, args []js.Value) any {
	if cancel := w.cancel[args[0].Int()]; cancel != nil {
		cancel()
	}
	return nil
}

// An output sends an answer to the page.
type output struct {
	bytes.Buffer
	id        int
	mediaType string
	told      time.Time
}

// sendEvery is the time between two parts of an answer. Each part lets the Worker receive what aborts the request.
const sendEvery = 50 * time.Millisecond

func (o *output) SetType(mediaType string) { o.mediaType = mediaType }

func (o *output) Flush() error {
	if time.Since(o.told) > sendEvery {
		o.send(false)
		time.Sleep(time.Nanosecond)
		o.told = time.Now()
	}
	return nil
}

func (o *output) send(done bool) {
	js.Global().Call("answered", o.id, o.mediaType, bytesOf(o.Bytes()), done)
	o.Reset()
}

// A resting Context lets other requests run, and the Worker receive what aborts this one, when a request that takes long
// asks whether it is done.
type resting struct {
	context.Context
	rested time.Time
}

const restEvery = 20 * time.Millisecond

func (r *resting) Err() error {
	if time.Since(r.rested) > restEvery {
		time.Sleep(time.Nanosecond)
		r.rested = time.Now()
	}
	return r.Context.Err()
}
