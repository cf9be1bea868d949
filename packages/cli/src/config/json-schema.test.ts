import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { ConfigError } from './config-error.ts'
import { jsonSchema } from './json-schema.ts'
import { loadConfig } from './load.ts'
import { checkRooms } from './rooms.ts'

const root = join(import.meta.dirname, '../../../..')
const validate = new Ajv({
  formats: { ipv4: isIPv4, ipv6: isIPv6 },
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
}).compile(jsonSchema())

test('the schema accepts every default', () => {
  const { plain } = loadConfig({ environment: { SONDE_CONFIG: '' } })
  assert.ok(validate(plain), JSON.stringify(validate.errors))
})

test('the schema and the command agree on what is right and what is wrong', () => {
  const cases: [string, boolean][] = [
    ['', true],
    ['export:\n', true],
    ['export:\n  prometheus:\n', true],
    ['data_sources: []', true],
    ['data_sources: [{ type: host }, { type: netdev, devices: ["!veth*"], enabled: false }]', true],
    ['export: { prometheus: { port: 0, allowed_hosts: ["*.example.com"] } }', true],
    ['store: { dir: /data, max_bytes: 16777216, durability: block }', true],
    ['data_sources: [{ type: gpu }]', false],
    ['data_sources: [{ interval_ms: 1000 }]', false],
    ['data_sources: [{ type: host, devices: [a] }]', false],
    ['data_sources: [{ type: netdev, devices: ["a b"] }]', false],
    ['data_sources: [{ type: host, parts: [] }]', false],
    ['data_sources: {}', false],
    ['export: { prometheus: { host: "::1" } }', true],
    ['export: { prometheus: { host: 256.1.1.1 } }', false],
    ['export: { prometheus: { port: 65536 } }', false],
    ['export: { prometheus: { port: "9394" } }', false],
    ['export: { prometheus: { port: 1.5 } }', false],
    ['export: { prometheus: { port: null } }', false],
    ['export: { prometheus: { path: metrics } }', false],
    ['export: { fluent: {} }', false],
    ['export: { fluent_bit: { enabled: true, host: fluent-bit.logging.svc, port: 24224 } }', true],
    ['export: { fluent_bit: { port: 0 } }', false],
    ['export: { fluent_bit: [{ tls: { enabled: true } }, { shared_key: b, name: c }] }', true],
    ['export: { files: {} }', true],
    ['export: { files: [{ data_root: /a }, { data_root: /b, enabled: false }] }', true],
    ['export: { jsonl: { url: "http://a", headers: { authorization: x }, field_set: ports } }', true],
    ['export: { jsonl: [{ url: "http://a", field_set: ["[port]", rx], backoff_jitter: 0.5 }] }', true],
    ['export: { jsonl: {} }', false],
    ['export: { jsonl: 5 }', false],
    ['export: { jsonl: [{ url: "http://a", linger: 5 }] }', false],
    ['export: { files: { fieldSet: a } }', false],
    ['export: { files: { sources: host } }', false],
    ['store: []', false],
    ['log: { level: loud }', false],
    ['logs: {}', false],
  ]
  for (const [text, right] of cases) {
    const value = parse(text)
    assert.equal(checkRooms(value ?? {}).ok, right, `the command on ${text}`)
    assert.equal(validate(value), right, `the schema on ${text}: ${JSON.stringify(validate.errors)}`)
  }
})

test('every YAML example in the documentation is right', () => {
  const pages = [
    ...globSync('docs/**/*.md', { cwd: root }),
    ...globSync('packages/*/src/**/README.md', { cwd: root }),
    'README.md',
  ]
  let examples = 0
  // The template is not a source that can be configured.
  for (const page of pages.filter((name) => !name.includes('/template/'))) {
    for (const [, text = ''] of readFileSync(join(root, page), 'utf8').matchAll(/^```yaml\n(.*?)^```/gms)) {
      const value = parse(text)
      if (!isConfiguration(value)) continue
      examples++
      const checked = checkRooms(value)
      // Examples name files and variables that this machine does not have.
      const issues = checked.ok ? [] : checked.issues.filter(({ fault }) => !/ENOENT|which is not set$/.test(fault))
      if (issues.length > 0) throw new ConfigError(issues.map(({ path, fault }) => `${page}: ${path} ${fault}`))
      assert.ok(validate(value), `${page}: ${JSON.stringify(validate.errors)}`)
    }
  }
  assert.ok(examples > 0)
})

/** Other YAML, such as a scrape configuration of Prometheus, has none of these keys. */
function isConfiguration(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object') return false
  return ['data_sources', 'paths', 'export', 'store', 'limits', 'log'].some((key) => key in value)
}
