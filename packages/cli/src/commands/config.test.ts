import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { loadConfig } from '../config/load.ts'
import { printConfig } from './config.ts'

const environment = { SONDE_CONFIG: '' }

test('the output is YAML of the same values, for any values', () => {
  for (const value of [
    '/a # b',
    'C: "x"',
    "it's",
    '- [x',
    '123',
    'true',
    ' spaces ',
    'ünï',
    '#',
    'a\nb',
    'x'.repeat(200),
  ]) {
    const loaded = loadConfig({ environment, flags: [{ path: ['store', 'dir'], value, origin: '--data-dir' }] })
    assert.deepEqual(parse(printConfig(loaded)), loaded.plain)
  }
})

test('every line with a value ends with its origin, in one column but for values that are too long for it', () => {
  const lines = printConfig(loadConfig({ environment })).split('\n')
  const values = lines.filter((line) => !line.endsWith(':'))
  assert.ok(values.length > 25)
  for (const line of values) assert.match(line, /\S {2,}# default$/)
  const columns = values.map((line) => line.lastIndexOf('#'))
  const column = Math.min(...columns)
  assert.ok(columns.filter((each) => each === column).length > 25)
  for (const line of values.filter((each) => each.lastIndexOf('#') !== column))
    assert.ok(line.indexOf('  #') > column - 3)
})

test('the keys of a list entry have their own origins', () => {
  const loaded = loadConfig({ environment })
  const asked: string[] = []
  const originOf = (path: string) => {
    asked.push(path)
    return 'default'
  }
  printConfig({ ...loaded, originOf })
  assert.ok(asked.includes('data_sources[1].interval_ms'))
  assert.ok(asked.includes('export.prometheus.allowed_hosts'))
  assert.ok(!asked.some((path) => path.endsWith(']')), 'a list of values has one origin')
})
