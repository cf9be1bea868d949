import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMarked, unmarked } from './marked-text.ts'

test('a name that would look like another is marked, and the server is given the name that it told', () => {
  const name = 'gpu\u202e0\u2066\u061c'
  const shown = parseMarked<{ name: string }>(JSON.stringify({ name })).name
  assert.equal(shown, 'gpu⟦U+202E⟧0⟦U+2066⟧⟦U+061C⟧')
  assert.equal(unmarked(shown), name)
  const address = `/apps/${encodeURIComponent(shown)}?name=${encodeURIComponent(shown)}`
  assert.equal(unmarked(address), `/apps/${encodeURIComponent(name)}?name=${encodeURIComponent(name)}`)
  const controls = 'gpu\u00000\u001b\u0085\\u0001'
  const told = parseMarked<{ name: string }>(JSON.stringify({ name: controls }))
  assert.equal(told.name, 'gpu⟦U+0000⟧0⟦U+001B⟧⟦U+0085⟧\\u0001')
  assert.deepEqual(JSON.parse(unmarked(JSON.stringify(told))), { name: controls })
  assert.equal(parseMarked<string>('"line\\nline"'), 'line\nline')
  assert.equal(parseMarked<string>('"gpu 0 → 1 ümläut"'), 'gpu 0 → 1 ümläut')
})
