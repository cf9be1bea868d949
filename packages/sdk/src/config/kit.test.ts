import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { closest } from './closest.ts'
import { block, boundedText, check, choice, flag, integer, list, section, setting } from './kit.ts'

const port = setting(integer(0, 65_535, '0 is any free port'), 9394, 'Port to listen on')
const schema = block({
  host: v.optional(boundedText(1, 5), 'here'),
  port,
  inner: section({
    on: setting(flag(), true, 'Whether it is on'),
    words: setting(list(boundedText(), 2, 'words'), [], ''),
  }),
  mode: v.optional(choice(['slow', 'fast'])),
})

function linesOf(value: unknown): string[] {
  const checked = check(schema, value, 'top')
  return checked.ok ? [] : checked.issues.map(({ path, fault, allowed }) => `${path} ${fault}; allowed: ${allowed}`)
}

test('fills in the defaults of what is left out, also of a block that is there without content', () => {
  const filled = { host: 'here', port: 9394, inner: { on: true, words: [] } }
  assert.deepEqual(check(schema, {}, 'top'), { ok: true, value: filled })
  assert.deepEqual(check(schema, { inner: null }, 'top'), { ok: true, value: filled })
})

test('reports every wrong place at once, with path, value and what is allowed', () => {
  assert.deepEqual(linesOf({ host: 'too long', port: 65_536, inner: { on: 'yes', words: ['a', 'b', 'c'] }, mode: 1 }), [
    'top.host is "too long"; allowed: text of 1 to 5 characters',
    'top.port is 65536; allowed: a whole number from 0 to 65535 (0 is any free port)',
    'top.inner.on is "yes"; allowed: true or false',
    'top.inner.words is ["a","b","c"]; allowed: a list of at most 2 words',
    'top.mode is 1; allowed: one of slow, fast',
  ])
})

test('reports all unknown keys of all blocks, with the key that was perhaps meant', () => {
  assert.deepEqual(linesOf({ hots: 'a', constructor: 1, inner: { onn: true, volume: 11 } }), [
    'top.hots is an unknown key, with "a" (did you mean host?); allowed: host, port, inner, mode',
    'top.constructor is an unknown key, with 1; allowed: host, port, inner, mode',
    'top.inner.onn is an unknown key, with true (did you mean on?); allowed: on, words',
    'top.inner.volume is an unknown key, with 11; allowed: on, words',
  ])
})

test('refuses a list where a block belongs', () => {
  assert.deepEqual(linesOf({ inner: [] }), ['top.inner is []; allowed: a block with the keys on, words'])
  assert.deepEqual(linesOf([1]), ['top is [1]; allowed: a block with the keys host, port, inner, mode'])
})

test('refuses numbers that are none', () => {
  assert.deepEqual(linesOf({ port: Number.POSITIVE_INFINITY }), [
    'top.port is Infinity; allowed: a whole number from 0 to 65535 (0 is any free port)',
  ])
  assert.match(linesOf({ port: Number.NaN })[0] ?? '', /^top\.port is NaN; allowed/)
})

test('says that a value holds itself rather than following it for ever', () => {
  const self: unknown[] = []
  self.push(self)
  assert.match(linesOf({ port: self })[0] ?? '', /^top\.port is a value that holds itself; allowed/)
})

test('finds the word that was meant among near ones only', () => {
  const words = ['interval_ms', 'type', 'devices', 'name']
  assert.equal(closest('intervall_ms', words), 'interval_ms')
  assert.equal(closest('tpye', words), 'type')
  assert.equal(closest('device', words), 'devices')
  assert.equal(closest('colour', words), undefined)
  assert.equal(closest('x', words), undefined)
})
