import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markInvisible, parseMarked, unmarked } from './marked-text.ts'

test('a name that would look like another is marked, and the server is given the name that it told', () => {
  const name = 'gpu\u202e0\u2066\u061c'
  const shown = parseMarked<{ name: string }>(JSON.stringify({ name })).name
  assert.equal(shown, 'gpu⟦U+202E⟧0⟦U+2066⟧⟦U+061C⟧')
  const json = unmarked(JSON.stringify({ shown }))
  assert.deepEqual(JSON.parse(json), { shown: name })
  assert.match(json, /\\u202e/, 'a text that somebody copies is not turned')
  const address = `/apps/${encodeURIComponent(shown)}?name=${encodeURIComponent(shown)}`
  assert.equal(unmarked(address), `/apps/${encodeURIComponent(name)}?name=${encodeURIComponent(name)}`)
  assert.equal(markInvisible(name), shown, 'a name in the address of the page is shown like that of an answer')
  assert.equal(markInvisible('a\u0000\b\u001b\nb'), 'a⟦U+0000⟧⟦U+0008⟧⟦U+001B⟧\nb')
  const controls = 'gpu\u00000\u001b\u0085\\u0001'
  const told = parseMarked<{ name: string }>(JSON.stringify({ name: controls }))
  assert.equal(told.name, 'gpu⟦U+0000⟧0⟦U+001B⟧⟦U+0085⟧\\u0001')
  assert.deepEqual(JSON.parse(unmarked(JSON.stringify(told))), { name: controls })
  const hidden = 'g\bp\fu\u200b\ufeff\u00ad\u2060\u200d0'
  const seen = parseMarked<string>(JSON.stringify(hidden))
  assert.equal(seen, 'g⟦U+0008⟧p⟦U+000C⟧u⟦U+200B⟧⟦U+FEFF⟧⟦U+00AD⟧⟦U+2060⟧⟦U+200D⟧0')
  assert.equal(JSON.parse(unmarked(JSON.stringify(seen))), hidden)
  assert.equal(parseMarked<string>('"می\u200cخواهم"'), 'می\u200cخواهم', 'a joiner of a script that has one')
  assert.equal(parseMarked<string>('"\\\\b line\\nline"'), '\\b line\nline')
  assert.equal(parseMarked<string>('"gpu 0 → 1 ümläut"'), 'gpu 0 → 1 ümläut')
})
