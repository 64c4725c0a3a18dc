package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gdwire/gdwire/gdwiretest"
)

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
	p.until(`document.getElementById("notice").textContent.startsWith("The file cannot be read any more")`)
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

// The commands can be copied, and in the one that sets, the value is selected.
func TestViewCommands(t *testing.T) {
	name, _ := writeValue(t, map[string]any{"a key": "it's"})
	p := openView(t, gdwireBinary(t), filepath.Clean(name))
	p.choose(`["a key"]`)
	p.run(`document.getElementById("set").focus()`)
	require.Equal(t, `"it'\''s"`, eval[string](p, `(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.getElementById("set"))`))
	p.quiet()
}
