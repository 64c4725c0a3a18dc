package interop

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/gdwire/gdwire/gdwiretest"
	"github.com/gdwire/gdwire/savefile"
	"github.com/gdwire/gdwire/variant"
	"github.com/stretchr/testify/require"
)

// editable returns the name and content of a save that the tests edit.
func editable(t *testing.T) (name string, content []byte) {
	return writeValue(t, map[string]any{
		"gold": 5, "hp": 10, "items": []any{"sword", "bow"}, "name": "Ada", "pos": variant.Vector2{X: 1, Y: 2}, "speed": 1.5,
	})
}

const (
	field      = `document.getElementById("field")`
	fieldValue = `document.getElementById("field-value")`
	unsaved    = `document.getElementById("unsaved").textContent`
)

// ctrl presses a key with the control key.
func (p *viewPage) ctrl(key string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.KeyEvent(key, chromedp.KeyModifiers(kb.ModifierCtrl))))
}

// double clicks an element twice, with the mouse.
func (p *viewPage) double(element string) {
	p.t.Helper()
	at := p.middle(element)
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(1))))
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(2))))
}

// click clicks an element with the mouse.
func (p *viewPage) click(element string) {
	p.t.Helper()
	at := p.middle(element)
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.MouseClickXY(at[0], at[1])))
}

// middle returns the middle of an element, when that has stopped moving, is enabled, and gets what is clicked there.
func (p *viewPage) middle(element string) []float64 {
	p.t.Helper()
	const middle = `(r => [r.x + r.width / 2, r.y + r.height / 2])(e.getBoundingClientRect())`
	p.until(`await (async e => {
		const [x, y] = ` + middle + `;
		await new Promise(r => setTimeout(r, 30));
		const [toX, toY] = ` + middle + `;
		return x === toX && y === toY && e.isConnected && !e.disabled && e.contains(document.elementFromPoint(x, y));
	})(` + element + `)`)
	return eval[[]float64](p, `(e => `+middle+`)(`+element+`)`)
}

// ready waits until the field is open for a value.
func (p *viewPage) ready(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`!%s.hidden && %s.value === %q && document.activeElement === %[2]s`, field, fieldValue, text))
}

// settled waits until the field is closed and the chosen line of the tree contains text.
func (p *viewPage) settled(chosen string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`%s.hidden && document.querySelector("#tree .chosen")?.textContent.includes(%q)`, field, chosen))
}

// Five edits by the keyboard alone: the same bytes after undo, and the file of the edits after Save.
func TestViewEditKeyboard(t *testing.T) {
	name, before := editable(t)
	p := openView(t, gdwireBinary(t), name)
	p.line(".gold")
	p.press(kb.ArrowDown + kb.Enter) // a number
	p.ready("5")
	p.press("7" + kb.Enter)
	p.settled(".gold5 → 7int")
	p.press(kb.ArrowDown + kb.Enter) // not of its type
	p.ready("10")
	p.press(`"ten"` + kb.Enter)
	p.until(`document.getElementById("field-error").textContent === "$.hp is of type int and not String; write a value such as 10"`)
	p.press(kb.Escape)
	p.settled(".hp10int")
	p.press(kb.ArrowDown + kb.Insert) // an element
	p.ready("")
	p.press(`"axe"` + kb.Enter)
	p.settled(`[2]"axe"String`)
	p.press(kb.ArrowUp + kb.Delete)
	p.settled(`[1]"bow" → "axe"String`)
	p.press(kb.ArrowDown + kb.Enter) // text, without quotes
	p.ready("Ada")
	p.press("Grace" + kb.Enter)
	p.settled(`.name"Ada" → "Grace"String`)
	p.press(kb.ArrowDown + kb.Enter)
	p.until(`document.activeElement?.value === "1.0" && ` + fieldValue + `.value === "Vector2(1.0, 2.0)"`)
	p.press("3" + kb.Tab + "4" + kb.Enter)
	p.settled("→ Vector2(3.0, 4.0)Vector2")
	p.until(changeLines + `.length === 4`)
	require.Equal(t, "4 changes, not saved", eval[string](p, `document.getElementById("changed").textContent`))
	require.Equal(t, "● save.bin – gdwire view", eval[string](p, `document.title`))
	require.Equal(t, before, read(t, name))

	for n := range 5 {
		p.ctrl("z")
		p.until(fmt.Sprintf(`document.getElementById("redo").disabled === false && %s === %q`, unsaved, map[bool]string{true: "", false: "not saved"}[n == 4]))
		p.until(fmt.Sprintf(`(await fetch("info").then(r => r.json())).file.edits.undo === %d`, 4-n))
	}
	p.until(`document.getElementById("changes").hidden`)
	require.Equal(t, before, p.bytes(len(before)), "after undo")
	for n := range 5 {
		p.until(fmt.Sprintf(`(await fetch("info").then(r => r.json())).file.edits.undo === %d`, n))
		p.until(`!document.getElementById("redo").disabled`)
		p.ctrl("y")
	}
	p.until(`document.getElementById("redo").disabled`)
	p.ctrl("s")
	p.until(unsaved + ` === "saved; save.bin.bak is the file before"`)
	require.Equal(t, before, read(t, name+".bak"))
	want := map[string]any{"gold": 7, "hp": 10, "items": []any{"sword", "axe"}, "name": "Grace", "pos": variant.Vector2{X: 3, Y: 4}, "speed": 1.5}
	require.Equal(t, gdwiretest.Encode(t, want), read(t, name))
	engineReads(t, name, "axe", "Grace")
	p.quiet()
}

// read returns the content of a file.
func read(t *testing.T, name string) []byte {
	return must(os.ReadFile(name))(t)
}

// bytes returns the first n bytes of what the page shows.
func (p *viewPage) bytes(n int) []byte {
	p.t.Helper()
	text := eval[string](p, `fetch("info").then(r => r.json()).then(i => fetch("value?at=0&version=" + i.file.version)).then(r => r.json()).then(v => v.bytes)`)
	b := must(base64.StdEncoding.DecodeString(text))(p.t)
	return b[:min(n, len(b))]
}

// Five edits by the mouse, which are undone to the same bytes.
func TestViewEditMouse(t *testing.T) {
	name, before := editable(t)
	p := openView(t, gdwireBinary(t), name)
	write := func(line, old, value, shown string) {
		p.double(p.line(line) + `.querySelector(".value")`)
		p.ready(old)
		p.ctrl("a")
		p.press(value)
		p.click(p.line("$") + `.querySelector(".type")`) // elsewhere
		p.until(fmt.Sprintf(`%s.hidden && Array.from(document.querySelectorAll("#tree .line"), e => e.textContent).includes(%q)`, field, shown))
	}
	p.double(p.line(".hp") + `.querySelector(".value")`) // what is wrong stays in the field, beside its line
	p.ready("10")
	p.press("ten")
	p.click(p.line("$") + `.querySelector(".type")`)
	p.until(`!document.getElementById("field-error").hidden && document.querySelector("#tree .chosen")?.textContent.startsWith(".hp")`)
	p.click(fieldValue)
	p.press(kb.Escape)
	p.settled(".hp10int")
	write(".hp", "10", "9", ".hp10 → 9int")
	write(".speed", "1.5", "2", ".speed1.5 → 2.0float")
	write(".name", "Ada", "Grace", `.name"Ada" → "Grace"String`)
	p.click(p.line(".gold"))
	p.click(`document.getElementById("delete")`)
	p.until(`!Array.from(document.querySelectorAll("#tree .line"), e => e.textContent).includes(".gold5int")`)
	p.click(p.line("$"))
	p.click(`document.getElementById("add")`)
	p.ready("")
	p.press("lucky number = 3")
	p.press(kb.Enter)
	p.settled(`["lucky number"]3int`)
	p.until(changeLines + `.length === 5`)
	for n := range 5 {
		p.until(fmt.Sprintf(`(await fetch("info").then(r => r.json())).file.edits.undo === %d`, 5-n))
		p.until(fmt.Sprintf(changeLines+`.length === %d`, 5-n)) // the page has followed
		p.until(`document.getElementById("unsaved").textContent === "not saved"`)
		p.click(`document.getElementById("undo")`)
	}
	p.until(`document.getElementById("undo").disabled && document.getElementById("changes").hidden`)
	require.Equal(t, before, p.bytes(len(before)))
	require.True(t, eval[bool](p, `document.getElementById("save").disabled`))
	p.click(`document.getElementById("redo")`)
	p.until(unsaved + ` === "not saved"`)
	p.click(`document.getElementById("save")`)
	p.until(unsaved + `.startsWith("saved")`)
	p.until(`document.activeElement.id === "tree"`)
	f := must(savefile.Open(name, nil))(t)
	defer f.Close()
	var hp int
	require.NoError(t, f.Get("hp", &hp))
	require.Equal(t, 9, hp)
	p.quiet()
}

// The key that is typed is the key that is added. A key of another type than the others is asked back.
func TestViewEditKeys(t *testing.T) {
	name, _ := writeValue(t, map[string]any{"flags": map[int]any{1: true}})
	p := openView(t, gdwireBinary(t), name)
	add := func(typed string) {
		p.click(p.line(".flags"))
		p.press(kb.Insert)
		p.ready("")
		p.press(typed + kb.Enter)
	}
	add("9 = true")
	p.settled("[9]truebool")
	const error, sure = `document.getElementById("field-error").textContent`, `document.getElementById("field-sure")`
	add(`"7": 5`)
	p.until(error + ` === 'The other keys are of type int, and "7" is of type String.' && document.activeElement === ` + sure)
	p.accessible()
	p.press(kb.Escape)
	p.until(field + `.hidden`)
	add(`x: 5`)
	p.until(`document.activeElement === ` + sure)
	p.click(fieldValue) // another text is another question
	p.press("0")
	p.until(sure + `.hidden`)
	p.press(kb.Enter)
	p.until(`document.activeElement === ` + sure)
	p.press(kb.Enter)
	p.settled(".x50int")
	p.ctrl("s")
	p.until(unsaved + `.startsWith("saved")`)
	flags := new(variant.Dictionary)
	flags.Set(1, true)
	flags.Set(9, true)
	flags.Set("x", 50)
	require.Equal(t, gdwiretest.Encode(t, map[string]any{"flags": flags}), read(t, name))
	p.quiet()
}

// Values are edited as people expect: text of several lines, a bool by its box, a Color by its digits and in a picker, a
// key by a new name. An element is duplicated, and moved by keys and by the mouse.
func TestViewEditWords(t *testing.T) {
	name, _ := writeValue(t, map[string]any{
		"bool": true, "color": variant.Color{R: 1, A: 0.5}, "items": []any{1, "a", 3}, "old name": 5, "pos": variant.Vector2{X: 1, Y: 2}, "text": "say \"hi\"\ttwice",
	})
	p := openView(t, gdwireBinary(t), name)
	p.choose(".bool")
	p.press(" ")
	p.settled(".booltrue → falsebool")
	p.click(p.line(".bool") + `.querySelector("input")`)
	p.settled(".booltruebool")
	p.press(" ")
	p.settled(".booltrue → falsebool")

	p.choose(".color")
	p.press(kb.Enter)
	p.until(`document.activeElement?.value === "1.0" && document.querySelector("#field-parts [type=color]").value === "#ff0000"`)
	p.accessible()
	p.run(`(e => { e.value = "#00ff00"; e.dispatchEvent(new Event("input", {bubbles: true})); })(document.querySelector("#field-parts [type=color]"))`)
	require.Equal(t, "Color(0, 1, 0, 0.5)", eval[string](p, fieldValue+`.value`))
	p.run(fieldValue + `.focus(); ` + fieldValue + `.select()`)
	p.press("#0000ff" + kb.Enter)
	p.settled("→ Color(0.0, 0.0, 1.0, 1.0)Color")
	for _, row := range []struct{ path, typed, want string }{ // whole, in the field of the first component
		{".color", "green", "→ Color(0.0, 1.0, 0.0, 1.0)Color"},
		{".color", "#ff0000", "→ Color(1.0, 0.0, 0.0, 1.0)Color"},
		{".color", "-1e1", "→ Color(-10.0, 0.0, 0.0, 1.0)Color"},
		{".pos", "(3, 4)", "→ Vector2(3.0, 4.0)Vector2"},
		{".pos", "5, 6", "→ Vector2(5.0, 6.0)Vector2"},
	} {
		p.choose(row.path)
		p.press(kb.Enter)
		p.until(`document.activeElement?.closest("#field-parts")`)
		p.press(row.typed + kb.Enter)
		p.settled(row.want)
	}
	p.click(`document.getElementById("add")`)
	p.until(`document.activeElement?.placeholder === 'key = value, such as title = "Sir"'`)
	p.press(kb.Escape)

	p.choose(".text")
	p.press(kb.Enter)
	p.ready("say \"hi\"\ttwice")
	p.press(`a "b"`)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierShift))))
	p.press(`\c` + kb.Enter)
	p.settled(`→ "a \"b\"\n\\c"String`)

	p.choose(`["old name"]`)
	p.click(`document.getElementById("rename")`)
	p.ready("old name")
	p.press("new" + kb.Enter)
	p.settled(".new5int")
	p.press("d")
	p.ready("new = 5")
	p.press("again" + kb.Enter)
	p.settled(".again5int")

	p.choose("[1]")
	p.press("d")
	p.settled(`[2]"a"String`)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(kb.ModifierAlt))))
	p.settled(`[3]`)
	p.until(`Array.from(document.querySelectorAll("#tree .line"), e => e.textContent).some(text => text.endsWith("3int") && text.startsWith("[2]"))`)
	from, to := p.middle(p.line("[0]")+`.querySelector(".type")`), p.middle(p.line("[2]")+`.querySelector(".type")`)
	mouse := func(kind input.DispatchMouseEventType, at []float64) {
		require.NoError(t, chromedp.Do(p.ctx, chromedp.MouseEvent(kind, at[0], at[1], chromedp.Button("left"), chromedp.ClickCount(1))))
	}
	mouse(chromedp.MousePressed, from)
	mouse(chromedp.MouseMoved, to)
	mouse(chromedp.MouseReleased, to)
	p.settled(`[2]`)
	p.until(`Array.from(document.querySelectorAll("#tree .line"), e => e.textContent).some(text => text.endsWith("1int") && text.startsWith("[2]"))`)
	p.ctrl("s")
	p.until(unsaved + `.startsWith("saved")`)
	want := new(variant.Dictionary)
	want.Set("bool", false)
	want.Set("color", variant.Color{R: -10, A: 1})
	want.Set("items", []any{"a", 3, 1, "a"})
	want.Set("new", 5)
	want.Set("pos", variant.Vector2{X: 5, Y: 6})
	want.Set("text", "a \"b\"\n\\c")
	want.Set("again", 5)
	require.Equal(t, gdwiretest.Encode(t, want), read(t, name))

	p.ctrl("f") // what is typed is searched
	p.until(`document.activeElement === document.getElementById("query")`)
	p.press("agai")
	p.until(`document.getElementById("found").textContent === "1 found"`)
	p.quiet()
}

// What is in the field is saved, however the user saves. A value of a wrong type stays there, and nothing is saved.
func TestViewEditSaves(t *testing.T) {
	for how, save := range map[string]func(*viewPage){
		"key":            func(p *viewPage) { p.ctrl("s") },
		"button":         func(p *viewPage) { p.click(`document.getElementById("save")`) },
		"key after edit": func(p *viewPage) { p.press(kb.Enter); p.ctrl("s") },
	} {
		t.Run(how, func(t *testing.T) {
			name, before := editable(t)
			p := openView(t, gdwireBinary(t), name)
			p.choose(".gold")
			p.press(kb.F2)
			p.ready("5")
			p.press("1x")
			p.ctrl("s")
			p.until(`document.getElementById("notice-text").textContent.startsWith("Nothing is saved: ")`)
			p.ready("1x")
			require.Equal(t, before, read(t, name))
			p.press(kb.Backspace + "7")
			save(p)
			p.until(unsaved + `.startsWith("saved") && ` + field + `.hidden`)
			var v map[string]any
			require.NoError(t, variant.Unmarshal(read(t, name), &v))
			require.EqualValues(t, 17, v["gold"])
		})
	}
}

// The hits of a search are edited one after the other.
func TestViewEditHits(t *testing.T) {
	name, _ := writeValue(t, map[string]any{"a": map[string]any{"hp": 1}, "b": map[string]any{"hp": 2}, "c": map[string]any{"hp": 3}})
	p := openView(t, gdwireBinary(t), name)
	p.find("hp", "3 found")
	for n, chosen := range []string{".hp1 → 9int", ".hp2 → 9int", ".hp3 → 9int"} {
		p.run(`document.dispatchEvent(new KeyboardEvent("keydown", {key: "F3"}))`)
		p.settled(fmt.Sprintf(".hp%dint", n+1))
		p.run(`document.getElementById("tree").focus()`)
		p.press(kb.Enter)
		p.ready(fmt.Sprint(n + 1))
		p.press("9" + kb.Enter)
		p.settled(chosen)
	}
	require.Equal(t, "3 found", eval[string](p, `document.getElementById("found").textContent`))
	p.ctrl("s")
	p.until(unsaved + `.startsWith("saved")`)
	want := map[string]any{"a": map[string]any{"hp": 9}, "b": map[string]any{"hp": 9}, "c": map[string]any{"hp": 9}}
	require.Equal(t, gdwiretest.Encode(t, want), read(t, name))
	p.quiet()
}

// Another page of the browser edits nothing, even if it knows the address.
func TestViewEditElsewhere(t *testing.T) {
	name, before := editable(t)
	binary := gdwireBinary(t)
	p := openView(t, binary, name)
	q := openView(t, binary, filepath.Join("..", "..", "testdata", "godot4.7-dev", "save_game_large.bin"))
	body := `{"op": "set", "at": "$.hp", "text": "1", "version": 1}`
	for _, from := range []string{"about:blank", q.url + "icon.svg"} {
		require.NoError(t, chromedp.Do(q.ctx, chromedp.Navigate(from)))
		for _, how := range []string{
			`fetch(url, {method: "POST", body})`, `fetch(url, {method: "POST", body, mode: "no-cors"})`,
			`fetch(url, {method: "POST", body, headers: {"Content-Type": "application/json"}})`,
		} {
			eval[bool](q, fmt.Sprintf(`(async (url, body) => { try { await %s; } catch {} return true; })(%q, %q)`, how, p.url+"edit", body))
		}
	}
	must(chromedp.Run(q.ctx, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const form = document.createElementNS("http://www.w3.org/1999/xhtml", "form");
		Object.assign(form, {method: "POST", enctype: "text/plain", action: %q});
		document.documentElement.append(form);
		form.submit();
		return true;
	})()`, p.url+"edit"))))(t)
	require.Equal(t, 1, eval[int](p, `fetch("info").then(r => r.json()).then(i => i.file.version)`))
	require.Equal(t, before, read(t, name))
	p.quiet()

	// A hostile save edits nothing either, in whatever way it is shown.
	hostile := `"><form method=post action=edit><input name=op value=set></form><script>fetch("edit", {method: "POST"})</script>`
	bad, content := writeValue(t, map[string]any{hostile: hostile, "$.hp = 1\n": "\n$.hp = 2", "a": []any{hostile}})
	h := openView(t, binary, bad)
	for range 4 {
		h.press(kb.ArrowDown)
	}
	h.press(kb.Enter)
	h.until(`!` + field + `.hidden || document.querySelector("#tree .chosen") !== null`)
	h.press(kb.Escape)
	require.Equal(t, 1, eval[int](h, `fetch("info").then(r => r.json()).then(i => i.file.version)`))
	require.Equal(t, content, read(t, bad))
	h.quiet()
}

// A page with -read-only edits nothing, and says so.
func TestViewEditReadOnly(t *testing.T) {
	name, before := editable(t)
	url, _ := runView(t, gdwireBinary(t), "view", "-no-open", "-read-only", name)
	p := openPage(t, url)
	p.line(".gold")
	p.press(kb.ArrowDown + kb.Enter)
	p.until(`document.getElementById("notice-text").textContent === "Nothing is edited: the page is read-only, as -read-only says"`)
	require.True(t, eval[bool](p, field+`.hidden && document.getElementById("edits").hidden`))
	require.Equal(t, before, read(t, name))
	p.quiet()
}

// A game saves while edits are not saved: they are made in its file, too.
func TestViewEditMerge(t *testing.T) {
	name, _ := editable(t)
	p := openView(t, gdwireBinary(t), name)
	p.line(".gold")
	p.press(kb.ArrowDown + kb.Enter)
	p.ready("5")
	p.press("7" + kb.Enter)
	p.settled(".gold5 → 7int")
	write(t, name, map[string]any{"gold": 6, "hp": 8})
	p.until(`document.getElementById("notice-text").textContent.startsWith("Another program has changed the file. 1 of your 1 edits")`)
	p.settled(".gold6 → 7int")

	// The file is empty while the game writes it, and then there is no gold for a time.
	const waiting = `document.getElementById("waiting")`
	require.NoError(t, os.Truncate(name, 0))
	p.until(`document.getElementById("notice-text").textContent === "The file cannot be read any more (it is empty): this is what it was. Your edits are kept."`)
	p.settled(".gold6 → 7int")
	write(t, name, map[string]any{"hp": 9})
	p.until(`!` + waiting + `.hidden && document.getElementById("waiting-edits").textContent.includes("set $.gold = 7 (there is no $.gold")`)
	p.accessible()
	write(t, name, map[string]any{"gold": 1, "hp": 8})
	p.until(waiting + `.hidden`)
	p.until(`document.querySelector("#tree").textContent.includes(".gold1 → 7int")`)
	p.ctrl("s")
	p.until(unsaved + `.startsWith("saved")`)
	require.Equal(t, gdwiretest.Encode(t, map[string]any{"gold": 7, "hp": 8}), read(t, name))
	p.quiet()
}

// After gdwire has ended, the page says so, also that edits were not saved, and offers none.
func TestViewEditEnded(t *testing.T) {
	name, before := editable(t)
	command := exec.Command(gdwireBinary(t), "view", "-no-open", name)
	url, _ := startView(t, command)
	p := openPage(t, url)
	p.double(p.line(".gold") + `.querySelector(".value")`)
	p.ready("5")
	p.press("7" + kb.Enter)
	p.settled(".gold5 → 7int")
	p.double(p.line(".hp") + `.querySelector(".value")`)
	p.ready("10")
	p.press("9")
	require.NoError(t, command.Process.Signal(os.Interrupt))
	p.until(`document.getElementById("notice-text").textContent === "gdwire has ended. The file is as it was, without the edits that are not saved."`)
	require.Equal(t, "Not editable: gdwire has ended", eval[string](p, `document.getElementById("read-only").textContent`))
	p.press(kb.Enter)
	p.until(`document.getElementById("field-error").textContent === "gdwire has ended" && ` + fieldValue + `.value === "9"`)
	p.press(kb.Escape)
	p.click(p.line(".name"))
	p.until(`document.getElementById("error").textContent === "gdwire has ended"`)
	p.accessible()
	require.Equal(t, before, read(t, name))
}

// engineReads expects that Godot 4, if GDWIRE_GODOT4 is set, reads the value of a file, and that its text contains
// parts.
func engineReads(t *testing.T, name string, parts ...string) {
	engine := os.Getenv("GDWIRE_GODOT4")
	if engine == "" {
		return
	}
	full := must(filepath.Abs(name))(t)
	script := scriptOf(t, `extends Node
func _ready():
	print("read ", bytes_to_var(FileAccess.get_file_as_bytes(OS.get_cmdline_user_args()[0])))
	get_tree().quit()
`)
	prints(t, exec.Command(engine, script, full), parts)
}

// engine3Reads expects it of Godot 3, if godot3-server is installed.
func engine3Reads(t *testing.T, name string, parts ...string) {
	engine, err := exec.LookPath("godot3-server")
	if err != nil {
		return
	}
	script := scriptOf(t, `extends SceneTree
func _init():
	var file = File.new()
	if file.open(OS.get_environment("SAVE"), File.READ) == OK:
		print("read ", bytes2var(file.get_buffer(file.get_len())))
	quit()
`)
	home := t.TempDir()
	c := exec.Command(engine, "--no-window", "--path", home, "-s", script)
	c.Env = append(os.Environ(), "SAVE="+name, "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	prints(t, c, parts)
}

// scriptOf writes a script to a file and returns its name.
func scriptOf(t *testing.T, text string) string {
	name := filepath.Join(t.TempDir(), "main.gd")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// prints expects that an engine prints a value whose text contains parts.
func prints(t *testing.T, engine *exec.Cmd, parts []string) {
	out, err := engine.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, value, ok := strings.Cut(string(out), "read ")
	require.True(t, ok, "%s", out)
	for _, part := range parts {
		require.Contains(t, value, part)
	}
}

// write writes a value to a file as a game does, in place.
func write(t *testing.T, name string, v any) {
	require.NoError(t, os.WriteFile(name, gdwiretest.Encode(t, v), 0o600))
}

const changeLines = `Array.from(document.querySelectorAll("#change-lines .line"), e => e.textContent)`

// saves returns two saves that differ: an item has gone, a number has changed, a key is new.
func saves() (before, after map[string]any) {
	items := func(skip int) (list []any) {
		for i := range 50 {
			if i != skip {
				list = append(list, map[string]any{"id": i})
			}
		}
		return list
	}
	return map[string]any{"hp": 10, "items": items(-1), "name": "Ada"}, map[string]any{"gold": 5, "hp": 7, "items": items(20), "name": "Ada"}
}

// After an autosave the page shows the new file, what has changed in it, and what was open.
func TestViewAutosave(t *testing.T) {
	before, after := saves()
	name, _ := writeValue(t, before)
	p := openView(t, gdwireBinary(t), name)
	p.open(".items")
	p.open("[3]")
	p.choose(".id")
	write(t, name, after)
	p.until(changeLines + `.length === 3`)
	require.Equal(t, []string{"~hp10 → 7", "−items[20] before{\"id\": 20}", "+gold5"}, eval[[]string](p, changeLines))
	require.Regexp(t, `^3 changes since the file changed at `, eval[string](p, `document.getElementById("changed").textContent`))
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes(".id3int")`)
	p.until(`Array.from(document.querySelectorAll("#tree .line.changed"), e => e.textContent).join() === ".hp10 → 7int"`)
	p.until(`Array.from(document.querySelectorAll("#tree .line.added"), e => e.textContent).join() === ".gold5int"`)

	p.press("n")
	p.until(`document.querySelector("#tree .chosen")?.textContent.startsWith(".hp") && document.getElementById("was").textContent === "10"`)
	p.press("p")
	p.until(`document.querySelector("#tree .chosen")?.textContent.startsWith(".gold")`)
	p.run(`document.getElementById("only").click()`)
	require.Zero(t, eval[int](p, `document.getElementById("tree").clientHeight`))

	again := openPage(t, p.url) // as a reload
	again.until(changeLines + `.length === 3 && document.getElementById("changed").textContent.startsWith("3 changes since the file changed at ")`)

	// Never an old file in silence.
	require.NoError(t, os.WriteFile(name, []byte{0xff, 0xff}, 0o600))
	p.until(`document.getElementById("notice-text").textContent.startsWith("The file cannot be read any more")`)
	write(t, name, before)
	p.until(`document.getElementById("notice").hidden && ` + changeLines + `.length === 3`)
	p.accessible()
	p.quiet()
}

// Two files: what differs is there at once.
func TestViewCompare(t *testing.T) {
	before, after := saves()
	older, _ := writeValue(t, before)
	newer, _ := writeValue(t, after)
	url, _ := runView(t, gdwireBinary(t), "view", "-no-open", older, newer)
	p := openPage(t, url)
	p.until(changeLines + `.length === 3`)
	require.Equal(t, "3 changes since "+older, eval[string](p, `document.getElementById("changed").textContent`))
	p.run(`document.querySelectorAll("#change-lines .line")[1].click()`)
	p.until(`document.querySelector("#tree .chosen.gone-here")?.textContent.includes("[20]{id: 21}")`)
	p.quiet()
}

// What takes the space, and what the bytes are.
func TestViewMap(t *testing.T) {
	name, content := writeValue(t, map[string]any{"small": 1, "large": make([]int64, 1000), "list": []any{"one", "two"}})
	p := openView(t, gdwireBinary(t), name)
	p.choose("$")
	p.until(`document.querySelectorAll("#map-list li").length === 3`)
	require.Equal(t, ".large99 %8.0 kBPackedInt64Array 1000",
		eval[string](p, `document.querySelector("#map-list li").textContent`))
	require.Equal(t, "3 values, "+fmt.Sprintf("%.1f kB", float64(len(content)-8)/1000), eval[string](p, `document.getElementById("map-sum").textContent`))
	p.run(`document.querySelectorAll("#map-list button")[1].click()`)
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes(".list") && document.querySelectorAll("#hex div").length > 0`)

	// A byte selects the innermost value, and is described.
	at := len(content) - 16 - 8 - 4 // in "two"
	p.until(fmt.Sprintf(`document.querySelector('#hex [data-at="%d"]') !== null`, at))
	p.run(fmt.Sprintf(`document.querySelector('#hex [data-at="%d"]').dispatchEvent(new PointerEvent("pointermove", {bubbles: true}))`, at))
	require.Regexp(t, fmt.Sprintf(`^offset %d`, at), eval[string](p, `document.getElementById("cursor").textContent`))
	p.run(fmt.Sprintf(`document.querySelector('#hex [data-at="%d"]').click()`, at))
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes("String") || document.querySelector("#tree .chosen")?.textContent.includes("int")`)
	p.quiet()
}

// The search shows paths of pairs, groups equal ones, and a path goes where it leads.
func TestViewSearch(t *testing.T) {
	p := openView(t, gdwireBinary(t), largeSave)
	p.find("stats", "the first 500 found")
	require.Equal(t, "player.inventory[*].stats  500 times", eval[string](p, `document.querySelector("#hits summary").textContent`))
	require.Equal(t, 1, eval[int](p, `document.getElementById("hits").children.length`))
	p.run(`document.dispatchEvent(new KeyboardEvent("keydown", {key: "F3"}))`)
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes(".stats") && document.querySelector("#hits .chosen")?.textContent === 'player.inventory[0].stats  {hp: 100, mp: 0}'`)
	require.Equal(t, "stats", eval[string](p, `document.querySelector("#hits .chosen b").textContent`))
	p.run(`document.getElementById("query").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}))`)
	p.until(`document.querySelector("#hits .chosen")?.textContent.startsWith("player.inventory[1].stats")`)

	p.find("item_2999", "1 found") // the only one is selected
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes('"item_2999"')`)
	p.find("item_299", "11 found")
	p.run(`document.getElementById("search").requestSubmit()`) // Enter, again
	p.until(`document.querySelector("#tree .chosen")?.textContent.includes('"item_299"')`)

	p.run(`document.getElementById("query").value = "player.inventory[2999].stats.mp"; document.getElementById("search").requestSubmit()`)
	p.until(`document.querySelector("#tree .chosen")?.textContent.startsWith(".mp")`)
	top := eval[float64](p, `(e => e.offsetTop / e.parentElement.clientHeight)(document.querySelector("#tree .chosen"))`)
	require.InDelta(t, 0.5, top, 0.5)
	p.run(`document.getElementById("query").value = "$.player.nobody"; document.getElementById("search").requestSubmit()`)
	p.until(`document.getElementById("found").textContent === "there is no .nobody in it"`)
	p.quiet()
}

// Keys wait for a jump, and what is closed meanwhile stays closed.
func TestViewSearchDeep(t *testing.T) {
	value := any(map[string]any{"deep": "treasure"})
	for range 100 {
		value = []any{value}
	}
	name, _ := writeValue(t, value)
	for _, keys := range []string{kb.Escape + kb.Enter, kb.Escape + "d" + kb.Enter} {
		p := openView(t, gdwireBinary(t), name)
		p.run(`document.getElementById("query").focus()`)
		p.press("deep" + kb.Enter)
		p.until(`document.getElementById("found").textContent === "1 found"`)
		p.press(keys)
		p.ready("treasure")
		require.Zero(t, eval[int](p, `Array.from(document.querySelectorAll("#tree .line"), e => e.textContent).filter(s => s === "…").length`))
		p.press(kb.Escape)
		p.run(`tree.dispatchEvent(new KeyboardEvent("keydown", {key: "Home"}))`)
		p.quiet()
	}
}

// The commands can be copied, and in the one that sets, the value is selected.
func TestViewCommands(t *testing.T) {
	name, _ := writeValue(t, map[string]any{"a key": "it's"})
	p := openView(t, gdwireBinary(t), filepath.Clean(name))
	p.choose(`["a key"]`)
	p.run(`document.getElementById("set").focus()`)
	require.Equal(t, `"it'\''s"`, eval[string](p, `(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.getElementById("set"))`))
	p.quiet()
}
