package debug

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gdwire/gdwire"
	"github.com/gdwire/gdwire/cmd/gdwire/internal/shell"
	"github.com/gdwire/gdwire/gdjson"
	"github.com/gdwire/gdwire/internal/debugger"
	"github.com/gdwire/gdwire/variant"
)

// show shows a message of the game, or the error of a message.
func (d *runner) show(ctx context.Context, m *debugger.Message, err error) {
	var event any = err
	if err == nil {
		event = m.Event()
	}
	if d.lines {
		d.showJSON(m, err)
	} else {
		d.showEvent(m, event)
	}
	if stop, ok := event.(*debugger.Stop); ok {
		d.showStop(ctx, stop)
	}
}

// showEvent shows the event of a message.
func (d *runner) showEvent(m *debugger.Message, event any) {
	switch e := event.(type) {
	case error:
		if e == d.session.Err() {
			return // reported at the end of the command
		}
		d.mu.Lock()
		d.Report(e)
		d.mu.Unlock()
	case *debugger.Output:
		for _, line := range e.Lines {
			text := shell.Printable(strings.TrimSuffix(line.Text, "\n"))
			if line.Kind == debugger.Failure {
				text = d.Colors.Bad.Sprint(text)
			}
			d.eventf("%s\n", text)
		}
	case *debugger.Error:
		color := d.Colors.Bad
		if e.Warning {
			color = d.Colors.Data
		}
		d.eventf("%s\n%s", color.Sprint(oneLine(e.String())), stackText(e.Stack))
	case *debugger.Monitors:
		d.showMonitors(e)
	case nil:
		if !ofEngine(m.Name) {
			d.eventf("%s %s\n", d.Colors.Open.Sprint(oneLine(m.Name)), shell.Cut(valuesText(m.Data), d.Width))
		}
	}
}

// engineMessages are the names of messages of the engine, or their prefixes.
var engineMessages = []string{
	"set_pid", "stack_dump", "stack_frame_var", "evaluation_return", "message:", "scene:", "servers:", "performance:", "multiplayer:",
	"visual:", "window:", "remote_", "profile_", "game_view:", "filesystem:", "request_quit", "kill_me",
}

// ofEngine reports whether a message is not one of the game's own EngineDebugger.send_message.
func ofEngine(name string) bool {
	for _, prefix := range engineMessages {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// oneLine returns text for a single line.
func oneLine(text string) string { return strings.ReplaceAll(shell.Printable(text), "\n", `\n`) }

// valuesText returns values as text, separated by spaces.
func valuesText(values []variant.Raw) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(v.String())
	}
	return b.String()
}

// stackText returns a line for each function on a stack.
func stackText(stack []debugger.Frame) string {
	var b strings.Builder
	for i, f := range stack {
		fmt.Fprintf(&b, "  %d  %s\n", i, oneLine(f.String()))
	}
	return b.String()
}

// showStop shows why and where the game is stopped. If nobody can give a command, the game continues.
func (d *runner) showStop(ctx context.Context, stop *debugger.Stop) {
	go func() { // the reply comes as an event
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		stack, err := d.session.Stack(ctx)
		if err != nil {
			return // the game continues already
		}
		d.eventf("%s\n%s", d.Colors.Bold.Sprint("stopped: "+oneLine(cmp.Or(stop.Reason, "pause"))), stackText(stack))
		d.mu.Lock()
		alone := d.alone
		d.mu.Unlock()
		if alone {
			_ = d.session.Continue(ctx)
		}
	}()
}

// leave lets the game run, and continue whenever it stops: nobody gives commands any more.
func (d *runner) leave(ctx context.Context) {
	d.mu.Lock()
	d.alone = true
	d.mu.Unlock()
	_ = d.session.Continue(ctx) // unless already running
}

// showJSON shows a message as a line of JSON.
func (d *runner) showJSON(m *debugger.Message, failed error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.results, `{"time":%q`, time.Now().Format(time.RFC3339Nano))
	if failed == nil {
		name, _ := json.Marshal(m.Name)
		fmt.Fprintf(d.results, `,"name":%s,"thread":%d,"data":[`, name, m.Thread)
		for i, v := range m.Data {
			if i > 0 {
				fmt.Fprint(d.results, ",")
			}
			if err := d.writeJSON(v); err != nil {
				failed = err
				break
			}
		}
		fmt.Fprint(d.results, "]")
	}
	if failed != nil {
		text, _ := json.Marshal(shell.Printable(failed.Error()))
		fmt.Fprintf(d.results, `,"error":%s`, text)
	}
	fmt.Fprint(d.results, "}\n")
	_ = d.results.Flush()
}

// writeJSON writes a value as Godot's JSON. Invalid values, possible in a valid message of
// Godot 3, are null.
func (d *runner) writeJSON(v variant.Raw) error {
	o := d.decoder
	o.Format = v.Format
	r := gdwire.NewDecoder(nil, &o)
	defer r.Release()
	if r.ResetBytes(v.Data); r.SkipValue() != nil {
		fmt.Fprint(d.results, "null")
		return r.Err()
	}
	r.ResetBytes(v.Data)
	return gdjson.ToJSON(d.results, r, gdjson.Options{EscapeForTerminal: true})
}

// showMonitors shows measurements, in a table refreshed on a terminal, or as a line.
func (d *runner) showMonitors(m *debugger.Monitors) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.monitoring {
		return
	}
	rows := [][2]string{}
	for i, v := range m.Values {
		if name := m.Name(i); name != "" {
			rows = append(rows, [2]string{name, monitorText(name, v)})
		}
	}
	if !d.IsTerminal {
		for _, row := range rows {
			fmt.Fprintf(d.results, "%s %s  ", row[0], row[1])
		}
		fmt.Fprintln(d.results)
	} else {
		if d.table > 0 {
			fmt.Fprintf(d.results, "\x1b[%dA", d.table)
		}
		for _, row := range rows {
			fmt.Fprintf(d.results, "\x1b[K%18s  %s\n", row[0], d.Colors.Data.Sprint(row[1]))
		}
		d.table = len(rows)
	}
	_ = d.results.Flush()
}

// monitorText returns a measurement with its unit.
func monitorText(name string, v float64) string {
	switch {
	case strings.HasPrefix(name, "memory"), strings.HasPrefix(name, "message"):
		return humanize.IBytes(uint64(max(v, 0)))
	case name == "process", name == "physics", name == "navigation":
		return fmt.Sprintf("%.2f ms", v*1000)
	}
	return fmt.Sprintf("%.0f", v)
}
