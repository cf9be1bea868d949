import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check } from '@sonde/sdk/config'
import { prometheusSchema } from './config.ts'
import { checkDataSources, defaultDataSources } from './sources/data-sources.ts'
import { SOURCES } from './sources/registry.ts'

function issuesOf(input: unknown): string[] {
  const checked = checkDataSources(input)
  return checked.ok ? [] : checked.issues.map(({ path, fault, allowed }) => `${path} ${fault}; allowed: ${allowed}`)
}

test('every kind of source is configured by its name alone, with its own period and options; one on request is left out', () => {
  const checked = checkDataSources(defaultDataSources())
  assert.ok(checked.ok)
  assert.deepEqual(
    checked.value.map(({ name, definition, intervalMs, enabled }) => ({ name, definition, intervalMs, enabled })),
    SOURCES.filter(({ isOnRequest }) => isOnRequest !== true).map((definition) => ({
      name: definition.name,
      definition,
      intervalMs: definition.intervalMs,
      enabled: true,
    })),
  )
})

test('a source may be there several times under names of their own', () => {
  const checked = checkDataSources([
    { type: 'netdev', name: 'fast', interval_ms: 100, devices: ['mlx5_*'] },
    { type: 'netdev', name: 'slow', interval_ms: 60_000, enabled: false },
  ])
  assert.ok(checked.ok)
  assert.deepEqual(
    checked.value.map(({ name, intervalMs, enabled, options }) => ({ name, intervalMs, enabled, options })),
    [
      { name: 'fast', intervalMs: 100, enabled: true, options: { devices: ['mlx5_*'] } },
      { name: 'slow', intervalMs: 60_000, enabled: false, options: { devices: [] } },
    ],
  )
})

test('reports everything that is wrong in every entry', () => {
  assert.deepEqual(issuesOf([null, ['netdev'], { type: 7 }, { type: 'netdev', name: '', interval_ms: 9, extra: 1 }]), [
    'data_sources[0] is null; allowed: a block with the key type',
    'data_sources[1] is ["netdev"]; allowed: a block with the key type',
    `data_sources[2].type is 7; allowed: one of ${SOURCES.map(({ name }) => name).join(', ')}`,
    'data_sources[3].name is ""; allowed: text of 1 to 64 characters',
    'data_sources[3].interval_ms is 9; allowed: a whole number from 10 to 3600000 (milliseconds)',
    'data_sources[3].extra is an unknown key, with 1; allowed: type, name, enabled, interval_ms, devices',
  ])
  assert.deepEqual(issuesOf({ type: 'netdev' }), [
    'data_sources is {"type":"netdev"}; allowed: a list of at most 256 sources',
  ])
})

test('a list that is too long is refused as a whole', () => {
  assert.equal(issuesOf(Array.from({ length: 257 }, (_, i) => ({ type: 'host', name: `h${i}` }))).length, 1)
  assert.deepEqual(issuesOf(Array.from({ length: 256 }, (_, i) => ({ type: 'host', name: `h${i}` }))), [])
})

test('names of hosts are exact, below a domain, or all', () => {
  const allowed = (hosts: string[]) => check(prometheusSchema, { allowed_hosts: hosts }, 'p').ok
  assert.ok(allowed(['gpu17', 'gpu17.example.com', '*.example.com', '*']))
  for (const wrong of ['a b', 'http://a', 'a:80', 'a.*.com', '**', '', '*.']) assert.ok(!allowed([wrong]), wrong)
})

test('metrics may be anywhere but where something else is', () => {
  const allowed = (path: string) => check(prometheusSchema, { path }, 'p').ok
  for (const right of ['/metrics', '/m', '/node/metrics', '/healthz2', '/apis']) assert.ok(allowed(right), right)
  for (const wrong of ['/', 'metrics', '', '/healthz', '/readyz', '/api', '/api/v1/node', '/a b', '/*', '/:x'])
    assert.ok(!allowed(wrong), wrong)
})

test('one listens on addresses and names, and on nothing that only looks like one', () => {
  const isAllowed = (host: unknown) => check(prometheusSchema, { host }, 'prometheus').ok
  const good = ['127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1%eth0', 'localhost', 'gpu-17.example.com', 'a_b', 'x.']
  const bad = [
    '*',
    'foo bar',
    '256.1.1.1',
    '1.2.3',
    '1.2.3.4.5',
    '127',
    '',
    '.',
    '-a',
    'a-',
    'a..b',
    ':::',
    '1::2::3',
    7,
  ]
  assert.deepEqual(
    good.filter((host) => !isAllowed(host)),
    [],
  )
  assert.deepEqual(bad.filter(isAllowed), [])
  assert.equal(isAllowed(`${'a'.repeat(64)}.b`), false)
  assert.equal(isAllowed(Array(128).fill('a').join('.')), false)
  const checked = check(prometheusSchema, { host: '*' }, 'prometheus')
  assert.match(checked.ok ? '' : (checked.issues[0]?.allowed ?? ''), /0\.0\.0\.0 stands for all addresses/)
})
