import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DESTINATIONS, isCurrent } from './navigation.ts'
import { commandOf, SHORTCUT_GROUPS } from './shortcuts.ts'

test('g and a letter go to a page; the letter alone does what it says', () => {
  assert.deepEqual(commandOf('n', true), { kind: 'go', path: '/' })
  assert.deepEqual(commandOf('X', true), { kind: 'go', path: '/explore' })
  assert.equal(commandOf('n', false), undefined)
  assert.equal(commandOf('q', true), undefined)
  assert.deepEqual(commandOf('2', false), { kind: 'window', windowMs: 1_800_000 })
  assert.deepEqual(commandOf('?', false), { kind: 'keys' })
  assert.equal(commandOf('constructor', false), undefined)
})

test('the sheet lists every single key that does something', () => {
  const listed = new Set(SHORTCUT_GROUPS.flatMap(({ rows }) => rows.flatMap(({ keys }) => keys)))
  for (let code = 33; code < 127; code++) {
    const key = String.fromCharCode(code)
    if (commandOf(key, false)) assert.ok(listed.has(key.toLowerCase()), `${key} is not listed`)
  }
  for (const { key } of DESTINATIONS) assert.ok(listed.has(`g ${key}`))
})

test('a page below another one is part of it in the navigation', () => {
  const fabric = DESTINATIONS.find(({ path }) => path === '/fabric')!
  const node = DESTINATIONS.find(({ path }) => path === '/')!
  assert.ok(isCurrent(fabric, '/fabric/eth0'))
  assert.ok(!isCurrent(fabric, '/fabrication'))
  assert.ok(!isCurrent(node, '/fabric'))
})
