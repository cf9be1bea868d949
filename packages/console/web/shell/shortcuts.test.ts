import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DESTINATIONS, isCurrent } from './navigation.ts'
import { SHORTCUT_GROUPS, shortcutCommand } from './shortcuts.ts'

test('g and a letter go to a page; the letter alone does what it says', () => {
  assert.deepEqual(shortcutCommand('n', true), { kind: 'go', path: '/' })
  assert.deepEqual(shortcutCommand('X', true), { kind: 'go', path: '/explore' })
  assert.equal(shortcutCommand('n', false), undefined)
  assert.equal(shortcutCommand('q', true), undefined)
  assert.deepEqual(shortcutCommand('2', false), { kind: 'window', windowMs: 1_800_000 })
  assert.deepEqual(shortcutCommand('?', false), { kind: 'keys' })
  assert.equal(shortcutCommand('constructor', false), undefined)
})

test('the sheet lists every single key that does something', () => {
  const listed = new Set(SHORTCUT_GROUPS.flatMap(({ rows }) => rows.flatMap(({ keys }) => keys)))
  for (let code = 33; code < 127; code++) {
    const key = String.fromCharCode(code)
    if (shortcutCommand(key, false)) assert.ok(listed.has(key.toLowerCase()), `${key} is not listed`)
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
